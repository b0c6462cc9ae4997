//! Releases an escrow against the creator's signature over the result's hash.

use anchor_lang::prelude::*;
use anchor_spl::token::Token;

use crate::constants::*;
use crate::creation::save;
use crate::errors::MarketplaceError;
use crate::events::ExecutionSettled;
use crate::guard::fail;
use crate::signature::{require_signature, result_message};
use crate::state::{
    choose_gas_receiver, close_empty_escrow, AgentListing, Config, ExecutionRecord, ExecutionStatus,
};
use crate::tokens::{self, TokenTransfer};

/// Arguments of `settle_execution`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct SettleExecutionArgs {
    /// SHA-256 of the result; the creator signed `sha256:` and its lower-case hex.
    pub result_hash: [u8; 32],
    /// Ed25519 signature over that text by the record's signing key.
    pub signature: [u8; 64],
    /// Time from dispatch to result, as the relay measured it, milliseconds.
    pub execution_time_ms: u32,
}

/// Accounts of `settle_execution`.
#[derive(Accounts)]
pub struct SettleExecution<'info> {
    /// Must sign too, because the creator's signature does not name the execution. Gets the gas.
    #[account(mut)]
    pub relay_authority: Signer<'info>,
    #[account(address = CONFIG_ADDRESS)]
    pub config: Box<Account<'info, Config>>,
    #[account(
        mut,
        seeds = [EXECUTION_SEED, record.execution_id.as_ref()],
        bump = record.bump,
        has_one = listing @ fail(MarketplaceError::WrongListing),
        has_one = rent_sponsor @ fail(MarketplaceError::WrongRentSponsor)
    )]
    pub record: Box<Account<'info, ExecutionRecord>>,
    /// Names the creator; its status does not matter here.
    pub listing: Box<Account<'info, AgentListing>>,
    /// CHECK: the record's escrow, by its seeds; a token account until the record has ended.
    #[account(
        mut,
        seeds = [ESCROW_SEED, record.key().as_ref()],
        bump = record.escrow_bump
    )]
    pub escrow: UncheckedAccount<'info>,
    /// CHECK: the listing's payout or any other USDC account of its creator; checked in `validate`.
    #[account(mut)]
    pub payout: UncheckedAccount<'info>,
    /// CHECK: the treasury, by its address.
    #[account(mut, address = TREASURY_ADDRESS)]
    pub treasury: UncheckedAccount<'info>,
    /// CHECK: the record's rent sponsor, by has_one; only receives lamports.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
    /// The caller's `Spender` if its gas balance lent the escrow's rent; otherwise any account will do.
    /// CHECK: address derived from the record's caller and bump, checked in `validate`; only receives lamports.
    #[cfg_attr(feature = "idl-build", account(seeds = [SPENDER_SEED, record.caller.as_ref()], bump))]
    #[account(mut)]
    pub spender: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
}

impl SettleExecution<'_> {
    /// relay_authority is one; record is open; payout is the creator's and can receive; the signature, the
    /// most expensive check, is last. `record.settle` checks `refund_at`; the constraints check the rest.
    pub fn validate(&self, args: &SettleExecutionArgs) -> Result<()> {
        self.record.require_escrow_lender(self.spender.key)?;
        self.config
            .require_relay_authority(self.relay_authority.key)?;
        ensure!(
            self.record.status == ExecutionStatus::Open,
            MarketplaceError::ExecutionNotOpen
        );
        let (mint, creator) = (&self.config.usdc_mint, &self.listing.creator);
        ensure!(
            tokens::can_receive_for(&self.payout, mint, creator),
            MarketplaceError::PayoutUnusable
        );
        let message = result_message(&args.result_hash);
        require_signature(&self.record.signing_key, &args.signature, &message)
    }
}

/// Pay marketplace and creator, close the escrow, keep the hash, pay the gas.
pub fn settle_execution_handler(
    ctx: Context<SettleExecution>,
    args: SettleExecutionArgs,
) -> Result<()> {
    let accounts = ctx.accounts;
    let record = &mut accounts.record;
    let held = tokens::balance(&accounts.escrow);
    record.invariant(held)?;
    // A frozen treasury must not block the creator's payment, so the fee is waived.
    let fee_waived = !tokens::can_receive(&accounts.treasury, &accounts.config.usdc_mint);
    if fee_waived {
        record.fee_bps = 0;
    }
    let now = Clock::get()?.unix_timestamp;
    record.settle(args.result_hash, args.execution_time_ms, now)?;
    save(record)?;

    let fee = record.fee();
    let creator_amount = record
        .price
        .checked_sub(fee)
        .ok_or_else(|| fail(MarketplaceError::ArithmeticOverflow))?;
    // Tokens that strangers sent to the escrow go to the treasury, unless the fee is waived.
    let to_creator = if fee_waived { held } else { creator_amount };
    let to_treasury = held
        .checked_sub(to_creator)
        .ok_or_else(|| fail(MarketplaceError::ArithmeticOverflow))?;

    let execution_id = accounts.record.execution_id;
    let transfer = TokenTransfer {
        authority: accounts.record.to_account_info(),
        seeds: &accounts.record.seeds(),
        token_program: &accounts.token_program,
    };
    transfer.send(&accounts.escrow, &accounts.payout, to_creator)?;
    transfer.send(&accounts.escrow, &accounts.treasury, to_treasury)?;
    close_empty_escrow(
        &accounts.record,
        &accounts.escrow,
        [&accounts.spender, &accounts.rent_sponsor],
        &transfer,
    )?;

    let record = &accounts.record;
    record.invariant(tokens::balance(&accounts.escrow))?;
    let receivers = [
        accounts.relay_authority.as_ref(),
        accounts.rent_sponsor.as_ref(),
    ];
    let gas = choose_gas_receiver(record, receivers)?;
    gas.pay(record)?;
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
        payout: accounts.payout.key(),
        gas_to: gas.to(),
        gas_lamports: gas.lamports,
    });
    Ok(())
}
