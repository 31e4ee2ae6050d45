#![no_main]

use chord_fuzz::fuzzing::{Best2012, Input};

libfuzzer_sys::fuzz_target!(|input: Input<'_, Best2012>| input.check());
