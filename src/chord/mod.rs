//! The published versions of Chord as replicas: one file per family, and the datagrams that they share.

pub mod list;
pub mod tse2017;
pub mod wire;
