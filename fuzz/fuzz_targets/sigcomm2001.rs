#![no_main]

use chord_fuzz::fuzzing::{Sigcomm2001, Input};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|input: Input<'_, Sigcomm2001>| -> Corpus { if input.check() { Corpus::Keep } else { Corpus::Reject } });
