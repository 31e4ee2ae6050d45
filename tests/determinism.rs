//! A run is a function of its input: of nothing else in the process, and the same in every build.
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

mod common;

use chord_fuzz::judge::{Options, Target};
use chord_fuzz::schedule::{MAX_BYTES, MAX_STEPS, Schedule};
use common::{Record, record};
use expect_test::expect;

/// The largest input there is, with delays. The bytes are BLAKE3's, which no release of a crate changes.
fn input(seed: u32) -> Schedule {
    let mut bytes = [0; MAX_BYTES];
    blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut bytes);
    // A ring of 6, delays, lists of 2 or 3; a circle of 16.
    (bytes[0], bytes[1]) = (0x0d | bytes[0] & 0x20, 0x0c);
    Schedule::decode(&bytes)
}

/// The first two inputs that run to their end, which for some targets are few, and what they come to.
fn longest(target: Target) -> [(Schedule, Record); 2] {
    let runs = (0..).map(input).map(|schedule| {
        let record = record(target, &schedule, &Options::default());
        (schedule, record)
    });
    let mut longest = runs.filter(|(_, record)| record.executed.steps.len() == MAX_STEPS);
    [(); 2].map(|()| longest.next().expect("there is always another"))
}

/// freenet 2810, madsim 174 and 201: map order or statics that leak from one run into the next.
#[test]
fn a_run_depends_on_no_run_before_it() {
    for target in Target::all() {
        let [(schedule, a), (_, b)] = longest(target);
        assert_eq!(record(target, &schedule, &Options::default()), a, "{target}: A, B, A");
        assert_ne!(a.digest, b.digest, "{target}");
    }
}

/// Debug and release builds and all processes agree on these.
#[test]
fn digests_are_the_same_everywhere() {
    let lines = Target::all().map(|target| {
        let [a, b] = longest(target).map(|(_, record)| record.digest);
        format!("{target}\n    {a}\n    {b}\n")
    });
    expect![[r#"
        sigcomm2001
            f7b5d2aca03a8bf37d82be87f2af30a4aae66739d60afd29ae4ab129876de43b
            432b43019bc605575d1df9f1a152ed608a07ab0b152d058796ea2ee5440397fd
        ccr2012
            df46bb5001fb26eaadffbe071bed240d47fef937e7fef9a1735e9ca296db37b6
            84ef1d759de92ae41ebae7c2f101ab0d5b080b0af65429c04123d9669dca9343
        best2012
            c50e0f30cd6960bc7218763e320ab5b77fee4bea8bef74bd698fd3f1c64795a2
            966f9cc1fb5e6707289d2d429f3a4b4a8256389dd2e96d92f0320a199a97815c
        tse2017
            5e67e922d951dbc69ba31ca45d06edc95d35b08df5e2fc6e92bafa499d5c7ccf
            308b77f2b64d03ea4d7101df0d8210c30de17556abf8936b2a29d4f56a19fa7b
        claims
            df46bb5001fb26eaadffbe071bed240d47fef937e7fef9a1735e9ca296db37b6
            7d91498faa998db54453087838f15b192f6c89d960b8917ed70af762d3cc7e30
    "#]]
    .assert_eq(&lines.concat());
}
