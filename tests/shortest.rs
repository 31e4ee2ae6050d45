//! The shortest findings from an ideal ring of two, beside what an exhaustive search says is the shortest there is
//! (docs/exhaustive.md). Those from one member are in artifacts/.

#![allow(clippy::needless_raw_string_hashes, reason = "so expect-test writes")]

mod common;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use chord_fuzz::judge::prove::{Proof, prove};
use chord_fuzz::judge::{Breach, Only, Options, Target, Verdict, run};
use chord_fuzz::schedule::Schedule;
use common::entries;
use expect_test::expect;

#[test]
fn each_is_what_its_name_says_and_no_order_of_maintenance_heals_it() {
    let mut table = String::new();
    for file in
        entries(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/shortest"))).iter().flat_map(|d| entries(d))
    {
        let target: Target = file.parent().unwrap().file_name().unwrap().to_str().unwrap().parse().unwrap();
        let breach: Breach = file.file_stem().unwrap().to_str().unwrap().parse().unwrap();
        let schedule: Schedule = fs::read_to_string(&file).unwrap().parse().unwrap();
        let options = Options { only: Only::these(vec![breach]), ..Options::default() };
        let outcome = run(target, &schedule, &options, &mut ());
        assert_eq!(outcome.verdict, Verdict::Violated(breach), "{}", file.display());
        assert_eq!(outcome.executed, schedule, "every step is needed: {}", file.display());
        assert!(outcome.assumptions.immediate && schedule.setup.ring == 2);
        let proof = prove(target.version.rules(), &outcome.network, 10_000, |_| ());
        let Proof::Irreparable { networks } = proof else { panic!("{}: {proof:?}", file.display()) };
        let (steps, circle) = (schedule.steps.len(), schedule.setup.circle);
        writeln!(table, "{target}/{breach}: {steps} steps, circle {circle}, {networks} networks").unwrap();
    }
    expect![[r#"
        best2012/AtMostOneRing: 9 steps, circle 4, 18 networks
        best2012/OrderedRing: 12 steps, circle 4, 55 networks
        ccr2012/AtMostOneRing: 8 steps, circle 4, 64 networks
        ccr2012/OrderedRing: 11 steps, circle 5, 84 networks
        sigcomm2001/AtLeastOneRing: 3 steps, circle 4, 2 networks
        sigcomm2001/AtMostOneRing: 8 steps, circle 4, 144 networks
        sigcomm2001/ConnectedAppendages: 2 steps, circle 4, 10 networks
        sigcomm2001/OrderedRing: 13 steps, circle 4, 282 networks
    "#]]
    .assert_eq(&table);
}
