//! One event per transition, in the past tense, with the state after it. Events are a convenience
//! for indexers: the accounts are the truth.

pub mod archives;
pub mod config;
pub mod deposits;
pub mod disputes;
pub mod executions;
pub mod grants;
pub mod listings;

pub use archives::*;
pub use config::*;
pub use deposits::*;
pub use disputes::*;
pub use executions::*;
pub use grants::*;
pub use listings::*;
