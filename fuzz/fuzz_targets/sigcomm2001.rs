#![no_main]

chord_fuzz_fuzz::target!(chord_fuzz::fuzzing::Sigcomm2001);
