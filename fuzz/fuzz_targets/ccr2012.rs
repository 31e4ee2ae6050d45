#![no_main]

use chord_fuzz::fuzzing::{Ccr2012, Input};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|input: Input<'_, Ccr2012>| -> Corpus { if input.check() { Corpus::Keep } else { Corpus::Reject } });
