//! `chord-fuzz prove`: whether any order of maintenance heals what a finding leaves.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use chord_fuzz::finding::report;
use chord_fuzz::judge::prove::{Healing, Obstacle, Proof, healing, prove};
use chord_fuzz::judge::{Breach, Judge, Options, Outcome, Target, run};
use chord_fuzz::protocol::model::{Action, apply};
use chord_fuzz::protocol::version::Rules;
use chord_fuzz::truth::property::Property;
use chord_fuzz::truth::snapshot::Snapshot;
use chord_fuzz::world::step;

use super::input::{Conditions, Inputs};
use super::{Status, print, progress};

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

Some dozens of networks are usual with 2 members, some thousands with 4 or 5,
and millions with 8. A million of them take some 200 MB of memory, and twice
that for a finding of `claims`.

Environment:
  CHORD_FUZZ_ONLY  as for `chord-fuzz replay`

Exit status:
  0    irreparable: no order heals it, which is a proof, of one kind or both
  1    repairable: an order heals it, so that it is not broken for good
  2    undecided, bad usage, or a file that cannot be run or violates nothing
  141  standard output was closed before the end

Examples:
  chord-fuzz prove artifacts/ccr2012/ordered-ring
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

    /// The input, as bytes or as text, or `-` for standard input
    file: PathBuf,
}

impl Prove {
    /// Runs the input and tries all orders of maintenance on what is left.
    ///
    /// # Errors
    ///
    /// If the input cannot be read or violates nothing, if `CHORD_FUZZ_ONLY` is set to something that is no property, and
    /// if standard output takes no more.
    pub fn run(&self) -> anyhow::Result<Status> {
        let (target, schedule) =
            Inputs::new(self.version).open(&self.file).with_context(|| self.file.display().to_string())?;
        let options = Options { networks: 0, ..self.conditions.options()? };
        let Outcome { verdict, network, .. } = run(target, &schedule, &options, &mut ());
        let Some(breach) = verdict.found() else {
            bail!("{}: violates nothing that counts, so that there is nothing to prove", self.file.display());
        };
        let rules = target.version.rules();
        print(&report::verdict(target, verdict))?;
        if breach == Breach::Broken(Property::Invariant) {
            print("the network in effect at the break, which is no claim that it never heals:")?;
        } else if target.judge == Judge::Claims {
            print("the network at the break, which is no claim that it never heals:")?;
        } else {
            print("the network at the break:")?;
        }
        print(&format!("    {network}"))?;

        let obstacle = Obstacle::of(rules, &network);
        if let Some(obstacle) = obstacle {
            print(&Proof::Obstructed(obstacle).to_string())?;
        }
        let bar = progress(self.networks as u64);
        let proof = prove(rules, &network, self.networks, |networks| bar.set_position(networks as u64));
        bar.finish_and_clear();
        print(&proof.to_string())?;
        Ok(match proof {
            Proof::Obstructed(_) | Proof::Irreparable { .. } => Status::Passed,
            Proof::Repairable { order } => {
                print_order(rules, network, &order)?;
                print(self.depends(rules, &network))?;
                Status::Violated
            }
            Proof::Undecided { .. } if obstacle.is_some() => Status::Passed,
            Proof::Undecided { .. } => Status::Failed,
        })
    }

    /// Whether it depends on the order that the network heals.
    fn depends(&self, rules: Rules, network: &Snapshot) -> &'static str {
        let bar = progress(self.networks as u64);
        let healing = healing(rules, network, self.networks, |networks| bar.set_position(networks as u64));
        bar.finish_and_clear();
        match healing {
            Some(Healing::Always) => "it heals in every order: whatever maintenance does, it can still heal",
            Some(Healing::Sometimes | Healing::Never) => "it depends on the order: another one puts it beyond repair",
            None => "whether another order puts it beyond repair is undecided",
        }
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
