//! `chord-fuzz census`: how many broken networks heal, and in which orders.

use anyhow::{Context as _, bail};
use chord_fuzz::judge::prove::Healing;
use chord_fuzz::judge::{Judge, Options, Target};
use chord_fuzz::search::census::{Census as Found, Count, Example, Phase, Plan, census};
use chord_fuzz::search::sweep::{Shape, Sweep};
use clap::builder::RangedU64ValueParser;
use indicatif::HumanCount;
use rayon::ThreadPoolBuilder;

use super::prove::print_order;
use super::{Status, print, progress};

const AFTER_HELP: &str = "\
Makes random runs without delays, the same as `chord-fuzz sweep --delays no`,
until they have met so many different networks in which a required property is
broken, whether or not they heal, and says of each in which orders of
maintenance it heals: all are tried, unless it shows that none does.
Networks that differ by the names of the nodes alone are counted as different.
A run goes on after a violation, so that it may meet many.

Prints two tables, in columns that are two or more spaces apart. Of the
networks, by the property that is broken:
  always     no order loses it: whatever maintenance does, it can still heal
  sometimes  some orders heal it and others put it beyond repair; in how many of
             these a fair order heals it (fair) or none (unfair)
  never      no order heals it
  undecided  there are more networks to come to than --limit
and of the runs of which fair maintenance does not heal the first such network,
where that has no more members than --members:
  heals      some other order heals it, so that it is no violation
  unknown    undecided
Then, of the networks that heal always, and sometimes, the smallest, by members
and then by steps, with the run that leads to it and the order that heals it.

It is the same for any number of threads. A hundred thousand networks take a
minute or some minutes, but of best2012, which is rarely broken, half an hour.

Exit status:
  0    whatever is found
  2    bad usage
  141  standard output was closed before the end

Examples:
  chord-fuzz census --version ccr2012
  chord-fuzz census --version best2012 --networks 1000 --members 4 --seed 7";

/// Counts how many broken networks heal, and in which orders
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Census {
    /// The version, as for `chord-fuzz replay`, but not claims
    #[arg(long, value_name = "V")]
    version: Target,

    /// How many networks to meet
    #[arg(long, value_name = "N", default_value = "100000", value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000_000))]
    networks: usize,

    /// The most members of a network, 1 to 16
    #[arg(long, value_name = "M", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=16))]
    members: u32,

    /// How many networks each proof may look at
    #[arg(long, value_name = "N", default_value = "20000", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1 << 32))]
    limit: usize,

    /// How many runs to make, at most
    #[arg(long, value_name = "N", default_value_t = 100_000_000)]
    runs: u64,

    /// The seed
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// The steps of each run, 1 to 96
    #[arg(long, value_name = "N", default_value = "96", value_parser = RangedU64ValueParser::<usize>::new().range(1..=96))]
    steps: usize,

    /// Only start with this many members, 1 to 6
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u8).range(1..=6))]
    ring: Option<u8>,

    /// How many threads; all processors by default
    #[arg(long, value_name = "J", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    jobs: Option<usize>,
}

impl Census {
    /// Takes the census and prints it.
    ///
    /// # Errors
    ///
    /// If the target is `claims`, if the version has no such start, and if standard output takes no more.
    pub fn run(&self) -> anyhow::Result<Status> {
        let target = self.version;
        if target.judge == Judge::Claims {
            bail!("`claims` is no version: what it breaks may heal");
        }
        let pool = ThreadPoolBuilder::new().num_threads(self.jobs.unwrap_or(0)).build().context("--jobs")?;
        let shape = Shape { steps: self.steps, ring: self.ring, delays: Some(false) };
        let sweep = Sweep::new(target, Options::default(), self.seed, shape)?;
        let plan = Plan { networks: self.networks, members: self.members, limit: self.limit, runs: self.runs };
        // To meet a network, and to decide about it.
        let bar = progress(2 * self.networks as u64);
        let count = |_: Phase, networks| bar.inc(networks);
        let found = pool.install(|| census(target.version.rules(), &sweep, plan, count));
        bar.finish_and_clear();
        print_tables(target, &found)?;
        for (healing, example) in &found.examples {
            print_example(target, *healing, example)?;
        }
        Ok(Status::Passed)
    }
}

fn print_tables(target: Target, found: &Found) -> anyhow::Result<()> {
    let name = |property| format!("{target}/{property}");
    let width = found.counts.keys().map(|property| name(property).len()).max().unwrap_or(0).max("violations".len());
    let rows = |cells: &dyn Fn(&Count) -> [String; 6]| {
        found.counts.iter().try_for_each(|(property, count)| {
            let cells = cells(count).map(|cell| format!("  {cell:>9}")).concat();
            print(format!("{:width$}{cells}", name(property)).trim_end())
        })
    };
    let heading = |title: &str, cells: [&str; 6]| {
        let cells = cells.map(|cell| format!("  {cell:>9}")).concat();
        print(format!("{title:width$}{cells}").trim_end())
    };
    heading("networks", ["all", "always", "fair", "unfair", "never", "undecided"])?;
    rows(&|count| {
        let Count { always, sometimes_fair, sometimes_unfair, never, undecided, .. } = *count;
        [count.networks(), always, sometimes_fair, sometimes_unfair, never, undecided].map(|cell| cell.to_string())
    })?;
    print("")?;
    heading("violations", ["runs", "heals", "share", "unknown", "", ""])?;
    rows(&|&Count { violations, repairable, unknown, .. }| {
        let [runs, heals, of_unknown] = [violations, repairable, unknown].map(|cell| cell.to_string());
        [runs, heals, share(repairable, violations - unknown), of_unknown, String::new(), String::new()]
    })?;
    print(&format!("\nin {} runs", HumanCount(found.runs)))
}

/// A share of those of which it is known.
#[expect(clippy::cast_precision_loss, reason = "rounded")]
fn share(count: u64, of: u64) -> String {
    if of == 0 { "-".to_owned() } else { format!("{:.2}%", 100.0 * count as f64 / of as f64) }
}

fn print_example(target: Target, healing: Healing, example: &Example) -> anyhow::Result<()> {
    let Example { property, index, schedule, network, order } = example;
    let orders = match healing {
        Healing::Always => "in every order",
        Healing::Sometimes | Healing::Never => "in some orders",
    };
    print(&format!("\nthe smallest network that heals {orders}: {property} is broken in run {index} after"))?;
    for line in schedule.to_string().lines() {
        print(&format!("    {line}"))?;
    }
    print(&format!("with the network\n    {network}\nwhich heals by"))?;
    print_order(target.version.rules(), *network, order)
}
