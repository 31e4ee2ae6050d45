//! Where a world is judged, event by event.

use crate::judge::healing::lost;
use crate::judge::{Breach, Judge, Only, Target};
use crate::protocol::replica::Replica;
use crate::protocol::version::Rules;
use crate::truth::property::{Property, first_broken, sound};
use crate::truth::snapshot::Snapshot;
use crate::world::network::MAX_DATAGRAMS;
use crate::world::trace::Observer;
use crate::world::{Revisions, World};

/// Where a world is judged, step by step.
pub(crate) struct Bench {
    rules: Rules,
    /// What is judged at every event.
    at_events: Vec<Property>,
    /// Whether events are judged on the network in effect instead of as it is.
    effective: bool,
    /// Whether the required properties are judged when all is quiet.
    at_quiet: bool,
    /// The [revisions](World::revisions) judged last; one is not judged twice, and the start not at all.
    last: Revisions,
}

impl Bench {
    pub(crate) fn new(target: Target, only: &Only) -> Self {
        let rules = target.version.rules();
        let invariant = matches!(rules, Rules::Tse { base: true, .. });
        let at_events = match target.judge {
            Judge::Claims => Property::CLAIMED.into_iter().filter(|p| only.counts(Breach::Broken(*p))).collect(),
            Judge::NeverHeals if invariant && only.counts(Breach::Broken(Property::Invariant)) => {
                vec![Property::Invariant]
            }
            Judge::NeverHeals => Vec::new(),
        };
        Self {
            rules,
            at_events,
            effective: target.judge == Judge::NeverHeals,
            at_quiet: target.judge == Judge::NeverHeals,
            last: Revisions::default(),
        }
    }

    /// Lets everything arrive that is due, and judges every event.
    pub(super) fn events<R: Replica, O: Observer>(&mut self, world: &mut World<'_, R, O>) -> Option<Breach> {
        loop {
            let breach = self.event(world);
            if breach.is_some() {
                return breach;
            }
            if !world.advance() {
                return None;
            }
            if world.network().datagrams() > MAX_DATAGRAMS {
                return Some(Breach::Runaway);
            }
        }
    }

    fn event<R: Replica, O: Observer>(&mut self, world: &World<'_, R, O>) -> Option<Breach> {
        if self.at_events.is_empty() {
            return None;
        }
        let (last, revisions) = (self.last, world.revisions());
        if self.effective {
            self.last.effective_lists = revisions.effective_lists;
            if last.effective_lists == revisions.effective_lists {
                return None;
            }
            return first_broken(&world.effective(), &self.at_events).map(Breach::Broken);
        }
        self.last.now_lists = revisions.now_lists;
        if last.now_lists == revisions.now_lists {
            return None;
        }
        first_broken(world.now(), &self.at_events).map(Breach::Broken)
    }

    /// Judges the network if nothing is on its way.
    pub(super) fn quiet<R: Replica, O: Observer>(&mut self, world: &World<'_, R, O>) -> Option<Breach> {
        let Revisions { now, now_lists, .. } = world.revisions();
        if !self.at_quiet || !world.network().quiet() || now == self.last.now {
            return None;
        }
        self.last.now = now;
        if now_lists == self.last.now_lists {
            return None;
        }
        let network = world.now();
        if sound(network) {
            self.last.now_lists = now_lists;
            return None;
        }
        // Whether it heals is a matter of predecessors too, so it is not the lists alone that have been judged.
        lost(self.rules, network)
    }

    /// Judges the network after a step of the model: its events are one, and all is quiet.
    pub(crate) fn step(&self, network: &Snapshot) -> Option<Breach> {
        let broken = first_broken(network, &self.at_events).map(Breach::Broken);
        broken.or_else(|| if self.at_quiet && !sound(network) { lost(self.rules, network) } else { None })
    }
}
