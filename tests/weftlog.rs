//! Our runs before an outside judge: the published replayer, checker and model of W26, which share no code with us but
//! the broker itself.
//!
//! The counts are small here; `CHORD_FUZZ_RUNS=10000 cargo test --release --test weftlog` is the large run.

#![allow(clippy::needless_raw_string_hashes, reason = "so expect-test writes")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use chord_fuzz::finding::shrink::compare;
use chord_fuzz::finding::weftlog::{Inexpressible, Recording};
use chord_fuzz::judge::prove::{Decision, prove};
use chord_fuzz::judge::{Breach, Only, Options, Outcome, Target, Verdict, rehearse, run};
use chord_fuzz::protocol::version::Rules;
use chord_fuzz::schedule::{MAX_START, Op, Schedule, Setup, Step};
use chord_fuzz::search::sweep::{PEER_LEVELS, Shape, Sweep, rejoin};
use chord_fuzz::truth::ident::{Ident, IdentSet};
use chord_fuzz::truth::property::{Property, ideal_network};
use chord_fuzz::truth::snapshot::{Pointers, Snapshot, SuccList};
use chord_fuzz::world::trace::{Event, Observer};
use common::entries;
use expect_test::{expect, expect_file};
use stateright::{Checker as _, Model};
use weft_chord::chord_model::{ChordAction, ChordModel, ChordState, SchedEvent, Schedule as Faults};
use weft_chord::parse_report;
use weft_replay::log::{Event as Operation, Log, LogError, RecvOutcome};
use weft_replay::replay_log;

/// The size of the peer's circle as a power of 2: all of ours fit on it, and only the cyclic order counts.
const M: u32 = 4;

/// How many networks are looked at to know that no order of maintenance heals one.
const NETWORKS: usize = 100_000;

/// How many random runs are judged.
fn runs() -> u64 {
    std::env::var("CHORD_FUZZ_RUNS").map_or(500, |n| n.parse().expect("CHORD_FUZZ_RUNS is a number"))
}

/// Records a run, and keeps the network at the start and after each change.
#[derive(Default)]
struct Witness {
    recording: Recording,
    networks: Vec<Snapshot>,
}

impl Observer for Witness {
    fn observe(&mut self, event: impl FnOnce() -> Event) {
        let event = event();
        match &event {
            Event::Start(_, network) => self.networks.push(**network),
            Event::Changed { node, now } => {
                let mut network = *self.networks.last().expect("the start comes first");
                network.set(*node, *now);
                self.networks.push(network);
            }
            _ => {}
        }
        self.recording.observe(|| event);
    }

    fn gone(&mut self, node: Ident) {
        self.recording.gone(node);
    }
}

/// A run, its networks, and the text of its log.
struct Recorded {
    outcome: Outcome,
    networks: Vec<Snapshot>,
    text: Result<String, Inexpressible>,
}

impl Recorded {
    fn of(target: Target, schedule: &Schedule, options: &Options) -> Self {
        let mut witness = Witness::default();
        let outcome = run(target, schedule, options, &mut witness);
        Self { outcome, networks: witness.networks, text: witness.recording.finish() }
    }

    fn log(&self) -> Log {
        read(self.text.as_ref().expect("a weft-log can say it")).expect("a weft-log")
    }
}

fn read(text: &str) -> Result<Log, LogError> {
    Log::from_reader(text.as_bytes())
}

/// Whether the peer's broker comes to the same as ours, byte for byte.
fn replays(log: &Log) -> bool {
    let replay = replay_log(log, Vec::new(), None).expect("it can be replayed");
    let whole = replay.ops_replayed == log.records.len() as u64 && replay.stream_digest == log.stream_digest();
    assert!(!replay.identical || whole, "all of it");
    replay.identical
}

/// The properties that the peer's checker finds broken.
fn theirs(network: &weft_chord::Snapshot) -> BTreeSet<&'static str> {
    network.check(M).into_iter().map(|violation| violation.invariant.name()).collect()
}

/// The required properties that we find broken.
fn ours(network: &Snapshot) -> BTreeSet<&'static str> {
    Property::REQUIRED.into_iter().filter(|property| !property.holds(network)).map(Property::name).collect()
}

/// Whether a node is a ring by itself, and there is another ring. To Z12 and to us it skips nobody, since the three nodes
/// of OrderedRing are different; to the peer's checker it skips all of the other ring, since there only the third is.
fn a_ring_of_one_of_several(network: &Snapshot) -> bool {
    let ring = network.ring();
    ring.len() > 1 && ring.iter().any(|x| network.best_succ(x) == Some(x))
}

/// What we find broken, by the peer's definitions. There are two differences: it looks no further where there is no
/// ring, and that of [`a_ring_of_one_of_several`].
fn by_their_definitions(network: &Snapshot) -> BTreeSet<&'static str> {
    let mut broken = ours(network);
    if broken.contains(Property::AtLeastOneRing.name()) {
        return BTreeSet::from([Property::AtLeastOneRing.name()]);
    }
    if a_ring_of_one_of_several(network) {
        broken.insert(Property::OrderedRing.name());
    }
    broken
}

/// The networks that the reports of a log tell, from the founders' on, each with what the peer finds broken in it.
fn judged(log: &Log) -> Vec<(weft_chord::Snapshot, BTreeSet<&'static str>)> {
    let mut network = weft_chord::Snapshot::default();
    let mut networks = Vec::new();
    for record in &log.records {
        let Operation::Send { payload, .. } = &record.e else { continue };
        let bytes = weft_replay::hash::from_hex(payload).expect("hexadecimal digits");
        let Some(state) = str::from_utf8(&bytes).ok().and_then(parse_report) else { continue };
        network.observe(state);
        if state.date == 0 {
            networks.clear();
        }
        networks.push((network.clone(), theirs(&network)));
    }
    networks
}

/// Each live member with its pointers, as the reports tell them.
fn spelled(network: &weft_chord::Snapshot) -> Vec<[i32; 4]> {
    network.live().iter().map(|node| [node.ident, node.succ, node.succ2, node.prdc]).collect()
}

/// The same of a network of ours.
fn spelled_ours(network: &Snapshot) -> Vec<[i32; 4]> {
    let number = |x: Option<Ident>| x.map_or(-1, |x| i32::from(x.get()));
    let spell = |x: Ident| {
        let pointers = network.pointers(x);
        [Some(x), pointers.list.first(), pointers.list.second(), pointers.prdc].map(number)
    };
    network.members().iter().map(spell).collect()
}

/// How much has been compared, without a disagreement.
#[derive(Debug, Default)]
struct Counts {
    runs: u64,
    violations: u64,
    operations: u64,
    networks: u64,
    /// In how many networks each property is broken, by our definitions.
    broken: BTreeMap<&'static str, u64>,
    /// In how many the definitions differ.
    no_ring: u64,
    ring_of_one: u64,
}

impl Counts {
    /// Has the peer judge a run, and compares.
    fn compare(&mut self, recorded: &Recorded, what: &str) {
        let log = recorded.log();
        assert!(replays(&log), "the peer's broker comes to something else: {what}");
        assert!(weft_chord::Snapshot::failure_assumption_held(&log), "{what}");
        let judged = judged(&log);
        assert_eq!(judged.len(), recorded.networks.len(), "{what}");
        for ((network, broken), at) in judged.iter().zip(&recorded.networks) {
            assert_eq!(spelled(network), spelled_ours(at), "{what}");
            assert_eq!(*broken, by_their_definitions(at), "of {at}, {what}");
            let ours = ours(at);
            self.no_ring += u64::from(ours.contains(Property::AtLeastOneRing.name()));
            self.ring_of_one += u64::from(a_ring_of_one_of_several(at) && !ours.contains(Property::OrderedRing.name()));
            for property in ours {
                *self.broken.entry(property).or_default() += 1;
            }
        }
        let last = theirs(&weft_chord::Snapshot::from_log(&log));
        assert_eq!(last, by_their_definitions(&recorded.outcome.network), "at the end, {what}");
        self.runs += 1;
        self.violations += u64::from(matches!(recorded.outcome.verdict, Verdict::Violated(_)));
        self.operations += log.records.len() as u64;
        self.networks += judged.len() as u64;
    }
}

/// The list versions, with fewer and with more liveness checks, and the one that was proved correct.
const VERSIONS: [&str; 8] = [
    "sigcomm2001",
    "sigcomm2001+adopt",
    "ccr2012",
    "ccr2012+update+reconcile+answer",
    "best2012",
    "best2012+update+reconcile+answer",
    "tse2017",
    "tse2017-base",
];

/// A random schedule, or, as often, a finding with a few random steps put in: random runs without a rejoin hardly ever come
/// to two rings or to disorder.
fn random(rng: &mut fastrand::Rng, findings: &[Finding], rules: Rules, delays: bool) -> Schedule {
    let mut bytes = vec![0; 2 + 2 * rng.usize(1..=60)];
    rng.fill(&mut bytes);
    bytes[0] = if delays { 0x08 } else { 0 };
    let mut schedule = Schedule::decode(&bytes);
    if rng.bool() {
        let Schedule { setup, mut steps } = rng.choice(findings).expect("findings").schedule.clone();
        for step in schedule.steps.into_iter().take(rng.usize(0..=4)) {
            steps.insert(rng.usize(0..=steps.len()), step);
        }
        return Schedule { setup: rules.fit(setup), steps };
    }
    // On a large circle there is somebody left to join for the first time.
    schedule.setup = rules.fit(Setup { ring: rng.u8(1..=MAX_START), circle: 16, ..schedule.setup });
    schedule
}

/// Half without delays and half with, cut where a node would join again.
#[test]
fn random_runs_are_replayed_exactly_and_judged_alike() {
    let mut rng = fastrand::Rng::with_seed(1);
    let findings = findings("tests/data");
    let mut counts = [Counts::default(), Counts::default()];
    for n in 0..runs() {
        let target: Target = VERSIONS[usize::try_from(n).unwrap() % VERSIONS.len()].parse().unwrap();
        let delays = rng.bool();
        let schedule = random(&mut rng, &findings, target.version.rules(), delays);
        let mut recorded = Recorded::of(target, &schedule, &Options::default());
        while let Err(Inexpressible::Rejoin(_)) = recorded.text {
            let mut cut = recorded.outcome.executed;
            cut.steps.truncate(rejoin(&cut).expect("a node joins again"));
            recorded = Recorded::of(target, &cut, &Options::default());
        }
        counts[usize::from(delays)].compare(&recorded, &format!("{target}:\n{}", recorded.outcome.executed));
    }
    for counts in &counts {
        println!("{counts:#?}");
        assert!(counts.violations > 0 && counts.violations < counts.runs, "both verdicts are compared");
        assert!(counts.broken.len() == Property::REQUIRED.len() && counts.ring_of_one > 0, "every case is compared");
    }
}

/// Networks that no run reaches too: ideal ones, of which some pointers are random.
#[test]
fn random_networks_are_judged_alike() {
    let mut rng = fastrand::Rng::with_seed(2);
    let mut broken = BTreeMap::<_, u64>::new();
    let (mut networks, mut sound, mut ring_of_one) = (0, 0, 0);
    for _ in 0..100 * runs() {
        let circle = rng.u8(4..=16);
        let members: IdentSet = (0..circle).filter(|_| rng.bool()).map(Ident::new).collect();
        let mut network = ideal_network(circle, 2, members);
        for _ in 0..rng.u32(0..=12) {
            let Some(x) = members.iter_from(Ident::new(rng.u8(..circle))).next() else { break };
            let list = (0..rng.usize(1..=2)).map(|_| Ident::new(rng.u8(..circle)));
            network.set(x, Some(Pointers { list: SuccList::of(list.collect::<Vec<_>>()), prdc: None, saved: None }));
        }
        if members.is_empty() {
            continue;
        }
        let mut told = weft_chord::Snapshot::default();
        for [ident, succ, succ2, prdc] in spelled_ours(&network) {
            told.observe(weft_chord::NodeState { ident, date: 0, alive: true, succ, succ2, prdc });
        }
        assert_eq!(theirs(&told), by_their_definitions(&network), "{network}");
        let ours = ours(&network);
        networks += 1;
        sound += u64::from(ours.is_empty());
        ring_of_one += u64::from(a_ring_of_one_of_several(&network) && !ours.contains(Property::OrderedRing.name()));
        for property in ours {
            *broken.entry(property).or_default() += 1;
        }
    }
    println!("{networks} networks, {sound} sound, {broken:#?}, and {ring_of_one} with a ring of one and another ring");
    assert!(broken.len() == Property::REQUIRED.len() && sound > 0 && ring_of_one > 0, "every case is compared");
}

/// By the liveness checks of the peer's levels 0, 1 and 2, of which none checks a join, the two findings of all checks are
/// violations too, but that without any check some order of maintenance heals the disorder.
#[test]
fn the_findings_of_all_checks_are_violations_at_the_peers_levels() {
    for finding in findings("tests/data").iter().filter(|finding| finding.name.starts_with("ccr2012+")) {
        for level in PEER_LEVELS {
            let target: Target = level.parse().unwrap();
            let recorded = Recorded::of(target, &finding.schedule, &only(finding.breach));
            let heals = (level, finding.breach) == ("sigcomm2001", Breach::Broken(Property::OrderedRing));
            let expected = if heals { Verdict::Ideal } else { Verdict::Violated(finding.breach) };
            assert_eq!(recorded.outcome.verdict, expected, "{level}");
            assert_eq!(recorded.outcome.proof.as_ref().and_then(Decision::heals), (!heals).then_some(false), "{level}");
            Counts::default().compare(&recorded, level);
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A kept violation, by its signature in small letters.
struct Finding {
    name: String,
    target: Target,
    breach: Breach,
    schedule: Schedule,
}

impl Finding {
    /// Runs it with nothing else counting, as it was minimized.
    fn recorded(&self) -> Recorded {
        Recorded::of(self.target, &self.schedule, &only(self.breach))
    }
}

fn only(breach: Breach) -> Options {
    Options { only: Only::these(vec![breach]), ..Options::default() }
}

/// The findings in `directory/<target>/<property>`, as bytes or, with the extension txt, as text. What a campaign has
/// left beside them is not named after a property.
fn findings(directory: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in entries(&root().join(directory)).iter().flat_map(|target| entries(target)) {
        let Ok(breach) = path.file_stem().unwrap().to_str().unwrap().parse::<Breach>() else { continue };
        let target = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
        let schedule = match path.extension() {
            Some(_) => fs::read_to_string(&path).unwrap().parse().unwrap(),
            None => Schedule::decode(&fs::read(&path).unwrap()),
        };
        let name = format!("{target}/{}", breach.slug());
        findings.push(Finding { name, target: target.parse().unwrap(), breach, schedule });
    }
    findings
}

/// Whether this is the crate as published, which comes without artifacts/.
fn published() -> bool {
    root().join("Cargo.toml.orig").exists()
}

fn list(names: impl IntoIterator<Item = &'static str>) -> String {
    let names: Vec<_> = names.into_iter().collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// What the peer makes of a finding, or why it cannot say it.
fn opinion(finding: &Finding) -> String {
    let recorded = finding.recorded();
    match recorded.text {
        Ok(_) => {
            Counts::default().compare(&recorded, &finding.name);
            let (theirs, ours) =
                (theirs(&weft_chord::Snapshot::from_log(&recorded.log())), ours(&recorded.outcome.network));
            let same = if theirs == ours { "the same".to_owned() } else { list(ours) };
            format!("{}; we: {same}", list(theirs))
        }
        Err(why) => format!("cannot be said: {why}"),
    }
}

/// A new artifact shows here. Of the repairable properties, which `claims` is about, the peer knows none.
#[test]
fn the_artifacts_are_judged_alike() {
    if published() {
        return;
    }
    let mut table = String::new();
    for finding in findings("artifacts") {
        writeln!(table, "{:<32}  {}", finding.name, opinion(&finding)).unwrap();
    }
    expect![[r#"
        best2012/at-most-one-ring         cannot be said: node 2 joins again after it has failed, and for the checker of weft-logs a dead node stays dead
        best2012/ordered-ring             cannot be said: node 2 joins again after it has failed, and for the checker of weft-logs a dead node stays dead
        ccr2012/at-most-one-ring          AtMostOneRing, OrderedRing; we: AtMostOneRing
        ccr2012/ordered-ring              cannot be said: node 0 joins again after it has failed, and for the checker of weft-logs a dead node stays dead
        claims/at-most-one-ring           cannot be said: node 1 joins again after it has failed, and for the checker of weft-logs a dead node stays dead
        claims/ordered-appendages         nothing; we: the same
        claims/ordered-merges             nothing; we: the same
        claims/ordered-ring               cannot be said: node 1 joins again after it has failed, and for the checker of weft-logs a dead node stays dead
        claims/valid-successor-list       nothing; we: the same
        sigcomm2001/at-least-one-ring     AtLeastOneRing; we: AtLeastOneRing, ConnectedAppendages
        sigcomm2001/at-most-one-ring      cannot be said: node 1 joins again after it has failed, and for the checker of weft-logs a dead node stays dead
        sigcomm2001/connected-appendages  ConnectedAppendages; we: the same
        sigcomm2001/ordered-ring          cannot be said: node 1 joins again after it has failed, and for the checker of weft-logs a dead node stays dead
    "#]].assert_eq(&table);
}

/// Findings in which nobody joins again, so that the peer can judge them. The first lines of each say where it is from.
#[test]
fn the_findings_without_a_rejoin_are_judged_alike() {
    let mut table = String::new();
    for finding in findings("tests/data") {
        let Recorded { outcome, .. } = finding.recorded();
        assert_eq!(outcome.verdict, Verdict::Violated(finding.breach), "{}", finding.name);
        assert_eq!(outcome.executed, finding.schedule, "{}: canonical", finding.name);
        assert!(outcome.assumptions.hold() && outcome.assumptions.immediate, "{}", finding.name);
        assert!(ours(&outcome.network).contains(finding.breach.name()), "{}: by its own steps", finding.name);
        let heals = prove(finding.target.version.rules(), &outcome.network, NETWORKS, |_| ()).heals();
        assert_eq!(heals, Some(false), "{}: no order of maintenance heals it", finding.name);
        let steps = outcome.executed.steps.len();
        writeln!(table, "{:<48}  {steps:2} steps  {}", finding.name, opinion(&finding)).unwrap();
    }
    expect![[r#"
        ccr2012/ordered-ring                              12 steps  OrderedRing; we: the same
        ccr2012+update+reconcile+answer/at-most-one-ring   8 steps  AtMostOneRing, OrderedRing; we: AtMostOneRing
        ccr2012+update+reconcile+answer/ordered-ring      12 steps  OrderedRing; we: the same
    "#]]
    .assert_eq(&table);
}

/// Where the findings of `tests/data` are from: blind sweeps with the property pinned, in which the first runs are taken
/// that break it for good without a rejoin. `cargo run --release -- sweep` with the same arguments runs the same.
///
/// `UPDATE_EXPECT=1 cargo test --release --test weftlog -- --ignored the_findings` writes them anew.
#[test]
#[ignore = "some twenty seconds of searching"]
fn the_findings_without_a_rejoin_come_from_blind_sweeps() {
    const SEED: u64 = 1;
    for (target, property, ring) in [
        ("ccr2012", Property::OrderedRing, 3),
        ("ccr2012+update+reconcile+answer", Property::AtMostOneRing, 2),
        ("ccr2012+update+reconcile+answer", Property::OrderedRing, 3),
    ] {
        let breach = Breach::Broken(property);
        let shape = Shape { steps: 40, ring: Some(ring), delays: Some(false) };
        let sweep = Sweep::new(target.parse().unwrap(), only(breach), SEED, shape).unwrap();
        let target = target.parse().unwrap();
        let hits = (0..).filter_map(|index| Some((kept(target, breach, &sweep.schedule(index))?, index))).take(HITS);
        let shrunk = hits.map(|(found, index)| (shrunk(target, breach, found), index));
        let (smallest, index) = shrunk.min_by(|(a, _), (b, _)| compare(a, b)).expect("hits");
        let name = format!("{target}/{}.txt", breach.slug());
        let text = format!(
            "# {target}/{breach}, without a rejoin. Run {index} of\n\
             # CHORD_FUZZ_ONLY={} chord-fuzz sweep --version {target} --steps 40 --ring {ring} --delays no --seed {SEED}\n\
             # with steps left out as long as any one or two can be: the smallest of the first {HITS} such runs.\n{smallest}",
            breach.slug()
        );
        expect_file![root().join("tests/data").join(name)].assert_eq(&text);
    }
}

/// How many hits of a sweep are made small.
const HITS: usize = 20;

/// The schedule as executed, if it breaks the property by its own steps, for good in every order of maintenance, and
/// without a rejoin.
fn kept(target: Target, breach: Breach, schedule: &Schedule) -> Option<Schedule> {
    let (verdict, executed) = rehearse(target, schedule, &only(breach));
    if verdict != Verdict::Violated(breach) || rejoin(&executed).is_some() {
        return None;
    }
    let network = run(target, &executed, &only(breach), &mut ()).network;
    let broken = ours(&network).contains(breach.name());
    (broken && prove(target.version.rules(), &network, NETWORKS, |_| ()).heals() == Some(false)).then_some(executed)
}

/// Removes steps, one and two at a time, and then identifiers that nobody has, as long as the schedule is [`kept`].
fn shrunk(target: Target, breach: Breach, mut schedule: Schedule) -> Schedule {
    'smaller: loop {
        let n = schedule.steps.len();
        let pairs = (0..n).flat_map(|i| (i..n).map(move |j| (i, j)));
        let shorter = pairs.map(|(i, j)| {
            let steps = schedule.steps.iter().enumerate().filter(|(at, _)| *at != i && *at != j).map(|(_, step)| *step);
            Schedule { steps: steps.collect(), ..schedule.clone() }
        });
        let used: IdentSet =
            schedule.setup.members().iter().chain(schedule.steps.iter().map(|step| step.node)).collect();
        let unused = (2 * schedule.setup.ring..schedule.setup.circle).map(Ident::new).filter(|x| !used.contains(*x));
        let closer = unused.map(|gone| {
            let moved = |x: Ident| if x > gone { Ident::new(x.get() - 1) } else { x };
            let steps = schedule.steps.iter().map(|step| Step {
                node: moved(step.node),
                contact: moved(step.contact),
                ..*step
            });
            let setup = Setup { circle: schedule.setup.circle - 1, ..schedule.setup };
            Schedule { setup, steps: steps.collect() }
        });
        for candidate in shorter.chain(closer) {
            if let Some(smaller) = kept(target, breach, &candidate).filter(|other| compare(other, &schedule).is_lt()) {
                schedule = smaller;
                continue 'smaller;
            }
        }
        return schedule;
    }
}

/// The peer's published model, asked whether after the joins and failures of a finding, in their order and with any
/// maintenance in between, a network is reached in which this property is broken.
struct Question {
    model: ChordModel,
    property: Property,
}

impl Question {
    /// The model takes the liveness checks of one of its levels.
    fn about(finding: &Finding, level: u8) -> Self {
        let number = |x: Ident| i8::try_from(x.get()).expect("16 identifiers");
        let Breach::Broken(property) = finding.breach else { panic!("{} is about a property", finding.name) };
        let steps = finding.schedule.steps.iter();
        let faults = steps.filter_map(|step| match step.op {
            Op::Join => Some(SchedEvent::Join(number(step.node))),
            Op::Fail => Some(SchedEvent::Fail(number(step.node))),
            _ => None,
        });
        let members = finding.schedule.setup.members();
        let joiners = finding.schedule.steps.iter().filter(|step| step.op == Op::Join).map(|step| step.node);
        let all: IdentSet = members.iter().chain(joiners).collect();
        let model = ChordModel {
            m: M,
            idents: all.iter().map(number).collect(),
            base: members.iter().map(number).collect(),
            fix: level,
            schedule: Faults::Fixed(faults.collect()),
            max_fails: 0,
        };
        Self { model, property }
    }

    fn reached(&self, state: &ChordState) -> bool {
        let broken = self.model.violated_invariants(state);
        // Of several rings the model says that they are out of order where one is a ring of one.
        let masked = self.property == Property::OrderedRing && broken.contains(&Property::AtMostOneRing.name());
        self.model.schedule_done(state) && broken.contains(&self.property.name()) && !masked
    }

    fn answer(self) -> String {
        let checker = self.checker().target_state_count(STATES).spawn_bfs().join();
        match checker.discovery(REACHED) {
            Some(path) => format!("in {} steps", path.into_actions().len()),
            None if checker.state_count() < STATES => "never".to_owned(),
            None => "undecided".to_owned(),
        }
    }
}

const REACHED: &str = "reached";

/// How many states of the peer's model are looked at.
const STATES: usize = 2_000_000;

/// The states and steps are the peer's; only the question is ours, since its own does not tell OrderedRing from
/// AtMostOneRing.
impl Model for Question {
    type State = ChordState;
    type Action = ChordAction;

    fn init_states(&self) -> Vec<ChordState> {
        self.model.init_states()
    }

    fn actions(&self, state: &ChordState, actions: &mut Vec<ChordAction>) {
        self.model.actions(state, actions);
    }

    fn next_state(&self, state: &ChordState, action: ChordAction) -> Option<ChordState> {
        self.model.next_state(state, action)
    }

    fn properties(&self) -> Vec<stateright::Property<Self>> {
        vec![stateright::Property::<Self>::sometimes(REACHED, Self::reached)]
    }
}

/// By the model's levels 0, 1 and 2. None of them is one of our versions: each has the check of `join`, in a start of one
/// member that is its own second successor and predecessor, and its maintenance goes by the best successor. By their
/// checks, 0 is like `sigcomm2001+join`, 1 like `ccr2012`, and 2 like `ccr2012+update+reconcile+answer`.
#[test]
fn the_peers_model_reaches_what_the_findings_show() {
    if published() {
        return;
    }
    let mut table = String::new();
    for finding in ["artifacts", "tests/data"].into_iter().flat_map(findings) {
        let required = matches!(finding.breach, Breach::Broken(property) if !property.repairable());
        let answers = if !required {
            "the model does not know the property".to_owned()
        } else if rejoin(&finding.schedule).is_some() {
            "the model has no rejoin".to_owned()
        } else {
            [0, 1, 2].map(|level| format!("{level} {}", Question::about(&finding, level).answer())).join(", ")
        };
        writeln!(table, "{:<48}  {answers}", finding.name).unwrap();
    }
    expect![[r#"
        best2012/at-most-one-ring                         the model has no rejoin
        best2012/ordered-ring                             the model has no rejoin
        ccr2012/at-most-one-ring                          0 in 12 steps, 1 in 12 steps, 2 in 12 steps
        ccr2012/ordered-ring                              the model has no rejoin
        claims/at-most-one-ring                           the model has no rejoin
        claims/ordered-appendages                         the model does not know the property
        claims/ordered-merges                             the model does not know the property
        claims/ordered-ring                               the model has no rejoin
        claims/valid-successor-list                       the model does not know the property
        sigcomm2001/at-least-one-ring                     0 in 5 steps, 1 in 5 steps, 2 never
        sigcomm2001/at-most-one-ring                      the model has no rejoin
        sigcomm2001/connected-appendages                  0 in 5 steps, 1 in 8 steps, 2 never
        sigcomm2001/ordered-ring                          the model has no rejoin
        ccr2012/ordered-ring                              0 in 12 steps, 1 in 12 steps, 2 in 12 steps
        ccr2012+update+reconcile+answer/at-most-one-ring  0 in 8 steps, 1 in 8 steps, 2 in 8 steps
        ccr2012+update+reconcile+answer/ordered-ring      0 in 12 steps, 1 in 12 steps, 2 in 12 steps
    "#]]
    .assert_eq(&table);
}

/// Z12's two rings, from an ideal ring of two.
const TWO_RINGS: &str =
    "ring 2\njoin 1 via 0\njoin 3 via 2\nstabilize 1\nstabilize 0\nstabilize 3\nstabilize 2\nfail 1\nfail 3\n";

fn two_rings() -> Recorded {
    let recorded = Recorded::of("ccr2012".parse().unwrap(), &TWO_RINGS.parse().unwrap(), &Options::default());
    assert_eq!(recorded.outcome.verdict, Verdict::Violated(Breach::Broken(Property::AtMostOneRing)));
    recorded
}

/// The format, for who reads it: a change of it is no accident.
#[test]
fn the_log_of_a_small_run() {
    let target = "sigcomm2001".parse().unwrap();
    let recorded = Recorded::of(target, &"join 1 via 0\nfail 1\n".parse().unwrap(), &Options::default());
    expect![[r#"
        {"format":"weft-log","version":2,"seed":0,"net":"latency=fixed:0","window_ns":0,"meta":{}}
        {"op":0,"vt":0,"e":{"k":"connect","conn":0},"chain":"426883d4ea8d6b40"}
        {"op":1,"vt":0,"e":{"k":"bind","conn":0,"addr":{"ip":2130706449,"port":1}},"chain":"5b0cb586228644d9"}
        {"op":2,"vt":0,"e":{"k":"connect","conn":1},"chain":"93b824a10dc018d3"}
        {"op":3,"vt":0,"e":{"k":"bind","conn":1,"addr":{"ip":2130706433,"port":1}},"chain":"b7af653fb8dd6ef0"}
        {"op":4,"vt":0,"e":{"k":"send","conn":1,"src":{"ip":2130706433,"port":1},"dst":{"ip":2130706449,"port":1},"chan_seq":0,"send_vt":0,"payload":"5250542030203020312030202d31202d31","outcome":{"kind":"enqueued","to_conn":0,"deliv_ns":0,"tie":0}},"chain":"d6c5d1f250e26e01"}
        {"op":5,"vt":0,"e":{"k":"connect","conn":2},"chain":"cbd6588e0d55239d"}
        {"op":6,"vt":0,"e":{"k":"bind","conn":2,"addr":{"ip":2130706434,"port":1}},"chain":"2b35caace62a37ad"}
        {"op":7,"vt":0,"e":{"k":"send","conn":2,"src":{"ip":2130706434,"port":1},"dst":{"ip":2130706433,"port":1},"chan_seq":0,"send_vt":0,"payload":"0401000100","outcome":{"kind":"enqueued","to_conn":1,"deliv_ns":0,"tie":1}},"chain":"5b703efcfb7ebc28"}
        {"op":8,"vt":0,"e":{"k":"recv","conn":1,"blocking":false,"outcome":{"kind":"delivered","src":{"ip":2130706434,"port":1},"dst":{"ip":2130706433,"port":1},"deliv_ns":0,"tie":1,"payload":"0401000100"}},"chain":"6524767ae7b0289d"}
        {"op":9,"vt":0,"e":{"k":"send","conn":1,"src":{"ip":2130706433,"port":1},"dst":{"ip":2130706434,"port":1},"chan_seq":0,"send_vt":0,"payload":"0601000100ff00","outcome":{"kind":"enqueued","to_conn":2,"deliv_ns":0,"tie":2}},"chain":"fb265dd6dccde2b7"}
        {"op":10,"vt":0,"e":{"k":"recv","conn":2,"blocking":false,"outcome":{"kind":"delivered","src":{"ip":2130706433,"port":1},"dst":{"ip":2130706434,"port":1},"deliv_ns":0,"tie":2,"payload":"0601000100ff00"}},"chain":"77e3e760dfa75243"}
        {"op":11,"vt":0,"e":{"k":"send","conn":2,"src":{"ip":2130706434,"port":1},"dst":{"ip":2130706449,"port":1},"chan_seq":0,"send_vt":0,"payload":"5250542031203120312030202d31202d31","outcome":{"kind":"enqueued","to_conn":0,"deliv_ns":0,"tie":3}},"chain":"b4948adcf035cb83"}
        {"op":12,"vt":0,"e":{"k":"send","conn":2,"src":{"ip":2130706434,"port":1},"dst":{"ip":2130706449,"port":1},"chan_seq":1,"send_vt":0,"payload":"525054203120322030202d31202d31202d31","outcome":{"kind":"enqueued","to_conn":0,"deliv_ns":0,"tie":4}},"chain":"259c27c7a3c0fe3b"}
        {"op":13,"vt":0,"e":{"k":"disconnect","conn":2},"chain":"e3fd54bbcb9deef8"}
        {"op":14,"vt":0,"e":{"k":"end","events":15,"sent":5,"dropped":0},"chain":"4c3741cb6673eb73"}
    "#]].assert_eq(recorded.text.as_ref().unwrap());
    assert!(replays(&recorded.log()));
}

/// A log that says something else than what its broker would do is told by the replayer, and an edited one by its hash.
#[test]
fn a_log_of_another_run_is_told() {
    let recorded = two_rings();
    let log = recorded.log();
    assert!(replays(&log));
    let receives =
        |operation: &Operation| matches!(operation, Operation::Recv { outcome: RecvOutcome::Delivered { .. }, .. });
    let received = log.records.iter().position(|record| receives(&record.e)).unwrap();
    // Its own datagram is the last one sent before it.
    let sent = log.records[..received].iter().rposition(|record| matches!(record.e, Operation::Send { .. })).unwrap();

    let mut changed = log.clone();
    let Operation::Recv { outcome: RecvOutcome::Delivered { payload, .. }, .. } = &mut changed.records[received].e
    else {
        unreachable!("it was found so");
    };
    payload.replace_range(0..2, "ff");
    assert!(!replays(&changed), "another payload arrives");

    let mut changed = log.clone();
    let Operation::Send { payload, .. } = &mut changed.records[sent].e else { unreachable!("it was found so") };
    payload.replace_range(0..2, "ff");
    assert!(!replays(&changed), "another payload is sent");

    let mut changed = log.clone();
    let Operation::Send { send_vt, .. } = &mut changed.records[sent].e else { unreachable!("it was found so") };
    *send_vt += 1;
    assert!(!replays(&changed), "a datagram is due at another time");

    for dropped in [sent, received] {
        let mut changed = log.clone();
        changed.records.remove(dropped);
        for (record, op) in changed.records.iter_mut().zip(0..) {
            record.op = op;
        }
        assert!(!replays(&changed), "operation {dropped} is missing");
    }

    let mut text = recorded.text.unwrap();
    let at = text.find("\"payload\":\"").unwrap() + "\"payload\":\"".len();
    text.replace_range(at..=at, "f");
    assert!(matches!(read(&text), Err(LogError::ChainBroken { .. })), "edited");
}

/// The checker goes by the reports: without those of the failures it finds one ring.
#[test]
fn the_checker_goes_by_the_reports() {
    let mut log = two_rings().log();
    assert_eq!(Vec::from_iter(theirs(&weft_chord::Snapshot::from_log(&log))), ["AtMostOneRing", "OrderedRing"]);
    log.records.retain(|record| {
        let Operation::Send { payload, .. } = &record.e else { return true };
        let bytes = weft_replay::hash::from_hex(payload).unwrap();
        str::from_utf8(&bytes).ok().and_then(parse_report).is_none_or(|state| state.alive)
    });
    assert_eq!(theirs(&weft_chord::Snapshot::from_log(&log)), BTreeSet::new());
}

/// A failure that strands a node is told by both.
#[test]
fn a_broken_failure_assumption_is_told() {
    let schedule = "join 1 via 0\nstabilize 1\nstabilize 0\nfail 1\n".parse().unwrap();
    let recorded =
        Recorded::of("ccr2012".parse().unwrap(), &schedule, &Options { as_given: true, ..Options::default() });
    assert!(!recorded.outcome.assumptions.failures);
    assert!(!weft_chord::Snapshot::failure_assumption_held(&recorded.log()));
    assert!(weft_chord::Snapshot::failure_assumption_held(&two_rings().log()));
}

#[test]
fn what_a_weft_log_cannot_say() {
    let why = |target: &str, text: &str| {
        let options = Options { faults: true, ..Options::default() };
        Recorded::of(target.parse().unwrap(), &text.parse().unwrap(), &options).text.err()
    };
    let rejoin = "join 1 via 0\nstabilize 1\nfail 1\njoin 1 via 0\n";
    assert_eq!(why("ccr2012", rejoin), Some(Inexpressible::Rejoin(Ident::new(1))));
    assert_eq!(why("tse2017", "ring 4\nlists 3\n"), Some(Inexpressible::Lists));
    let lost = Inexpressible::Lost { from: Ident::new(0), to: Ident::new(1) };
    assert_eq!(why("ccr2012", "ring 2\nfaults\nlose 0\njoin 1 via 0\n"), Some(lost));
    // A partition across which nobody sends loses nothing.
    assert_eq!(why("ccr2012", "ring 2\nfaults\ncut 0\nmend 0\nstabilize 0\n"), None);
}
