//! One file per account: its fields, who owns it, its lifetime, its transitions and its invariant.

pub mod agent_listing;
pub mod archive;
pub mod archive_tree;
#[cfg(not(feature = "idl-build"))]
pub mod call_settings;
pub mod config;
pub mod creator_collateral;
pub mod creator_profile;
pub mod dispute;
pub mod execution_record;
pub mod key_grant;
pub mod signing_key;

pub use agent_listing::*;
pub use archive::*;
pub use archive_tree::*;
#[cfg(not(feature = "idl-build"))]
pub use call_settings::*;
/// Clients are told of the `Config` alone.
#[cfg(feature = "idl-build")]
pub type CallSettings = Config;
pub use config::*;
pub use creator_collateral::*;
pub use creator_profile::*;
pub use dispute::*;
pub use execution_record::*;
pub use key_grant::*;
pub use signing_key::*;
