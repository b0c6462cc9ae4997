//! Ends an execution whose refund its caller's account cannot receive: the money moves to one account of the program,
//! so that escrow and record can close and nobody's rent stays locked. Anyone may call it.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::UnclaimedLeaf;
use crate::guard::{fail, require_address};
use crate::instructions::refund_execution::*;
use crate::self_call::call_self;
use crate::state::{append_leaves, unclaimed_leaf, Archive, Config, UnclaimedRefund};
use crate::tokens;

/// The account that receives an unclaimed refund, and the archive that receives its leaf.
#[derive(Accounts)]
pub struct Unclaimed<'info> {
    /// CHECK: the account of unclaimed refunds, by its address.
    #[account(mut, address = UNCLAIMED_ADDRESS)]
    pub unclaimed: UncheckedAccount<'info>,
    #[account(mut,
        seeds = [ARCHIVE_SEED, &archive.index.to_le_bytes()], bump = archive.bump,
        has_one = tree @ fail(MarketplaceError::WrongAddress))]
    pub archive: Box<Account<'info, Archive>>,
    /// CHECK: the archive's tree, by has_one.
    #[account(mut)]
    pub tree: UncheckedAccount<'info>,
}

impl Unclaimed<'_> {
    /// program is this program, because it calls itself; destination is the caller's associated token account, and
    /// cannot receive; the account of unclaimed refunds can receive; the archive has room.
    pub fn validate(
        &self,
        program: &Pubkey,
        config: &Config,
        destination: &AccountInfo,
        caller: &Pubkey,
    ) -> Result<()> {
        require_address(program, &crate::ID)?;
        let mint = &config.usdc_mint;
        ensure!(tokens::is_associated(destination, mint, caller), WrongRefundDestination);
        ensure!(!tokens::can_receive_for(destination, mint, caller), RefundDeliverable);
        ensure!(tokens::can_receive(&self.unclaimed, mint), DestinationUnusable);
        self.archive.room().map(|_| ())
    }
}

/// A refund that is about to move to the account of unclaimed refunds.
pub struct MoveOfRefund<'a, 'info> {
    pub to: &'a mut Unclaimed<'info>,
    pub event_authority: &'a AccountInfo<'info>,
    pub event_authority_bump: u8,
}

impl<'info> MoveOfRefund<'_, 'info> {
    /// The account that receives it.
    pub fn account(&self) -> &AccountInfo<'info> {
        &self.to.unclaimed
    }

    /// Append its leaf.
    pub fn append(
        &mut self,
        source: Pubkey,
        caller: Pubkey,
        amount: u64,
        now: i64,
    ) -> Result<UnclaimedLeaf> {
        ensure!(amount > 0, InvalidAmount);
        let leaf = unclaimed_leaf(&UnclaimedRefund { source, caller, amount, unclaimed_at: now })?;
        let Unclaimed { archive, tree, .. } = self.to;
        let place =
            UnclaimedLeaf { archive: archive.key(), tree: tree.key(), leaf_index: archive.count };
        append_leaves(archive, tree, &[leaf])?;
        Ok(place)
    }

    /// Send the event, which is the only trace of the leaf's fields.
    pub fn send<E: anchor_lang::Event>(&self, event: &E) -> Result<()> {
        call_self(event, self.event_authority, self.event_authority_bump)
    }
}

/// Accounts of `move_unclaimed_refund`.
#[event_cpi]
#[derive(Accounts)]
pub struct MoveUnclaimedRefund<'info> {
    pub refund: RefundExecution<'info>,
    pub to: Unclaimed<'info>,
}

impl MoveUnclaimedRefund<'_> {
    /// `UNCLAIMED_SECONDS` have passed since `refund_at`. `Unclaimed` and `RefundExecution` check the accounts.
    pub fn validate(&self, args: &RefundExecutionArgs) -> Result<()> {
        let refund = &self.refund;
        let due_at = refund.record.refund_at.saturating_add(UNCLAIMED_SECONDS);
        ensure!(Clock::get()?.unix_timestamp >= due_at, MoveTooEarly);
        let caller = &refund.record.caller;
        self.to.validate(self.program.key, &refund.config, &refund.destination, caller)?;
        refund.require_givers(args)
    }
}

/// End the record, and move its escrow's balance to the unclaimed refunds.
pub fn move_unclaimed_refund_handler(
    ctx: Context<MoveUnclaimedRefund>,
    args: RefundExecutionArgs,
) -> Result<()> {
    let accounts = ctx.accounts;
    let unclaimed = MoveOfRefund {
        to: &mut accounts.to,
        event_authority: &accounts.event_authority,
        event_authority_bump: ctx.bumps.event_authority,
    };
    accounts.refund.refund(&args, Some(unclaimed))
}
