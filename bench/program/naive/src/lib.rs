//! The baseline of the bench: the marketplace's paid call written as most Anchor tutorials write an escrow.
//! It is deployed nowhere.
//!
//! It does the same work for the same parties: an API key's capped grant pays through an SPL delegate into an
//! escrow, the creator's Ed25519 signature over the result's hash releases it, or it goes back. What differs
//! is how: every address is searched for at run time, the escrow is an associated token account, both token
//! programs are served through interfaces, errors carry strings, and each step is logged. Nothing here is slow
//! on purpose, and what the marketplace checks beyond this (frozen accounts, dust, a second use of a signature
//! within a transaction, addresses that were funded before their use) it does not.

use anchor_lang::prelude::*;

pub mod open;
pub mod refund;
pub mod settle;
pub mod state;

pub use open::*;
pub use refund::*;
pub use settle::*;

declare_id!("5uxzqbcLddH4H9oZpEQ7Xv6bnYBuYFgG3Pa5wEtjPAJw");

#[program]
pub mod naive_escrow {
    use super::*;

    /// Debits the grant and moves the price from the wallet into a new escrow.
    pub fn open(ctx: Context<Open>, args: OpenArgs) -> Result<()> {
        open_handler(ctx, args)
    }

    /// Pays creator and treasury against the signature in the instruction before, and closes the escrow.
    pub fn settle(ctx: Context<Settle>, args: SettleArgs) -> Result<()> {
        settle_handler(ctx, args)
    }

    /// Sends the price back, gives the grant its spend back, and closes the escrow.
    pub fn refund(ctx: Context<Refund>, args: RefundArgs) -> Result<()> {
        refund_handler(ctx, args)
    }
}
