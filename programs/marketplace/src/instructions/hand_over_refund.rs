//! Ends a refund that its caller's account cannot receive: the caller becomes owner of the escrow account
//! itself. A program address, derived from the lender of the escrow's rent, keeps the right to close it. So the
//! record can close without the caller, and the escrow's rent still goes back to its lender. Anyone may call it.

use anchor_lang::prelude::*;
use anchor_spl::token::spl_token::instruction::AuthorityType;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::instructions::refund_execution::*;
use crate::state::RefundReason;
use crate::tokens::{self, TokenTransfer};

impl RefundExecution<'_> {
    /// `HAND_OVER_SECONDS` have passed; destination is the caller's associated token account, and cannot receive.
    pub fn validate_hand_over(&self) -> Result<()> {
        self.require_state()?;
        let due_at = self.record.refund_at.saturating_add(HAND_OVER_SECONDS);
        ensure!(
            Clock::get()?.unix_timestamp >= due_at,
            MarketplaceError::HandOverTooEarly
        );
        let (mint, caller) = (&self.config.usdc_mint, &self.record.caller);
        ensure!(
            tokens::is_associated(&self.destination, mint, caller),
            MarketplaceError::WrongRefundDestination
        );
        ensure!(
            !tokens::can_receive_for(&self.destination, mint, caller),
            MarketplaceError::RefundDeliverable
        );
        self.require_givers()
    }

    /// Transfer the escrow's rights to close and to own it. The right to close goes first, while the record is owner.
    pub fn hand_over(&self) -> Result<()> {
        let lender = if self.record.spender_bump == 0 {
            &self.rent_sponsor
        } else {
            &self.spender
        };
        let seeds = [CLOSER_SEED, lender.key.as_ref()];
        let closer = Pubkey::find_program_address(&seeds, &crate::ID).0;
        let transfer = TokenTransfer {
            authority: self.record.to_account_info(),
            seeds: &self.record.seeds(),
            token_program: &self.token_program,
        };
        transfer.appoint(&self.escrow, AuthorityType::CloseAccount, &closer)?;
        transfer.appoint(
            &self.escrow,
            AuthorityType::AccountOwner,
            &self.record.caller,
        )
    }
}

/// End the record, and make the caller owner of the escrow account.
pub fn hand_over_refund_handler(ctx: Context<RefundExecution>) -> Result<()> {
    ctx.accounts.refund(RefundReason::Expired, true)
}
