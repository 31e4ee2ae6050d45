#![no_main]

use chord_fuzz::fuzzing::{Ccr2012, Input};

libfuzzer_sys::fuzz_target!(|input: Input<'_, Ccr2012>| input.check());
