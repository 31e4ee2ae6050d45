//! Triage: many inputs, told apart by what they break and how.
//!
//! Two inputs are the same finding if they have the same signature and come to the same [shape](mod@crate::finding::shape) when
//! they are shrunk. An input that is shrunk less than it could be may stand alone where it need not; never are two put
//! together that differ.
//!
//! # How much is done
//!
//! The [work](Effort::work) is shared out, so that many inputs take little longer than a few. First steps are
//! [removed](Shrinker::reduce), with an equal share of half the [`WORK`] for every finding. What then has the same shape is
//! one finding from there on, and is [simplified](Shrinker::simplify) with an equal share of the other half. So a few
//! hundred findings become 1-minimal; of ten thousand the longest may not. None is [searched](Shrinker::search) for a
//! shorter one, and fair maintenance alone [decides](Options::networks) what is a violation: what is worth
//! keeping is worth a shrink by itself.
//!
//! The result depends on the inputs and nothing else, also not on the number of threads.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use blake3::Hash;
use rayon::iter::{IntoParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _};

use crate::finding::shape::shape;
use crate::finding::shrink::{Effort, Shrinker, compare};
use crate::judge::{Breach, Only, Options, Target, Verdict, run};
use crate::schedule::Schedule;

/// How many steps are executed to shrink all findings together.
pub const WORK: u64 = 16_000_000;

/// Inputs that are the same finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// What they are inputs of.
    pub target: Target,
    /// What they violate.
    pub breach: Breach,
    /// The smallest schedule that one of them comes to.
    pub smallest: Schedule,
    /// Its shape, which all of them come to.
    pub shape: Hash,
    /// The inputs, by their indices in ascending order.
    pub inputs: Vec<usize>,
}

/// What many inputs come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Triage {
    /// What was found, by target, breach and size.
    pub buckets: Vec<Bucket>,
    /// What each input comes to.
    pub verdicts: Vec<Verdict>,
}

/// Runs inputs, shrinks what they violate, and puts together what is the same, on all threads of the current [rayon] pool.
/// Only these breaches count. `progress` is told of every run, removal and simplification that is done, which come to at
/// most three for each input.
#[must_use]
pub fn triage(inputs: &[(Target, Schedule)], only: &Only, progress: impl Fn() + Sync) -> Triage {
    let options = Options { only: only.clone(), networks: 0, ..Options::default() };
    let outcomes = inputs.par_iter().map(|(target, schedule)| {
        let outcome = run(*target, schedule, &options, &mut ());
        progress();
        (outcome.verdict, outcome.executed)
    });
    let (verdicts, executed): (Vec<_>, Vec<_>) = outcomes.collect();
    let found =
        verdicts.iter().zip(executed).zip(inputs).enumerate().filter_map(|(index, ((verdict, executed), input))| {
            let Verdict::Violated(breach) = *verdict else { return None };
            Some(Bucket::new(input.0, breach, executed, vec![index]))
        });
    let rounds: [fn(&mut Shrinker); 2] = [Shrinker::reduce, |shrinker| shrinker.shrink(|_| ())];
    let mut buckets = merged(found.collect());
    for round in rounds {
        let share = WORK / rounds.len() as u64 / buckets.len().max(1) as u64;
        let effort = Effort { candidates: 0, networks: 0, work: share };
        let shrunk = buckets.into_par_iter().map(|bucket| {
            let bucket = bucket.shrunk(effort, round);
            progress();
            bucket
        });
        buckets = merged(shrunk.collect());
    }
    for bucket in &mut buckets {
        bucket.inputs.sort_unstable();
    }
    buckets.sort_by(|a, b| {
        (a.target.to_string(), a.breach).cmp(&(b.target.to_string(), b.breach)).then(compare(&a.smallest, &b.smallest))
    });
    Triage { buckets, verdicts }
}

impl Bucket {
    fn new(target: Target, breach: Breach, smallest: Schedule, inputs: Vec<usize>) -> Self {
        let shape = shape(target.version.rules(), &smallest);
        Self { target, breach, smallest, shape, inputs }
    }

    fn shrunk(self, effort: Effort, round: fn(&mut Shrinker)) -> Self {
        let options = Options { only: Only::these(vec![self.breach]), networks: 0, ..Options::default() };
        let outcome = run(self.target, &self.smallest, &options, &mut ());
        let Some(mut shrinker) = Shrinker::new(self.target, &outcome, effort) else { return self };
        round(&mut shrinker);
        Self::new(self.target, self.breach, shrinker.schedule().clone(), self.inputs)
    }
}

/// Puts together what has the same signature and the same shape.
fn merged(buckets: Vec<Bucket>) -> Vec<Bucket> {
    let mut merged = BTreeMap::new();
    for bucket in buckets {
        let key = (bucket.target.to_string(), bucket.breach, *bucket.shape.as_bytes());
        match merged.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(bucket);
            }
            Entry::Occupied(mut entry) => {
                let same: &mut Bucket = entry.get_mut();
                same.inputs.extend(bucket.inputs);
                if compare(&bucket.smallest, &same.smallest).is_lt() {
                    same.smallest = bucket.smallest;
                }
            }
        }
    }
    merged.into_values().collect()
}
