//! Registers an archive and its tree. The tree's account is created first, with the system program, because a call
//! between programs can allocate at most 10,240 bytes.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::creation::space_of;
use crate::events::ArchiveCreated;
use crate::state::{initialize_tree, require_new_tree, Archive};

/// Arguments of `create_archive`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct CreateArchiveArgs {
    /// Index of the archive, from 0.
    pub index: u16,
}

/// Accounts of `create_archive`.
#[derive(Accounts)]
#[instruction(args: CreateArchiveArgs)]
pub struct CreateArchive<'info> {
    /// Pays the archive's rent; the tree's rent is already paid.
    #[account(mut)]
    pub payer: Signer<'info>,
    /// The new archive.
    #[account(
        init,
        payer = payer,
        space = space_of::<Archive>(),
        seeds = [ARCHIVE_SEED, &args.index.to_le_bytes()],
        bump
    )]
    pub archive: Box<Account<'info, Archive>>,
    /// CHECK: checked by `require_new_tree`; initialized here, so it is never new again.
    #[account(mut)]
    pub tree: UncheckedAccount<'info>,
    /// The previous archive; none for the first.
    #[account(seeds = [ARCHIVE_SEED, &previous.index.to_le_bytes()], bump = previous.bump)]
    pub previous: Option<Box<Account<'info, Archive>>>,
    pub system_program: Program<'info, System>,
}

impl CreateArchive<'_> {
    /// tree is new; previous is the archive before, and nine tenths full.
    pub fn validate(&self, args: &CreateArchiveArgs) -> Result<()> {
        require_new_tree(&self.tree)?;
        let previous = self.previous.as_ref();
        ensure!(
            args.index == 0 || previous.is_some_and(|archive| archive.makes_way_for(args.index)),
            ArchiveTooEarly
        );
        Ok(())
    }
}

/// Make the archive and write the empty tree.
pub fn create_archive_handler(ctx: Context<CreateArchive>, args: CreateArchiveArgs) -> Result<()> {
    let accounts = ctx.accounts;
    let clock = Clock::get()?;
    accounts.archive.set_inner(Archive {
        version: ACCOUNT_VERSION,
        bump: ctx.bumps.archive,
        index: args.index,
        tree: accounts.tree.key(),
        count: 0,
        created_at: clock.unix_timestamp,
    });
    accounts.archive.invariant(0)?;
    let mut data = accounts.tree.try_borrow_mut_data()?;
    initialize_tree(&mut data, &accounts.archive.key(), clock.slot)?;
    emit!(ArchiveCreated {
        archive: accounts.archive.key(),
        index: args.index,
        tree: accounts.archive.tree,
        created_at: accounts.archive.created_at,
    });
    Ok(())
}
