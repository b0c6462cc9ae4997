//! Gives or removes a creator's verification badge, after an identity check made by people.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::creation::space_of;
use crate::errors::MarketplaceError;
use crate::events::CreatorVerificationChanged;
use crate::guard::fail;
use crate::state::{Config, CreatorProfile};

/// Arguments of `set_creator_verified`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct SetCreatorVerifiedArgs {
    /// The creator's wallet.
    pub creator: Pubkey,
    /// True to show the badge.
    pub verified: bool,
}

/// Accounts of `set_creator_verified`.
#[derive(Accounts)]
#[instruction(args: SetCreatorVerifiedArgs)]
pub struct SetCreatorVerified<'info> {
    /// The admin.
    pub admin: Signer<'info>,
    /// Pays the profile's rent the first time.
    #[account(mut)]
    pub payer: Signer<'info>,
    #[account(address = CONFIG_ADDRESS, has_one = admin @ fail(MarketplaceError::NotAdmin))]
    pub config: Box<Account<'info, Config>>,
    /// The creator's profile; created here the first time. Profiles are never closed and every field is written each
    /// time, so a profile cannot be created again with other contents.
    #[account(
        init_if_needed,
        payer = payer,
        space = space_of::<CreatorProfile>(),
        seeds = [CREATOR_SEED, args.creator.as_ref()],
        bump
    )]
    pub profile: Box<Account<'info, CreatorProfile>>,
    pub system_program: Program<'info, System>,
}

/// Set the badge.
pub fn set_creator_verified_handler(
    ctx: Context<SetCreatorVerified>,
    args: SetCreatorVerifiedArgs,
) -> Result<()> {
    let profile = &mut ctx.accounts.profile;
    profile.set_inner(CreatorProfile {
        version: ACCOUNT_VERSION,
        bump: ctx.bumps.profile,
        verified: false,
        creator: args.creator,
        verified_at: 0,
    });
    profile.set_verified(args.verified, Clock::get()?.unix_timestamp);
    emit!(CreatorVerificationChanged {
        creator: args.creator,
        verified: profile.verified,
        verified_at: profile.verified_at,
    });
    Ok(())
}
