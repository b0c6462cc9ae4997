//! Releases an escrow against the creator's signature over the result's hash.

use anchor_lang::prelude::*;
use anchor_spl::token::spl_token::state::AccountState;
use anchor_spl::token::{self, CloseAccount, Token, TokenAccount, Transfer};

use crate::constants::*;
use crate::creation::read_token_account;
use crate::ed25519;
use crate::errors::MarketplaceError;
use crate::events::ExecutionSettled;
use crate::state::{AgentListing, Config, ExecutionRecord, ExecutionStatus};

/// Arguments of `settle_execution`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct SettleExecutionArgs {
    /// SHA-256 of the result; the creator signed `sha256:` and its lower-case hex.
    pub result_hash: [u8; 32],
    /// Dispatch to result, as the relay measured it.
    pub execution_time_ms: u32,
}

/// Accounts of `settle_execution`.
#[derive(Accounts)]
pub struct SettleExecution<'info> {
    /// Must sign too, because the creator's signature does not name the execution.
    pub relay_authority: Signer<'info>,
    #[account(
        seeds = [CONFIG_SEED],
        bump = config.bump,
        has_one = relay_authority @ MarketplaceError::NotRelayAuthority
    )]
    pub config: Box<Account<'info, Config>>,
    #[account(
        mut,
        seeds = [EXECUTION_SEED, record.execution_id.as_ref()],
        bump = record.bump,
        has_one = listing @ MarketplaceError::WrongListing,
        has_one = rent_sponsor @ MarketplaceError::WrongRentSponsor
    )]
    pub record: Box<Account<'info, ExecutionRecord>>,
    /// Says where the creator is paid; its status does not matter here.
    #[account(has_one = payout @ MarketplaceError::WrongPayout)]
    pub listing: Box<Account<'info, AgentListing>>,
    /// CHECK: at its address by its seeds; read as a token account in `handle`, gone once the record has ended.
    #[account(mut, seeds = [ESCROW_SEED, record.key().as_ref()], bump = record.escrow_bump)]
    pub escrow: UncheckedAccount<'info>,
    /// CHECK: the listing's payout by has_one; that it can receive is checked in `validate`.
    #[account(mut)]
    pub payout: UncheckedAccount<'info>,
    #[account(mut, seeds = [TREASURY_SEED], bump = config.treasury_bump)]
    pub treasury: Box<Account<'info, TokenAccount>>,
    /// CHECK: the record's rent sponsor by has_one; only receives lamports.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
    /// CHECK: the instructions sysvar, by its address.
    #[account(address = anchor_lang::solana_program::sysvar::instructions::ID)]
    pub instructions: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
}

impl SettleExecution<'_> {
    /// Called at the top level; record open, before refund_at; the signature is by the record's key over
    /// this hash; payout can receive; all else by the constraints.
    pub fn validate(&self, args: &SettleExecutionArgs) -> Result<()> {
        ed25519::require_top_level()?;
        require!(
            self.record.status == ExecutionStatus::Open,
            MarketplaceError::ExecutionNotOpen
        );
        let message = ed25519::result_message(&args.result_hash);
        ed25519::require_signature(&self.instructions, &self.record.signing_key, &message)?;
        let payout = read_token_account(&self.payout).ok_or(MarketplaceError::PayoutUnusable)?;
        require!(
            payout.state == AccountState::Initialized && payout.mint == self.config.usdc_mint,
            MarketplaceError::PayoutUnusable
        );
        Ok(())
    }
}

/// Pay marketplace and creator, close the escrow, keep the hash.
pub fn settle_execution_handler(
    ctx: Context<SettleExecution>,
    args: SettleExecutionArgs,
) -> Result<()> {
    let accounts = ctx.accounts;
    let held = read_token_account(&accounts.escrow).map_or(0, |escrow| escrow.amount);
    accounts.record.invariant(held)?;
    // A frozen treasury must never keep a creator from being paid, so it forgoes its share.
    let fee_waived = accounts.treasury.state != AccountState::Initialized;
    if fee_waived {
        accounts.record.fee_bps = 0;
    }
    let now = Clock::get()?.unix_timestamp;
    accounts
        .record
        .settle(args.result_hash, args.execution_time_ms, now)?;

    let fee = accounts.record.fee();
    let price = accounts.record.price;
    let creator_amount = price
        .checked_sub(fee)
        .ok_or(MarketplaceError::ArithmeticOverflow)?;
    // Whatever a stranger sent to the escrow is not the creator's.
    let to_creator = if fee_waived { held } else { creator_amount };
    let to_treasury = held
        .checked_sub(to_creator)
        .ok_or(MarketplaceError::ArithmeticOverflow)?;

    let execution_id = accounts.record.execution_id;
    let seeds: &[&[u8]] = &[
        EXECUTION_SEED,
        execution_id.as_ref(),
        &[accounts.record.bump],
    ];
    let signer = [seeds];
    for (to, amount) in [
        (accounts.payout.to_account_info(), to_creator),
        (accounts.treasury.to_account_info(), to_treasury),
    ] {
        if amount == 0 {
            continue;
        }
        let transfer = Transfer {
            from: accounts.escrow.to_account_info(),
            to,
            authority: accounts.record.to_account_info(),
        };
        let context = CpiContext::new_with_signer(
            accounts.token_program.to_account_info(),
            transfer,
            &signer,
        );
        token::transfer(context, amount)?;
    }
    let close = CloseAccount {
        account: accounts.escrow.to_account_info(),
        destination: accounts.rent_sponsor.to_account_info(),
        authority: accounts.record.to_account_info(),
    };
    token::close_account(CpiContext::new_with_signer(
        accounts.token_program.to_account_info(),
        close,
        &signer,
    ))?;

    let record = &accounts.record;
    record.invariant(0)?;
    emit!(ExecutionSettled {
        record: record.key(),
        execution_id,
        listing: record.listing,
        result_hash: args.result_hash,
        creator_amount,
        platform_amount: fee,
        fee_bps: record.fee_bps,
        fee_waived,
        execution_time_ms: args.execution_time_ms,
        settled_at: now,
    });
    Ok(())
}
