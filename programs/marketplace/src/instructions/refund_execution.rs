//! Sends an escrow back to its caller. Before `refund_at` the relay decides; from then on anyone can do it.

use anchor_lang::prelude::*;
use anchor_spl::associated_token::get_associated_token_address;
use anchor_spl::token::spl_token::state::AccountState;
use anchor_spl::token::{self, CloseAccount, Token, Transfer};

use crate::constants::*;
use crate::creation::{read_token_account, write_state};
use crate::errors::MarketplaceError;
use crate::events::ExecutionRefunded;
use crate::state::{Config, ExecutionRecord, KeyGrant, RefundReason};

/// Arguments of `refund_execution`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct RefundExecutionArgs {
    /// Why; anyone but the relay always refunds for `Expired`.
    pub reason: RefundReason,
}

/// Accounts of `refund_execution`.
#[derive(Accounts)]
pub struct RefundExecution<'info> {
    /// The relay authority, or anyone from `refund_at` on.
    pub authority: Signer<'info>,
    #[account(seeds = [CONFIG_SEED], bump = config.bump)]
    pub config: Box<Account<'info, Config>>,
    #[account(
        mut,
        seeds = [EXECUTION_SEED, record.execution_id.as_ref()],
        bump = record.bump,
        has_one = rent_sponsor @ MarketplaceError::WrongRentSponsor
    )]
    pub record: Box<Account<'info, ExecutionRecord>>,
    /// CHECK: at its address by its seeds; read as a token account in `handle`, gone once the record has ended.
    #[account(mut, seeds = [ESCROW_SEED, record.key().as_ref()], bump = record.escrow_bump)]
    pub escrow: UncheckedAccount<'info>,
    /// CHECK: the caller's associated token account, or any of a caller who signs; checked in `validate`.
    #[account(mut)]
    pub destination: UncheckedAccount<'info>,
    /// CHECK: at its address by its seeds; may be absent, closed or revoked, and then gets nothing back.
    #[account(mut, seeds = [GRANT_SEED, record.caller.as_ref(), record.key_id.as_ref()], bump)]
    pub grant: UncheckedAccount<'info>,
    /// CHECK: the record's rent sponsor by has_one; only receives lamports.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
}

impl RefundExecution<'_> {
    /// authority may refund now; destination is the caller's and can receive; all else by the constraints.
    pub fn validate(&self, _args: &RefundExecutionArgs) -> Result<()> {
        let authority = self.authority.key();
        let now = Clock::get()?.unix_timestamp;
        require!(
            authority == self.config.relay_authority || now >= self.record.refund_at,
            MarketplaceError::RefundTooEarly
        );
        let caller = self.record.caller;
        let mint = self.config.usdc_mint;
        require!(
            authority == caller
                || self.destination.key() == get_associated_token_address(&caller, &mint),
            MarketplaceError::WrongRefundDestination
        );
        let account = read_token_account(&self.destination)
            .ok_or(MarketplaceError::RefundDestinationUnusable)?;
        require!(
            account.owner == caller
                && account.mint == mint
                && account.state == AccountState::Initialized,
            MarketplaceError::RefundDestinationUnusable
        );
        Ok(())
    }
}

/// Move everything back, close the escrow, give the grant its spend back.
pub fn refund_execution_handler(
    ctx: Context<RefundExecution>,
    args: RefundExecutionArgs,
) -> Result<()> {
    let accounts = ctx.accounts;
    let now = Clock::get()?.unix_timestamp;
    accounts.record.refund(now)?;
    let by_relay = accounts.authority.key() == accounts.config.relay_authority;
    let reason = if by_relay {
        args.reason
    } else {
        RefundReason::Expired
    };

    let amount = read_token_account(&accounts.escrow).map_or(0, |escrow| escrow.amount);
    let execution_id = accounts.record.execution_id;
    let seeds: &[&[u8]] = &[
        EXECUTION_SEED,
        execution_id.as_ref(),
        &[accounts.record.bump],
    ];
    let signer = [seeds];
    let transfer = Transfer {
        from: accounts.escrow.to_account_info(),
        to: accounts.destination.to_account_info(),
        authority: accounts.record.to_account_info(),
    };
    let token_program = accounts.token_program.to_account_info();
    token::transfer(
        CpiContext::new_with_signer(token_program.clone(), transfer, &signer),
        amount,
    )?;
    let close = CloseAccount {
        account: accounts.escrow.to_account_info(),
        destination: accounts.rent_sponsor.to_account_info(),
        authority: accounts.record.to_account_info(),
    };
    token::close_account(CpiContext::new_with_signer(token_program, close, &signer))?;

    let record = &accounts.record;
    record.invariant(0)?;
    let restored = restore_grant(&accounts.grant, record)?;
    emit!(ExecutionRefunded {
        record: record.key(),
        execution_id,
        listing: record.listing,
        caller: record.caller,
        amount,
        reason: reason as u8,
        refunded_at: now,
        grant_restored: restored.is_some(),
        grant_total_spent: restored.unwrap_or(0),
    });
    Ok(())
}

/// Give the spend back to the grant that paid, if it is still that one and live; says the spend after it.
/// A grant that is gone must never keep a caller from its money, so nothing here refuses.
fn restore_grant(account: &AccountInfo, record: &ExecutionRecord) -> Result<Option<u64>> {
    if record.key_id == [0; 16] || account.owner != &crate::ID {
        return Ok(None);
    }
    let parsed = {
        let data = account.try_borrow_data()?;
        KeyGrant::try_deserialize(&mut data.as_ref())
    };
    let Ok(mut grant) = parsed else {
        return Ok(None);
    };
    if !grant.restore(record.price, record.opened_at) {
        return Ok(None);
    }
    // No invariant here: giving back only lowers the spend, and limits may have been lowered below it since.
    write_state(account, &grant)?;
    Ok(Some(grant.total_spent))
}
