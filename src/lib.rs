//! chord-fuzz
pub mod ident;
pub mod model;
pub mod property;
pub mod snapshot;
pub mod version;
