#![no_main]

use chord_fuzz::fuzzing::{Tse2017, Input};

libfuzzer_sys::fuzz_target!(|input: Input<'_, Tse2017>| input.check());
