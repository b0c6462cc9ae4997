//! `open_dispute` for a record that was archived: its leaf takes the record's place. The leaf's fields come from the
//! arguments, the caller from its signature, and the listing from the collateral; only the true ones hash to the leaf.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::creation::space_of;
use crate::errors::MarketplaceError;
use crate::guard::fail;
use crate::instructions::open_dispute::{NewDispute, OpenDisputeArgs};
use crate::state::{
    leaf_from, require_leaf, Archive, Config, CreatorCollateral, Dispute, ExecutionStatus,
    RecordHead,
};

/// Arguments of `open_dispute_with_proof`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct OpenDisputeWithProofArgs {
    /// The record's execution id.
    pub execution_id: [u8; 16],
    /// The record's price, base units.
    pub price: u64,
    /// When the execution settled, unix seconds.
    pub settled_at: i64,
    /// The record's dispute window, seconds.
    pub dispute_window_seconds: u32,
    /// Keccak-256 of the record's other fields, which follow these in its account.
    pub rest_hash: [u8; 32],
    /// Index of the leaf in the archive's tree.
    pub leaf_index: u32,
    /// The siblings on the leaf's path below the canopy, from the bottom up.
    pub proof: [[u8; 32]; 10],
    /// The claim.
    pub claim: OpenDisputeArgs,
}

/// Accounts of `open_dispute_with_proof`.
#[derive(Accounts)]
#[instruction(args: OpenDisputeWithProofArgs)]
pub struct OpenDisputeWithProof<'info> {
    /// The record's caller.
    pub caller: Signer<'info>,
    /// Pays rent and bond, and gets the bond back unless the dispute is rejected.
    #[account(mut)]
    pub payer: Signer<'info>,
    #[account(address = CONFIG_ADDRESS)]
    pub config: Box<Account<'info, Config>>,
    /// CHECK: the address of the archived record, by its seeds.
    #[account(seeds = [EXECUTION_SEED, args.execution_id.as_ref()], bump)]
    pub record: UncheckedAccount<'info>,
    #[account(
        seeds = [ARCHIVE_SEED, &archive.index.to_le_bytes()],
        bump = archive.bump,
        has_one = tree @ fail(MarketplaceError::WrongAddress)
    )]
    pub archive: Box<Account<'info, Archive>>,
    /// CHECK: the archive's tree, by has_one.
    pub tree: UncheckedAccount<'info>,
    #[account(mut, seeds = [COLLATERAL_SEED, collateral.listing.as_ref()], bump = collateral.bump)]
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

impl OpenDisputeWithProof<'_> {
    /// `OpenDisputeArgs::validate` checks config and dispute; the archive's tree has the leaf.
    pub fn validate(&self, args: &OpenDisputeWithProofArgs) -> Result<()> {
        args.claim.validate(&self.config, &self.dispute)?;
        let leaf = leaf_from(self.record.key, &self.head(args), &args.rest_hash)?;
        let data = self.tree.try_borrow_data()?;
        require_leaf(&data, leaf, args.leaf_index, &args.proof)
    }

    /// The fields that a dispute needs, as the record had them. Only a completed record becomes a leaf.
    fn head(&self, args: &OpenDisputeWithProofArgs) -> RecordHead {
        RecordHead {
            version: ACCOUNT_VERSION,
            status: ExecutionStatus::Completed,
            execution_id: args.execution_id,
            listing: self.collateral.listing,
            caller: self.caller.key(),
            price: args.price,
            settled_at: args.settled_at,
            dispute_window_seconds: args.dispute_window_seconds,
        }
    }
}

/// Open a dispute over the proven leaf.
pub fn open_dispute_with_proof_handler(
    ctx: Context<OpenDisputeWithProof>,
    args: OpenDisputeWithProofArgs,
) -> Result<()> {
    let accounts = ctx.accounts;
    let execution = accounts.head(&args);
    NewDispute {
        payer: &accounts.payer,
        bond: accounts.config.dispute_bond_lamports,
        record: accounts.record.key(),
        collateral: &mut accounts.collateral,
        dispute: &mut accounts.dispute,
        system_program: &accounts.system_program,
        bump: ctx.bumps.dispute,
    }
    .open(execution, args.claim)
}
