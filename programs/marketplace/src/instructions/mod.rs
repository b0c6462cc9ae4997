//! One file per instruction: arguments, accounts, `validate`, `handle`.

pub mod create_grant;
pub mod initialize_config;
pub mod list_agent;
pub mod open_execution;
pub mod open_execution_with_grant;
pub mod refund_execution;
pub mod revoke_grant;
pub mod set_creator_verified;
pub mod set_listing_status;
pub mod settle_execution;
pub mod update_listing;

pub use create_grant::*;
pub use initialize_config::*;
pub use list_agent::*;
pub use open_execution::*;
pub use open_execution_with_grant::*;
pub use refund_execution::*;
pub use revoke_grant::*;
pub use set_creator_verified::*;
pub use set_listing_status::*;
pub use settle_execution::*;
pub use update_listing::*;
