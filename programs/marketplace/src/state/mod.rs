//! One file per account: its fields, who owns it, its lifetime, its transitions and its invariant.

pub mod agent_listing;
pub mod archive;
pub mod archive_tree;
pub mod config;
pub mod creator_collateral;
pub mod creator_profile;
pub mod deposit;
pub mod dispute;
pub mod execution_record;
pub mod key_grant;
pub mod pending_change;
pub mod signing_key;
pub mod unclaimed_refund;

pub use agent_listing::*;
pub use archive::*;
pub use archive_tree::*;
pub use config::*;
pub use creator_collateral::*;
pub use creator_profile::*;
pub use deposit::*;
pub use dispute::*;
pub use execution_record::*;
pub use key_grant::*;
pub use pending_change::*;
pub use signing_key::*;
pub use unclaimed_refund::*;
