//! The published versions of Chord: the table of their rules, and twice what these rules do.
//!
//! Once as [replicas](replica) that send each other messages, one file per family and one for the datagrams; once more
//! as atomic steps on shared state, the [`model`]. The two share no code, because each is tested against the other. A
//! protocol knows [ground truth](crate::truth) and the words of a [schedule](crate::schedule); nothing of the broker, of time,
//! or of who is alive.

pub mod list;
pub mod model;
pub mod replica;
pub mod tse2017;
pub mod version;
pub mod wire;
