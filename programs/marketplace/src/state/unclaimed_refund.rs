//! A refund that its caller's account could not receive. The money is in one token account of the program, and the refund
//! is a leaf of an archive's tree.

use anchor_lang::prelude::*;

/// What the leaf of an unclaimed refund says, in the order of its hash.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct UnclaimedRefund {
    /// The address of the execution's record, or of the deposit.
    pub source: Pubkey,
    /// The wallet that can claim it.
    pub caller: Pubkey,
    /// Base units.
    pub amount: u64,
    /// When it moved to the account of unclaimed refunds, unix seconds.
    pub unclaimed_at: i64,
}
