//! A caller's claim that a paid result is not what was paid for. Its bond keeps claims serious.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::creation::{save, space_of, Funder};
use crate::errors::MarketplaceError;
use crate::events::DisputeOpened;
use crate::guard::fail;
use crate::state::{
    Config, CreatorCollateral, Dispute, DisputeOutcome, ExecutionRecord, RecordHead,
};

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
        seeds = [EXECUTION_SEED, record.execution_id.as_ref()],
        bump = record.bump,
        has_one = caller @ fail(MarketplaceError::NotCaller)
    )]
    pub record: Box<Account<'info, ExecutionRecord>>,
    #[account(mut, seeds = [COLLATERAL_SEED, record.listing.as_ref()], bump = collateral.bump)]
    pub collateral: Box<Account<'info, CreatorCollateral>>,
    /// The new dispute. One that exists is refused.
    #[account(
        init_if_needed,
        payer = payer,
        space = space_of::<Dispute>(),
        seeds = [DISPUTE_SEED, record.key().as_ref()],
        bump
    )]
    pub dispute: Box<Account<'info, Dispute>>,
    pub system_program: Program<'info, System>,
}

impl OpenDispute<'_> {
    /// `OpenDisputeArgs::validate` checks config and dispute, `RecordHead::require_disputable` status and window.
    pub fn validate(&self, args: &OpenDisputeArgs) -> Result<()> {
        args.validate(&self.config, &self.dispute)
    }
}

impl OpenDisputeArgs {
    /// The dispute is new; the bond is at most `max_bond`; the URI fits.
    pub fn validate(&self, config: &Config, dispute: &Dispute) -> Result<()> {
        ensure!(dispute.version == 0, DisputeExists);
        ensure!(config.dispute_bond_lamports <= self.max_bond, BondAboveMax);
        ensure!(self.evidence_uri.len() <= usize::from(MAX_URI_LENGTH), UriTooLong);
        Ok(())
    }
}

/// Open a dispute over the living record.
pub fn open_dispute_handler(ctx: Context<OpenDispute>, args: OpenDisputeArgs) -> Result<()> {
    let accounts = ctx.accounts;
    accounts.record.book_invariant()?;
    let execution = accounts.record.head();
    NewDispute {
        payer: &accounts.payer,
        bond: accounts.config.dispute_bond_lamports,
        record: accounts.record.key(),
        collateral: &mut accounts.collateral,
        dispute: &mut accounts.dispute,
        system_program: &accounts.system_program,
        bump: ctx.bumps.dispute,
    }
    .open(execution, args)
}

/// The accounts of a dispute that is about to be opened.
pub struct NewDispute<'a, 'info> {
    pub payer: &'a Signer<'info>,
    /// Lamports.
    pub bond: u64,
    pub record: Pubkey,
    pub collateral: &'a mut Account<'info, CreatorCollateral>,
    pub dispute: &'a mut Account<'info, Dispute>,
    pub system_program: &'a Program<'info, System>,
    pub bump: u8,
}

impl NewDispute<'_, '_> {
    /// Count the dispute against the collateral, fill its account and take the bond.
    #[inline(never)]
    pub fn open(self, execution: RecordHead, args: OpenDisputeArgs) -> Result<()> {
        let now = Clock::get()?.unix_timestamp;
        execution.require_disputable(now)?;
        self.collateral.open_dispute()?;
        self.collateral.book_invariant()?;
        save(self.collateral)?;

        self.dispute.set_inner(Dispute {
            version: ACCOUNT_VERSION,
            outcome: DisputeOutcome::Open,
            bump: self.bump,
            record: self.record,
            execution_id: execution.execution_id,
            listing: execution.listing,
            caller: execution.caller,
            rent_sponsor: self.payer.key(),
            evidence_hash: args.evidence_hash,
            reason_hash: [0; 32],
            opened_at: now,
            bond: self.bond,
            price: execution.price,
            amount_to_caller: 0,
            amount_slashed: 0,
            owed: 0,
            resolved_at: 0,
        });
        let dispute = &self.dispute;
        dispute.invariant()?;
        save(dispute)?;
        Funder::wallet(self.payer, self.system_program).send(dispute.as_ref(), dispute.bond)?;
        emit!(DisputeOpened {
            dispute: dispute.key(),
            record: dispute.record,
            execution_id: dispute.execution_id,
            listing: dispute.listing,
            caller: dispute.caller,
            evidence_hash: args.evidence_hash,
            evidence_uri: args.evidence_uri,
            price: dispute.price,
            rent_sponsor: dispute.rent_sponsor,
            bond: dispute.bond,
            opened_at: now,
        });
        Ok(())
    }
}
