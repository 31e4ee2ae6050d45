#![no_main]

use chord_fuzz::fuzzing::{Claims, Input};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|input: Input<'_, Claims>| -> Corpus { if input.check() { Corpus::Keep } else { Corpus::Reject } });
