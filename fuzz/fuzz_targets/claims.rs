#![no_main]

chord_fuzz_fuzz::target!(chord_fuzz::search::fuzzing::Claims);
