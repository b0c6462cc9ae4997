//! Deposits that wait for an execution.

use anchor_lang::prelude::*;

use super::UnclaimedLeaf;

/// A deposit was prepared for its payment.
#[event]
pub struct DepositPrepared {
    pub deposit: Pubkey,
    /// SHA-256 of the deposit's terms; see `DepositTerms`.
    pub terms_hash: [u8; 32],
    /// The payer that the deposit's address names; the zero key if it names none.
    pub quoted_payer: Pubkey,
    /// The wallet that buys. It gets the money back if no execution is opened.
    pub caller: Pubkey,
    pub rent_sponsor: Pubkey,
    /// Base units.
    pub price: u64,
    pub service_fee: u64,
    /// Unix seconds.
    pub prepared_at: i64,
    pub expires_at: i64,
}

/// A deposit went back to its caller without an execution.
#[event]
pub struct DepositRefunded {
    pub deposit: Pubkey,
    pub caller: Pubkey,
    /// The account that got the money, if there was any: the caller's, or that of unclaimed refunds.
    pub destination: Pubkey,
    /// Base units that went to that account.
    pub amount: u64,
    /// Base units that went to the treasury: the service fee, or all of a deposit that was not fully paid.
    pub service_fee: u64,
    pub refunded_at: i64,
    /// False if the rent sponsor could not take the rent. Deposit and vault then stay until another `refund_deposit`.
    pub closed: bool,
    /// Set if the caller's account could not receive, as in `ExecutionRefunded`.
    pub unclaimed: Option<UnclaimedLeaf>,
}
