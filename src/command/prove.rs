//! `chord-fuzz prove`: whether any order of maintenance heals what a finding leaves.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use chord_fuzz::finding::report;
use chord_fuzz::judge::prove::{Decision, Healing, Obstacle, Proof, decide, healing, prove};
use chord_fuzz::judge::{Breach, Judge, Options, Outcome, Target, Verdict, run};
use chord_fuzz::protocol::model::{Action, apply};
use chord_fuzz::protocol::version::Rules;
use chord_fuzz::truth::property::Property;
use chord_fuzz::truth::snapshot::Snapshot;
use chord_fuzz::world::step;
use serde::Serialize;

use super::input::{Conditions, Inputs};
use super::{Status, VERDICT_WIDTH, blame, name, print, progress, width};

const AFTER_HELP: &str = "\
Tries all orders of maintenance, of every kind at every member, without joins
and failures, in the model without messages, on what fair maintenance does not
heal. It starts from the network where the run was found broken: there nothing
is on its way. The verdict of a run does the same, but gives up sooner.

Prints the signature, that network, and one of these:
  irreparable: 216 networks, all orders   there are no others to come to
  repairable: 5 steps                     a shortest order, with the network
                                          after each step
  undecided: more than 2000000 networks

Before that, a reason that needs no trying, if there is one:
  irreparable: 0 has no live successor, and nobody to ask for one
  irreparable: no pointer leads from 1, 3 to the other members, or back

What a finding of `claims` breaks usually heals, which is no claim that it does
not; then it is told whether it heals in every order. There, and where the
property is the Invariant, something may be on its way: it is left out, but that
the Invariant is judged with every answer that has been given already.

Of several files it prints a line each, in three columns that are two or more
spaces apart: the file, the signature, and the reason, or if there is none, what
trying comes to.

--json prints one JSON object for each file: `format`, which is 1; `file`,
`signature`, `target`, `property` and `network`; `heals`, whether an order heals
it, which is null if undecided; the `obstacle`, a reason that needs no trying;
otherwise `networks`, how many there are if it is irreparable, and the steps of
a shortest `order` if it is repairable. What does not apply is null.

Some dozens of networks are usual with 2 members, some thousands with 4 or 5,
and millions with 8. A million of them take some 200 MB of memory, and twice
that for a finding of `claims`.

Environment:
  CHORD_FUZZ_ONLY  as for `chord-fuzz replay`

Exit status:
  0    irreparable: no order heals it, which is a proof, of one kind or both
  1    repairable: an order heals it, so that it is not broken for good
  2    undecided, bad usage, or a file that cannot be run or violates nothing;
       of several, the others are tried all the same, and the greatest counts
  141  standard output was closed before the end

Examples:
  chord-fuzz prove artifacts/ccr2012/ordered-ring
  chord-fuzz prove --json artifacts/{sigcomm2001,ccr2012,best2012}/*
  CHORD_FUZZ_ONLY=ordered-ring chord-fuzz prove artifacts/claims/ordered-ring
  chord-fuzz disassemble crash-0123 | chord-fuzz prove --version best2012 -";

/// Tries all orders of maintenance on what a finding leaves
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Prove {
    /// The target, as for `chord-fuzz replay`
    #[arg(long, value_name = "V")]
    version: Option<Target>,

    #[command(flatten)]
    conditions: Conditions,

    /// The most networks to look at
    #[arg(long, value_name = "N", default_value_t = 2_000_000, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1 << 32))]
    networks: usize,

    /// Print JSON instead, a line for each file
    #[arg(long)]
    json: bool,

    /// An input, as bytes or as text, or `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

/// What a run violates, and leaves.
struct Finding {
    target: Target,
    verdict: Verdict,
    breach: Breach,
    network: Snapshot,
}

impl Finding {
    fn of(inputs: &mut Inputs, file: &Path, options: &Options) -> anyhow::Result<Self> {
        let (target, schedule) = inputs.open(file).with_context(|| file.display().to_string())?;
        let Outcome { verdict, network, .. } = run(target, &schedule, options, &mut ());
        let Some(breach) = verdict.found() else {
            bail!("{}: violates nothing that counts, so that there is nothing to prove", file.display());
        };
        Ok(Self { target, verdict, breach, network })
    }

    fn rules(&self) -> Rules {
        self.target.version.rules()
    }

    fn signature(&self) -> String {
        report::verdict(self.target, self.verdict)
    }
}

impl Prove {
    /// Runs the inputs and tries all orders of maintenance on what each leaves. Of several files, one that cannot be run is
    /// told at once and does not keep the others from being run.
    ///
    /// # Errors
    ///
    /// If `CHORD_FUZZ_ONLY` is set to something that is no property, if standard output takes no more, and if the only
    /// input cannot be read or violates nothing.
    pub fn run(&self) -> anyhow::Result<Status> {
        let options = Options { networks: 0, ..self.conditions.options()? };
        let mut inputs = Inputs::new(self.version);
        if let ([file], false) = (&self.files[..], self.json) {
            return self.print_all(&Finding::of(&mut inputs, file, &options)?);
        }
        let width = width(&self.files);
        let mut status = Status::Passed;
        for file in &self.files {
            let finding = match Finding::of(&mut inputs, file, &options) {
                Ok(finding) => finding,
                Err(error) => {
                    blame(&error);
                    status = Status::Failed;
                    continue;
                }
            };
            let decision = self.watched(|bar| decide(finding.rules(), &finding.network, self.networks, bar));
            if self.json {
                print(&serde_json::to_string(&Document::new(file, &finding, &decision))?)?;
            } else {
                let signature = finding.signature();
                print(&format!("{:width$}  {signature:VERDICT_WIDTH$}  {decision}", name(file)))?;
            }
            status = status.max(status_of(decision.heals()));
        }
        Ok(status)
    }

    /// Does something that counts networks, and shows how far it is.
    fn watched<T>(&self, work: impl FnOnce(&dyn Fn(usize)) -> T) -> T {
        let bar = progress(self.networks as u64);
        let done = work(&|networks| bar.set_position(networks as u64));
        bar.finish_and_clear();
        done
    }

    /// Prints all that there is to say of one finding.
    fn print_all(&self, finding: &Finding) -> anyhow::Result<Status> {
        let (rules, network) = (finding.rules(), finding.network);
        print(&finding.signature())?;
        if finding.breach == Breach::Broken(Property::Invariant) {
            print("the network in effect at the break, which is no claim that it never heals:")?;
        } else if finding.target.judge == Judge::Claims {
            print("the network at the break, which is no claim that it never heals:")?;
        } else {
            print("the network at the break:")?;
        }
        print(&format!("    {network}"))?;

        let obstacle = Obstacle::of(rules, &network);
        if let Some(obstacle) = obstacle {
            print(&Decision::Obstructed(obstacle).to_string())?;
        }
        let proof = self.watched(|bar| prove(rules, &network, self.networks, bar));
        print(&proof.to_string())?;
        if let Proof::Repairable { order } = &proof {
            print_order(rules, network, order)?;
            print(self.depends(rules, &network))?;
        }
        // What stands out is a proof even where there are too many orders to try.
        Ok(status_of(proof.heals().or(obstacle.map(|_| false))))
    }

    /// Whether it depends on the order that the network heals.
    fn depends(&self, rules: Rules, network: &Snapshot) -> &'static str {
        match self.watched(|bar| healing(rules, network, self.networks, bar)) {
            Some(Healing::Always) => "it heals in every order: whatever maintenance does, it can still heal",
            Some(Healing::Sometimes | Healing::Never) => "it depends on the order: another one puts it beyond repair",
            None => "whether another order puts it beyond repair is undecided",
        }
    }
}

/// What it comes to whether some order heals it.
fn status_of(heals: Option<bool>) -> Status {
    match heals {
        Some(false) => Status::Passed,
        Some(true) => Status::Violated,
        None => Status::Failed,
    }
}

/// Prints the steps of an order, each with the network that it makes.
pub(super) fn print_order(rules: Rules, mut network: Snapshot, order: &[Action]) -> anyhow::Result<()> {
    // Each is written as the step of a schedule that it would be.
    let steps: Vec<_> = order.iter().map(|action| step(*action).to_string()).collect();
    let width = steps.iter().map(String::len).max().unwrap_or(0);
    for (action, step) in order.iter().zip(steps) {
        apply(rules, &mut network, *action);
        print(&format!("    {step:width$}  {network}"))?;
    }
    Ok(())
}

/// The JSON form. Its fields are described in the help.
#[derive(Serialize)]
struct Document {
    format: u8,
    file: String,
    signature: String,
    target: String,
    property: &'static str,
    network: String,
    heals: Option<bool>,
    obstacle: Option<String>,
    networks: Option<usize>,
    order: Option<Vec<String>>,
}

impl Document {
    fn new(file: &Path, finding: &Finding, decision: &Decision) -> Self {
        let (mut obstacle, mut networks, mut order) = (None, None, None);
        match decision {
            Decision::Obstructed(reason) => obstacle = Some(reason.to_string()),
            Decision::Tried(Proof::Irreparable { networks: known }) => networks = Some(*known),
            Decision::Tried(Proof::Repairable { order: actions }) => {
                order = Some(actions.iter().map(|action| step(*action).to_string()).collect());
            }
            Decision::Tried(Proof::Undecided { .. }) => {}
        }
        Self {
            format: 1,
            file: file.to_string_lossy().into_owned(),
            signature: finding.signature(),
            target: finding.target.to_string(),
            property: finding.breach.slug(),
            network: finding.network.to_string(),
            heals: decision.heals(),
            obstacle,
            networks,
            order,
        }
    }
}
