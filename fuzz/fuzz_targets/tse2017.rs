#![no_main]

use chord_fuzz::fuzzing::{Tse2017, Input};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|input: Input<'_, Tse2017>| -> Corpus { if input.check() { Corpus::Keep } else { Corpus::Reject } });
