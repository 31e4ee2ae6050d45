#![no_main]

use chord_fuzz::fuzzing::{Claims, Input};

libfuzzer_sys::fuzz_target!(|input: Input<'_, Claims>| input.check());
