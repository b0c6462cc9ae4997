//! Announces a change. It takes effect no sooner than `admin_delay_seconds` later. So a stolen admin key can be
//! noticed, and the guardian can cancel the change, before it reaches anybody's money.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::creation::space_of;
use crate::errors::MarketplaceError;
use crate::events::ChangeProposed;
use crate::guard::fail;
use crate::state::{Config, ConfigChange, PendingChange, Subject};

/// Arguments of `propose_change`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct ProposeChangeArgs {
    /// Any number that no pending change has.
    pub change_id: u64,
    /// The new values.
    pub details: ConfigChange,
}

/// Accounts of `propose_change`.
#[derive(Accounts)]
#[instruction(args: ProposeChangeArgs)]
pub struct ProposeChange<'info> {
    /// The admin.
    pub admin: Signer<'info>,
    /// Pays the change's rent.
    #[account(mut)]
    pub payer: Signer<'info>,
    #[account(address = CONFIG_ADDRESS, has_one = admin @ fail(MarketplaceError::NotAdmin))]
    pub config: Box<Account<'info, Config>>,
    /// The new pending change.
    #[account(
        init,
        payer = payer,
        space = space_of::<PendingChange>(),
        seeds = [CHANGE_SEED, &args.change_id.to_le_bytes()],
        bump
    )]
    pub change: Box<Account<'info, PendingChange>>,
    pub system_program: Program<'info, System>,
}

impl ProposeChange<'_> {
    /// The change has one subject, is not in the second in which all were cancelled, and would be sound if it were
    /// applied now.
    pub fn validate(&self, args: &ProposeChangeArgs) -> Result<()> {
        let subject = args.details.subject()?;
        let now = Clock::get()?.unix_timestamp;
        self.config.require_valid(subject, now)?;
        if subject == Subject::Admin {
            ensure!(args.details.admin != Some(Pubkey::default()), InvalidAuthority);
            return Ok(());
        }
        let mut after = Box::new(Config::clone(&self.config));
        after.apply(&args.details)
    }
}

/// Create the pending change.
pub fn propose_change_handler(ctx: Context<ProposeChange>, args: ProposeChangeArgs) -> Result<()> {
    let accounts = ctx.accounts;
    let now = Clock::get()?.unix_timestamp;
    let wait = accounts.config.wait_seconds(args.details.subject()?);
    accounts.change.set_inner(PendingChange {
        version: ACCOUNT_VERSION,
        bump: ctx.bumps.change,
        change_id: args.change_id,
        rent_sponsor: accounts.payer.key(),
        proposed_at: now,
        due_at: now.saturating_add(wait),
        details: args.details,
    });
    let change = &accounts.change;
    emit!(ChangeProposed {
        change: change.key(),
        change_id: change.change_id,
        rent_sponsor: change.rent_sponsor,
        proposed_at: now,
        due_at: change.due_at,
        details: change.details.clone(),
    });
    Ok(())
}
