#![no_main]

use chord_fuzz::fuzzing::{Best2012, Input};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|input: Input<'_, Best2012>| -> Corpus { if input.check() { Corpus::Keep } else { Corpus::Reject } });
