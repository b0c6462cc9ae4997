//! Gives or removes a creator's verification badge, after an identity check made by people.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::creation::{create_state, read_state, write_state};
use crate::errors::MarketplaceError;
use crate::events::CreatorVerificationChanged;
use crate::guard::fail;
use crate::packing::emit;
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
    /// CHECK: the creator's profile, by its seeds; created here the first time. Profiles are never closed
    /// and every field is written each time, so a profile cannot be created again with other contents.
    #[cfg(not(feature = "idl-build"))]
    #[account(mut, seeds = [CREATOR_SEED, args.creator.as_ref()], bump)]
    pub profile: UncheckedAccount<'info>,
    /// The creator's profile; created here the first time.
    #[cfg(feature = "idl-build")]
    #[account(mut, seeds = [CREATOR_SEED, args.creator.as_ref()], bump)]
    pub profile: Box<Account<'info, CreatorProfile>>,
    pub system_program: Program<'info, System>,
}

/// Set the badge.
pub fn set_creator_verified_handler(
    ctx: Context<SetCreatorVerified>,
    args: SetCreatorVerifiedArgs,
) -> Result<()> {
    let accounts = ctx.accounts;
    let account = accounts.profile.to_account_info();
    let mut profile = CreatorProfile {
        version: ACCOUNT_VERSION,
        bump: ctx.bumps.profile,
        verified: false,
        creator: args.creator,
        verified_at: 0,
    };
    profile.set_verified(args.verified, Clock::get()?.unix_timestamp);
    if read_state::<CreatorProfile>(&account).is_some() {
        write_state(&account, &profile)?;
    } else {
        let seeds: &[&[u8]] = &[CREATOR_SEED, profile.creator.as_ref(), &[profile.bump]];
        create_state(&accounts.payer, &account, seeds, &profile)?;
    }
    emit(&CreatorVerificationChanged {
        creator: args.creator,
        verified: profile.verified,
        verified_at: profile.verified_at,
    })
}
