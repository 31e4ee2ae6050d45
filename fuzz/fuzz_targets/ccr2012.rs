#![no_main]

chord_fuzz_fuzz::target!(chord_fuzz::fuzzing::Ccr2012);
