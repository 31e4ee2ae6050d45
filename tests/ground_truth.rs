//! Z12's own counterexamples (spec section 6): step by step over messages, then through the judge of the fuzz targets.

mod common;

use std::ops::RangeInclusive;

use chord_fuzz::judge::{Breach, Judge, Only, Options, Target, Verdict};
use chord_fuzz::schedule::Schedule;
use chord_fuzz::truth::property::Property::{
    self, AtLeastOneRing, AtMostOneRing, ConnectedAppendages, OrderedAppendages, OrderedMerges, OrderedRing,
    ValidSuccessorList,
};

struct Trace {
    property: Property,
    version: &'static str,
    /// The lines of the text form, here separated by semicolons. A notification belongs to its stabilization.
    text: &'static str,
    /// After which steps, from 1, each property is broken. All others hold.
    broken: &'static [(Property, RangeInclusive<usize>)],
    /// The steps that change nothing.
    idle: &'static [usize],
    pointers: &'static str,
}

impl Trace {
    fn schedule(&self) -> Schedule {
        self.text.replace("; ", "\n").parse().expect(self.text)
    }

    /// The verdict of the target on this trace, as given and replayed from what was executed.
    fn verdict(&self, target: &str, only: Only) -> Verdict {
        let options = Options { only, ..Options::default() };
        let (first, again) = common::replay(target.parse().expect("a target"), &self.schedule(), &options);
        for again in again {
            assert_eq!(again, first, "what is executed is canonical");
        }
        first.verdict
    }

    fn violation(&self) -> Verdict {
        Verdict::Violated(Breach::Broken(self.property))
    }
}

const TRACES: [Trace; 7] = [
    Trace {
        property: OrderedMerges,
        version: "ccr2012",
        text: "join 3 via 0; stabilize 3; stabilize 0; join 1 via 0; join 2 via 0; stabilize 1; stabilize 2; \
               stabilize 0",
        broken: &[(OrderedMerges, 8..=8)],
        idle: &[],
        pointers: "0: 2/-/3, 1: 3/-/-, 2: 3/-/0, 3: 0/-/2",
    },
    // The table has this one broken only from the last S3 on. By the definition of section 3.2, in terms of bestSucc,
    // it is broken as soon as 0 fails, and neither F3 (the predecessor of 3 is the live 1) nor the last S3 (the
    // predecessor of 2 is the dead 0, and closer to it than 3) changes anything. The final pointers are the table's.
    Trace {
        property: OrderedAppendages,
        version: "ccr2012",
        text: "join 1 via 0; join 2 via 0; join 3 via 0; stabilize 2; stabilize 0; stabilize 3; stabilize 1; \
               reconcile 2; reconcile 3; fail 0; update 2; update 3; flush 3; stabilize 3",
        broken: &[(OrderedAppendages, 10..=14), (OrderedMerges, 5..=6)],
        idle: &[13, 14],
        pointers: "1: 3/-/-, 2: 2/-/0, 3: 2/-/1",
    },
    Trace {
        property: ValidSuccessorList,
        version: "ccr2012",
        text: "join 2 via 0; stabilize 2; stabilize 0; join 1 via 0; reconcile 1; join 3 via 2; stabilize 3; \
               stabilize 2; reconcile 0; stabilize 1; stabilize 0; fail 2; update 1",
        broken: &[(ValidSuccessorList, 11..=12)],
        idle: &[],
        pointers: "0: 1/3/3, 1: 0/-/0, 3: 0/-/2",
    },
    Trace {
        property: ConnectedAppendages,
        version: "sigcomm2001",
        text: "join 2 via 0; stabilize 2; stabilize 0; reconcile 0; fail 2; join 1 via 0; update 0",
        broken: &[(ConnectedAppendages, 6..=7)],
        idle: &[],
        pointers: "0: 0/-/2, 1: 2/-/-",
    },
    // Without a ring no appendage reaches one.
    Trace {
        property: AtLeastOneRing,
        version: "sigcomm2001",
        text: "join 2 via 0; stabilize 2; stabilize 0; join 1 via 0; stabilize 1; fail 1; stabilize 0; flush 2",
        broken: &[(AtLeastOneRing, 7..=8), (ConnectedAppendages, 7..=8)],
        idle: &[],
        pointers: "0: 1/-/2, 2: 0/-/-",
    },
    Trace {
        property: AtMostOneRing,
        version: "ccr2012",
        text: "join 2 via 0; stabilize 2; stabilize 0; reconcile 0; reconcile 2; join 1 via 0; stabilize 1; \
               stabilize 0; join 3 via 2; stabilize 3; stabilize 2; fail 1; fail 3; update 0; update 2",
        broken: &[(AtMostOneRing, 13..=15), (ValidSuccessorList, 8..=10)],
        idle: &[],
        pointers: "0: 0/-/3, 2: 2/-/1",
    },
    // The table describes the events of this one without listing them.
    Trace {
        property: OrderedRing,
        version: "ccr2012",
        text: "circle 6; ring 3; join 1 via 0; stabilize 1; stabilize 0; join 3 via 2; stabilize 3; stabilize 2; \
               join 5 via 4; stabilize 5; stabilize 4; fail 1; fail 3; fail 5; update 0; update 2; update 4",
        broken: &[(OrderedRing, 12..=15), (ValidSuccessorList, 3..=8)],
        idle: &[],
        pointers: "0: 4/-/5, 2: 0/-/1, 4: 2/-/3",
    },
];

#[test]
fn every_step_has_the_effect_that_the_table_says() {
    for trace in TRACES {
        let schedule = trace.schedule();
        let mut nobody = ();
        let mut world = common::list_world(trace.version.parse().expect("a version"), schedule.setup, &mut nobody);
        for (&step, number) in schedule.steps.iter().zip(1..) {
            let at = format!("{}, step {number}, {step}", trace.property);
            let before = *world.now();
            assert_eq!(world.resolve(step, false) == Some(step), !trace.idle.contains(&number), "{at}: permitted");
            world.begin(step);
            while world.advance() {}
            world.tick();
            assert_eq!(*world.now() == before, trace.idle.contains(&number), "{at}: changes something");
            for property in Property::CLAIMED {
                let listed = trace.broken.iter().any(|(p, steps)| *p == property && steps.contains(&number));
                assert_eq!(property.holds(world.now()), !listed, "{at}: {property} of {}", world.now());
            }
        }
        assert_eq!(world.now().to_string(), trace.pointers, "{}", trace.property);
    }
}

/// And what Z12 calls repairable heals.
#[test]
fn a_target_violates_the_required_properties_and_no_others() {
    for trace in TRACES {
        let expected = if trace.property.repairable() { Verdict::Ideal } else { trace.violation() };
        assert_eq!(trace.verdict(trace.version, Only::default()), expected, "{}", trace.property);
    }
}

#[test]
fn claims_finds_every_property_that_ccr2012_breaks() {
    assert_eq!(Target::CLAIMS.judge, Judge::Claims);
    for trace in TRACES.iter().filter(|trace| trace.version == "ccr2012") {
        let only = Only::these(vec![Breach::Broken(trace.property)]);
        assert_eq!(trace.verdict("claims", only), trace.violation());
    }
}

/// Z12's two fixes are enough for one trace each, and each is needed.
#[test]
fn one_check_each_prevents_the_traces_of_sigcomm2001() {
    for (property, ablated) in [(ConnectedAppendages, "ccr2012-join"), (AtLeastOneRing, "ccr2012-adopt")] {
        let trace = TRACES.iter().find(|trace| trace.property == property).expect("listed");
        assert_eq!(trace.verdict("ccr2012", Only::default()), Verdict::Ideal, "{property}");
        assert_eq!(trace.verdict(ablated, Only::default()), trace.violation(), "{ablated}");
    }
}
