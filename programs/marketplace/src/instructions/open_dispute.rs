//! A caller's claim that a paid result is not what was paid for. Its bond keeps claims serious.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::creation::{create_state, save, Funder};
use crate::errors::MarketplaceError;
use crate::events::DisputeOpened;
use crate::guard::fail;
use crate::packing::emit;
use crate::state::{Config, CreatorCollateral, Dispute, DisputeOutcome, ExecutionRecord};

/// Arguments of `open_dispute`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct OpenDisputeArgs {
    /// SHA-256 of the evidence.
    pub evidence_hash: [u8; 32],
    /// Most that the caller agreed to pay as bond, lamports.
    pub max_bond: u64,
    /// URI of the evidence; at most 200 bytes, may be empty. Only the event contains it.
    pub evidence_uri: String,
}

/// Accounts of `open_dispute`.
#[derive(Accounts)]
pub struct OpenDispute<'info> {
    /// The record's caller.
    pub caller: Signer<'info>,
    /// Pays rent and bond, and gets the bond back unless the dispute is rejected.
    #[account(mut)]
    pub payer: Signer<'info>,
    #[account(address = CONFIG_ADDRESS)]
    pub config: Box<Account<'info, Config>>,
    #[account(
        mut,
        seeds = [EXECUTION_SEED, record.execution_id.as_ref()],
        bump = record.bump,
        has_one = caller @ fail(MarketplaceError::NotCaller)
    )]
    pub record: Box<Account<'info, ExecutionRecord>>,
    #[account(
        mut,
        seeds = [COLLATERAL_SEED, record.listing.as_ref()],
        bump = collateral.bump
    )]
    pub collateral: Box<Account<'info, CreatorCollateral>>,
    /// CHECK: the new dispute, by its seeds; created here.
    #[account(mut, seeds = [DISPUTE_SEED, record.key().as_ref()], bump)]
    pub dispute: UncheckedAccount<'info>,
    pub system_program: Program<'info, System>,
}

impl OpenDispute<'_> {
    /// dispute is new; the bond is at most `max_bond`; the URI fits. `record.dispute` checks status and window.
    pub fn validate(&self, args: &OpenDisputeArgs) -> Result<()> {
        ensure!(
            self.dispute.owner != &crate::ID,
            MarketplaceError::DisputeExists
        );
        ensure!(
            self.config.dispute_bond_lamports <= args.max_bond,
            MarketplaceError::BondAboveMax
        );
        ensure!(
            args.evidence_uri.len() <= usize::from(MAX_URI_LENGTH),
            MarketplaceError::UriTooLong
        );
        Ok(())
    }
}

/// Mark the record, count the dispute against the collateral, take the bond.
pub fn open_dispute_handler(ctx: Context<OpenDispute>, args: OpenDisputeArgs) -> Result<()> {
    let accounts = ctx.accounts;
    let now = Clock::get()?.unix_timestamp;
    let record = &mut accounts.record;
    record.dispute(now)?;
    record.book_invariant()?;
    save(record)?;
    accounts.collateral.open_dispute(record.price)?;
    accounts.collateral.book_invariant()?;
    save(&accounts.collateral)?;

    let dispute = Dispute {
        version: ACCOUNT_VERSION,
        outcome: DisputeOutcome::Open,
        bump: ctx.bumps.dispute,
        record: record.key(),
        listing: record.listing,
        caller: record.caller,
        rent_sponsor: accounts.payer.key(),
        evidence_hash: args.evidence_hash,
        reason_hash: [0; 32],
        opened_at: now,
        bond: accounts.config.dispute_bond_lamports,
        price: record.price,
        amount_to_caller: 0,
        amount_to_treasury: 0,
        owed: 0,
        resolved_at: 0,
    };
    dispute.invariant()?;
    let seeds: &[&[u8]] = &[DISPUTE_SEED, dispute.record.as_ref(), &[dispute.bump]];
    create_state(&accounts.payer, &accounts.dispute, seeds, &dispute)?;
    Funder::wallet(&accounts.payer).send(&accounts.dispute, dispute.bond)?;
    emit(&DisputeOpened {
        dispute: accounts.dispute.key(),
        record: dispute.record,
        execution_id: accounts.record.execution_id,
        listing: dispute.listing,
        caller: dispute.caller,
        evidence_hash: args.evidence_hash,
        evidence_uri: args.evidence_uri,
        price: dispute.price,
        rent_sponsor: dispute.rent_sponsor,
        bond: dispute.bond,
        opened_at: now,
    })
}
