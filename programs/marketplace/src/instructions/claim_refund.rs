//! Pays an unclaimed refund to its caller, by its leaf in an archive's tree.

use anchor_lang::prelude::*;
use anchor_spl::token::Token;

use crate::constants::*;
use crate::creation::{create_account, Funder};
use crate::errors::MarketplaceError;
use crate::events::RefundClaimed;
use crate::guard::{fail, require_address};
use crate::self_call::call_self;
use crate::state::{require_leaf, unclaimed_leaf, Archive, Config, UnclaimedRefund};
use crate::tokens::{self, TokenTransfer};

/// Arguments of `claim_refund`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct ClaimRefundArgs {
    /// The address of the execution's record, or of the deposit.
    pub source: Pubkey,
    /// Base units.
    pub amount: u64,
    /// When it moved to the account of unclaimed refunds, unix seconds.
    pub unclaimed_at: i64,
    /// Index of the leaf in the archive's tree.
    pub leaf_index: u32,
    /// The siblings on the leaf's path below the canopy, from the bottom up.
    pub proof: [[u8; 32]; 10],
}

/// Accounts of `claim_refund`.
#[event_cpi]
#[derive(Accounts)]
#[instruction(args: ClaimRefundArgs)]
pub struct ClaimRefund<'info> {
    /// The wallet that the refund belongs to.
    pub caller: Signer<'info>,
    /// Pays the rent of `claim`.
    #[account(mut)]
    pub payer: Signer<'info>,
    #[account(address = CONFIG_ADDRESS)]
    pub config: Box<Account<'info, Config>>,
    #[account(
        seeds = [ARCHIVE_SEED, &archive.index.to_le_bytes()],
        bump = archive.bump,
        has_one = tree @ fail(MarketplaceError::WrongAddress)
    )]
    pub archive: Box<Account<'info, Archive>>,
    /// CHECK: the archive's tree, by has_one.
    pub tree: UncheckedAccount<'info>,
    /// The address names the tree and the leaf's index, so each leaf has exactly one. It has no data, and stays.
    /// CHECK: the account that forbids a second claim, by its seeds; created here.
    #[account(mut, seeds = [CLAIM_SEED, tree.key().as_ref(), &args.leaf_index.to_le_bytes()], bump)]
    pub claim: UncheckedAccount<'info>,
    /// CHECK: the account of unclaimed refunds, by its address.
    #[account(mut, address = UNCLAIMED_ADDRESS)]
    pub unclaimed: UncheckedAccount<'info>,
    /// CHECK: any USDC account of the caller; checked in `validate`.
    #[account(mut)]
    pub destination: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
    pub system_program: Program<'info, System>,
}

impl ClaimRefund<'_> {
    /// program is this program, because it calls itself; the refund is not claimed yet; destination is the caller's and
    /// can receive; the account of unclaimed refunds has the amount; the archive's tree has the leaf.
    pub fn validate(&self, args: &ClaimRefundArgs) -> Result<()> {
        require_address(self.program.key, &crate::ID)?;
        ensure!(self.claim.owner != &crate::ID, RefundAlreadyClaimed);
        ensure!(
            tokens::can_receive_for(&self.destination, &self.config.usdc_mint, self.caller.key),
            DestinationUnusable
        );
        ensure!(args.amount <= tokens::balance(&self.unclaimed), InvalidAmount);
        let leaf = unclaimed_leaf(&self.refund(args))?;
        let data = self.tree.try_borrow_data()?;
        require_leaf(&data, leaf, args.leaf_index, &args.proof)
    }

    /// The refund of the leaf. Only its true fields and its caller's signature hash to it.
    fn refund(&self, args: &ClaimRefundArgs) -> UnclaimedRefund {
        UnclaimedRefund {
            source: args.source,
            caller: self.caller.key(),
            amount: args.amount,
            unclaimed_at: args.unclaimed_at,
        }
    }
}

/// Create the account that forbids a second claim, and pay the caller.
pub fn claim_refund_handler(ctx: Context<ClaimRefund>, args: ClaimRefundArgs) -> Result<()> {
    let accounts = ctx.accounts;
    let tree = accounts.tree.key();
    let index = args.leaf_index.to_le_bytes();
    let seeds: &[&[u8]] = &[CLAIM_SEED, tree.as_ref(), &index, &[ctx.bumps.claim]];
    let payer = Funder::wallet(&accounts.payer, &accounts.system_program);
    create_account(&payer, &accounts.claim, seeds, 0, &crate::ID, 0)?;
    let transfer = TokenTransfer {
        authority: accounts.unclaimed.to_account_info(),
        seeds: &[UNCLAIMED_SEED, &[UNCLAIMED_BUMP]],
        token_program: &accounts.token_program,
    };
    transfer.send(&accounts.unclaimed, &accounts.destination, args.amount)?;
    let event = RefundClaimed {
        claim: accounts.claim.key(),
        tree,
        leaf_index: args.leaf_index,
        destination: accounts.destination.key(),
        claimed_at: Clock::get()?.unix_timestamp,
        refund: accounts.refund(&args),
    };
    call_self(&event, &accounts.event_authority, ctx.bumps.event_authority)
}
