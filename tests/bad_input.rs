//! Whatever bytes come, a run ends, within bounds, with a verdict that its target can have.
//!
//! The counts are small here; `CHORD_FUZZ_RUNS=1000000 cargo test --release --test bad_input` is the large run: so many
//! inputs for each target (3,000 if the variable is not set).

mod common;

use chord_fuzz::judge::{Breach, Judge, Options, Target, Verdict, run};
use chord_fuzz::protocol::version::Version;
use chord_fuzz::schedule::{MAX_BYTES, Schedule};
use chord_fuzz::truth::property::Property;
use chord_fuzz::world::network::MAX_DATAGRAMS;
use chord_fuzz::world::trace::Event;
use common::{Watch, bytes};

/// What the target can violate: Z12's findings; Z17 proves that `tse2017` violates nothing.
fn possible(target: Target) -> &'static [Property] {
    match target.judge {
        Judge::Claims => &Property::CLAIMED,
        Judge::NeverHeals if target.version == Version::SIGCOMM2001 => &Property::REQUIRED,
        Judge::NeverHeals if target.version == Version::TSE2017 => &[],
        Judge::NeverHeals => &[Property::AtMostOneRing, Property::OrderedRing],
    }
}

/// Runs these bytes with and without faults.
fn check(target: Target, bytes: &[u8]) {
    for faults in [false, true] {
        let mut datagrams = 0;
        let mut count = Watch(|event| datagrams += u32::from(matches!(event, Event::Sent { .. })));
        let outcome = run(target, &Schedule::decode(bytes), &Options { faults, ..Options::default() }, &mut count);
        // Measured: never more than 400.
        assert!(datagrams < MAX_DATAGRAMS / 4, "{target}: {datagrams} datagrams in\n{}", outcome.executed);
        match outcome.verdict {
            Verdict::Ideal => {}
            Verdict::Violated(Breach::Broken(property)) if possible(target).contains(&property) => {}
            Verdict::Outside(_) if outcome.executed.setup.faults => {}
            verdict => panic!("{target}: {verdict:?} by\n{}", outcome.executed),
        }
    }
}

#[test]
fn random_bytes_do_no_harm() {
    let runs: u32 = std::env::var("CHORD_FUZZ_RUNS").map_or(3_000, |n| n.parse().expect("CHORD_FUZZ_RUNS is a number"));
    for target in Target::all() {
        let mut rng = fastrand::Rng::with_seed(5);
        for _ in 0..runs {
            // Half of them within the format's length, since what is longer is always the longest schedule.
            let longest = if rng.bool() { MAX_BYTES } else { 4096 };
            let len = rng.usize(..=longest);
            check(target, &bytes(&mut rng, len));
        }
    }
}

/// libFuzzer runs the first two before anything else.
#[test]
fn degenerate_bytes_do_no_harm() {
    let noise = bytes(&mut fastrand::Rng::with_seed(6), 1 << 20);
    for input in [&[][..], b"\n", &[0], &[0; 4096], &[0xff; 4096], &noise] {
        for target in Target::all() {
            check(target, input);
        }
    }
}
