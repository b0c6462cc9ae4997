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
    close_empty_escrow, divide_gas, require_spender, AgentListing, Config, ExecutionRecord,
    ExecutionStatus,
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
    /// Lamports of the record's gas that the relay authority takes. The rest goes back to the gas balance that paid it,
    /// or to the rent sponsor if no grant paid.
    pub gas_lamports: u32,
    /// Bump of the caller's `Spender`. Counts only if gas goes back to it and the record does not have the bump.
    pub spender_bump: u8,
}

/// Accounts of `settle_execution`.
#[derive(Accounts)]
pub struct SettleExecution<'info> {
    /// Must sign too, because the creator's signature does not name the execution. Takes its part of the gas.
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
    #[account(mut, seeds = [ESCROW_SEED, record.key().as_ref()], bump = record.escrow_bump)]
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
    /// The caller's `Spender` if its gas balance lent the escrow's rent or gets gas back; otherwise any account will do.
    /// CHECK: address derived from the record's caller and a bump, checked in `validate`; only receives lamports.
    #[cfg_attr(feature = "idl-build", account(seeds = [SPENDER_SEED, record.caller.as_ref()], bump))]
    #[account(mut)]
    pub spender: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
}

impl SettleExecution<'_> {
    /// spender is the caller's if it has a part; relay_authority is one, and takes no more than the gas; record is open;
    /// payout is the creator's and can receive; the signature, the most expensive check, is last. `record.settle` checks
    /// `refund_at`; the constraints check the rest.
    pub fn validate(&self, args: &SettleExecutionArgs) -> Result<()> {
        self.require_spender(args)?;
        self.config.require_relay_authority(self.relay_authority.key)?;
        self.record.require_gas(args.gas_lamports)?;
        ensure!(self.record.status == ExecutionStatus::Open, ExecutionNotOpen);
        let (mint, creator) = (&self.config.usdc_mint, &self.listing.creator);
        ensure!(tokens::can_receive_for(&self.payout, mint, creator), PayoutUnusable);
        let message = result_message(&args.result_hash);
        require_signature(&self.record.signing_key, &args.signature, &message)
    }

    /// The record has the bump of a `Spender` that lent its escrow's rent. If not, the relay authority names the bump,
    /// because a search would cost what the caller's key decides. A wrong bump gives nobody what that authority could not
    /// have kept.
    fn require_spender(&self, args: &SettleExecutionArgs) -> Result<()> {
        let record = &self.record;
        let bump = if record.spender_bump != 0 {
            record.spender_bump
        } else if record.is_by_grant() && args.gas_lamports < record.gas_lamports {
            args.spender_bump
        } else {
            return Ok(());
        };
        require_spender(self.spender.key, &record.caller, Some(bump))
    }
}

/// Pay marketplace and creator, close the escrow, keep the hash, divide the gas.
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
    let creator_amount =
        record.price.checked_sub(fee).ok_or_else(|| fail(MarketplaceError::ArithmeticOverflow))?;
    // Tokens that strangers sent to the escrow go to the treasury, unless the fee is waived.
    let to_creator = if fee_waived { held } else { creator_amount };
    let to_treasury =
        held.checked_sub(to_creator).ok_or_else(|| fail(MarketplaceError::ArithmeticOverflow))?;

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
    let receivers = [accounts.relay_authority.as_ref(), accounts.rent_sponsor.as_ref()];
    let giver = if record.is_by_grant() { &accounts.spender } else { &accounts.rent_sponsor };
    let gas = divide_gas(record, args.gas_lamports, giver, receivers)?;
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
        gas_returned: gas.returned,
    });
    Ok(())
}
