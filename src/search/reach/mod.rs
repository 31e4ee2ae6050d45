//! What a run reaches: the situations that a search has to come by to be worth anything.
//!
//! A corpus that violates nothing proves little if nothing ever happens in it. So for each rare situation that the rules
//! of a version are about, there is a [`Fact`]: something that should *sometimes* be so. How often a [`Story`] reaches it
//! is counted, and the tests insist that random schedules and the committed corpus reach every one.
//!
//! Facts are about the network as it is, not about the one in effect.

mod facts;
mod reading;

use std::collections::BTreeSet;

pub use facts::FACTS;
use reading::Reading;

use crate::finding::story::Story;
use crate::protocol::version::Rules;
use crate::search::novelty;

/// Something that is sometimes so in a run.
#[derive(Debug)]
pub struct Fact {
    /// The name, as in `two-rings`.
    pub name: &'static str,
    /// What it is, in a line, and so what an occurrence is.
    pub definition: &'static str,
    possible: fn(Rules) -> bool,
    count: fn(&Reading<'_>) -> usize,
}

impl Fact {
    /// Whether it can occur under these rules at all. Where it cannot, they have no such thing; that `tse2017` has no
    /// second ring is Z17's proof. (What ends the runs of `claims` before something occurs is no rule.)
    #[must_use]
    pub fn possible(&self, rules: Rules) -> bool {
        (self.possible)(rules)
    }
}

/// How often a run reaches each fact, in the order of [`FACTS`].
#[must_use]
pub fn reached(story: &Story) -> [usize; FACTS.len()] {
    let run = Reading::of(story);
    FACTS.each_ref().map(|fact| (fact.count)(&run))
}

/// The [features](novelty::features) of the networks that a run comes by: those of which libFuzzer is told.
#[must_use]
pub fn features(story: &Story) -> BTreeSet<usize> {
    let mut features = BTreeSet::new();
    let mut last = 0;
    for step in story.steps.iter().filter(|step| step.executed.is_some()) {
        let network = story.events[step.events.end - 1].network;
        if network != last {
            features.extend(novelty::features(&story.networks[network].pointers));
        }
        last = network;
    }
    features
}
