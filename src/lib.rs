//! Finds the rare join and failure interleavings that break the Chord distributed hash table.
//!
//! A fuzzer's bytes are a [`schedule`] of joins, failures, delays and maintenance steps. The [`world`] does it to replicas of a
//! published version of Chord, a [`protocol`], which talk over a network made of the broker core of `weft-net`. Ground
//! [`truth`] is a snapshot of all pointers, of which each property holds or not, and the [`judge`] says what that means. A
//! [`finding`] tells people how it came about. The [`search`] turns the wheel.
//!
//! ```text
//! search: bytes -> schedule -> world { protocol } -> truth -> judge -> finding
//! ```
//!
//! Each of these is a folder, and knows only those before it in the line `truth`, [`schedule`], [`protocol`], [`world`],
//! [`judge`], [`finding`], [`search`]; the command-line tool comes after them all.
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
//! use chord_fuzz::judge::{Breach, Options, Target, Verdict, run};
//! use chord_fuzz::truth::property::Property;
//!
//! // Z12: without a liveness check, a stabilization adopts a successor that has failed.
//! let schedule: Schedule = "join 1 via 0\nstabilize 1\nfail 1\nstabilize 0\n".parse()?;
//! let outcome = run("sigcomm2001".parse()?, &schedule, &Options::default(), &mut ());
//! assert_eq!(outcome.verdict, Verdict::Violated(Breach::Broken(Property::AtLeastOneRing)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod finding;
pub mod judge;
pub mod protocol;
pub mod schedule;
pub mod search;
pub mod truth;
pub mod world;
