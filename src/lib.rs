//! chord-fuzz
pub mod chord;
pub mod ident;
pub mod model;
pub mod network;
pub mod property;
pub mod replica;
pub mod schedule;
pub mod snapshot;
pub mod trace;
pub mod verdict;
pub mod version;
pub mod world;
