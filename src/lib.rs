//! Finds the rare join and failure interleavings that break the Chord distributed hash table.
//!
//! A fuzzer's bytes are a [`schedule`] of joins, failures, delays and maintenance steps. The [`world`] does it to
//! [replicas](chord) of a published [`version`] of Chord, which talk over a [`network`] made of the broker core of
//! `weft-net`. Ground truth is a [`snapshot`] of all pointers, of which each [`property`] holds or not, and a
//! [`verdict`] says what that means. A [`story`] tells people how it came about. Data flows one way:
//!
//! ```text
//! bytes -> Schedule -> World { replicas, network } -> Snapshot -> Verdict -> report
//! ```
//!
//! A replica knows nothing of the network, the network nothing of Chord, and a property nothing of how a state came
//! about. The [`model`] states the protocols a second time, as atomic steps on shared state: it judges whether a broken
//! network heals, and the replicas are tested against it. A [proof](prove) says whether any order of maintenance heals it.
//!
//! # Sources
//!
//! Every rule cites where it comes from:
//!
//! | tag | source |
//! |---|---|
//! | S01 | Stoica, Morris, Karger, Kaashoek, Balakrishnan, "Chord: A Scalable Peer-to-peer Lookup Service for Internet Applications", SIGCOMM 2001 |
//! | P02 | Liben-Nowell, Balakrishnan, Karger, "Analysis of the Evolution of Peer-to-Peer Systems", PODC 2002 |
//! | Z12 | Zave, "Using Lightweight Modeling to Understand Chord", ACM SIGCOMM CCR 42(2), 2012, with its Alloy and Promela models |
//! | Z17 | Zave, "Reasoning about Identifier Spaces: How to Make Chord Correct", IEEE TSE 43(12), 2017, with its Alloy model |
//! | V19 | verdi-chord, a message-passing implementation of Z17 in Coq |
//! | W26 | weft, the toolchain that publishes `weft-net`, and its Chord case study |
//!
//! The *spec* is this project's digest of them: 1 identifiers, 2 versions, 3 properties, 4 the failure assumption,
//! 5 messages and failure detection, 6 known counterexamples.
//!
//! # Example
//!
//! ```
//! use chord_fuzz::schedule::Schedule;
//! use chord_fuzz::verdict::{Breach, Options, Target, Verdict, run};
//! use chord_fuzz::property::Property;
//!
//! // Z12: without a liveness check, a stabilization adopts a successor that has failed.
//! let schedule: Schedule = "join 1 via 0\nstabilize 1\nfail 1\nstabilize 0\n".parse()?;
//! let outcome = run("sigcomm2001".parse()?, &schedule, &Options::default(), &mut ());
//! assert_eq!(outcome.verdict, Verdict::Violated(Breach::Broken(Property::AtLeastOneRing)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "command")]
pub mod census;
pub mod chord;
pub mod exhaust;
pub mod fuzzing;
pub mod ident;
#[cfg(feature = "command")]
pub mod matrix;
pub mod model;
pub mod network;
pub mod novelty;
pub mod property;
pub mod prove;
pub mod reach;
pub mod replica;
pub mod report;
pub mod schedule;
pub mod shape;
pub mod shrink;
pub mod snapshot;
pub mod story;
#[cfg(feature = "command")]
pub mod sweep;
pub mod trace;
#[cfg(feature = "command")]
pub mod triage;
pub mod verdict;
pub mod version;
pub mod weftlog;
pub mod world;
