//! Random runs, and what the same datagrams cost in the broker alone: the floor of a run.

use std::hint::black_box;

use chord_fuzz::judge::{Options, Target, run};
use chord_fuzz::protocol::wire::{self, Datagram};
use chord_fuzz::schedule::{Op, Schedule};
use chord_fuzz::truth::ident::{Ident, MAX_IDENTS};
use chord_fuzz::world::network::Fate;
use chord_fuzz::world::trace::{Event, Observer};
use weft_net::core::{Core, RecvResult};
use weft_net::{FaultModel, VAddr};

/// The schedules of `steps` random steps, by seed 1: from every start, on circles of every size.
pub fn schedules(steps: usize, delays: bool) -> impl Iterator<Item = Schedule> {
    let mut rng = fastrand::Rng::with_seed(1);
    std::iter::repeat_with(move || {
        let mut bytes: Vec<u8> = (0..2 + 2 * steps).map(|_| rng.u8(..)).collect();
        bytes[0] = rng.u8(..6) | if delays { 0x08 } else { 0 };
        Schedule::decode(&bytes)
    })
}

/// Something that a run asks of the broker.
#[derive(Clone, Debug)]
enum Call {
    Connect { connection: u64, address: VAddr },
    Disconnect { connection: u64 },
    Send { from: VAddr, to: VAddr, payload: Datagram, time: u64 },
    Receive { connection: u64 },
}

/// All that a run asks of the broker, in order.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    calls: Vec<Call>,
    connections: [Option<u64>; MAX_IDENTS],
    opened: u64,
    /// How many datagrams arrive.
    pub arrivals: usize,
    /// How many steps are executed: a run ends with the first violation.
    pub steps: usize,
}

fn address(node: Ident) -> VAddr {
    VAddr::new(0x7f00_0001 + u32::from(node.get()), 1)
}

impl Traffic {
    /// What this run asks.
    pub fn of(target: Target, schedule: &Schedule) -> Self {
        let mut traffic = Self::default();
        let _ = run(target, schedule, &Options::default(), &mut traffic);
        traffic
    }

    fn connect(&mut self, node: Ident) {
        let connection = self.opened;
        self.opened += 1;
        self.connections[node.index()] = Some(connection);
        self.calls.push(Call::Connect { connection, address: address(node) });
    }

    fn disconnect(&mut self, node: Ident) {
        if let Some(connection) = self.connections[node.index()].take() {
            self.calls.push(Call::Disconnect { connection });
        }
    }

    /// Asks a broker of its own the same. Returns how many datagrams arrive, which must be as many as in the run.
    pub fn replay(&self) -> usize {
        let mut core = Core::new(FaultModel::reliable(0));
        let mut arrivals = 0;
        for call in &self.calls {
            match call {
                Call::Connect { connection, address } => {
                    core.connect(*connection);
                    core.bind(*connection, *address);
                }
                Call::Disconnect { connection } => core.disconnect(*connection),
                Call::Send { from, to, payload, time } => {
                    black_box(core.send(*from, *to, payload, *time));
                }
                Call::Receive { connection } => {
                    let received = black_box(core.recv(*connection));
                    arrivals += usize::from(matches!(received, RecvResult::Delivered { .. }));
                }
            }
        }
        arrivals
    }
}

impl Observer for Traffic {
    fn observe(&mut self, event: impl FnOnce() -> Event) {
        match event() {
            Event::Start(_, network) => network.members().iter().for_each(|node| self.connect(node)),
            Event::Step(step) => {
                self.steps += 1;
                match step.op {
                    Op::Join => {
                        // A node that was not admitted has gone away, of which there is no event.
                        self.disconnect(step.node);
                        self.connect(step.node);
                    }
                    Op::Fail => self.disconnect(step.node),
                    _ => {}
                }
            }
            Event::Sent { from, to, message, fate } => {
                let time = match fate {
                    Fate::Due(time) => time,
                    Fate::NoReceiver | Fate::Lost => {
                        self.disconnect(to);
                        0
                    }
                };
                let (from, to, payload) = (address(from), address(to), wire::encode(&message));
                self.calls.push(Call::Send { from, to, payload, time });
            }
            Event::Received { at, .. } => {
                self.arrivals += 1;
                self.calls.extend(self.connections[at.index()].map(|connection| Call::Receive { connection }));
            }
            Event::Unanswered { .. } | Event::Unnoticed { .. } | Event::Changed { .. } => {}
        }
    }
}
