#![no_main]

use chord_fuzz::fuzzing::{Sigcomm2001, Input};

libfuzzer_sys::fuzz_target!(|input: Input<'_, Sigcomm2001>| input.check());
