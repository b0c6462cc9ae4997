//! Changes a listing's signing key. Open executions keep their key.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::creation::space_of;
use crate::errors::MarketplaceError;
use crate::events::SigningKeyRotated;
use crate::guard::fail;
use crate::signature::require_possession;
use crate::state::{AgentListing, ListingStatus, SigningKey};

/// Arguments of `rotate_signing_key`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct RotateSigningKeyArgs {
    /// Ed25519 key that signs results of executions opened from now on.
    pub signing_key: Pubkey,
    /// That key's Ed25519 signature over `agent-marketplace:register:v1:` and the listing's 32 address bytes.
    pub possession: [u8; 64],
}

/// Accounts of `rotate_signing_key`.
#[derive(Accounts)]
#[instruction(args: RotateSigningKeyArgs)]
pub struct RotateSigningKey<'info> {
    pub creator: Signer<'info>,
    /// Pays the rent if the key is new.
    #[account(mut)]
    pub payer: Signer<'info>,
    #[account(
        mut,
        seeds = [LISTING_SEED, listing.creator.as_ref(), listing.listing_id.as_ref()],
        bump = listing.bump,
        has_one = creator @ fail(MarketplaceError::NotCreator)
    )]
    pub listing: Box<Account<'info, AgentListing>>,
    /// The account that binds the key to this listing; created here if the key is new. It is never closed.
    #[account(
        init_if_needed,
        payer = payer,
        space = space_of::<SigningKey>(),
        seeds = [KEY_SEED, args.signing_key.as_ref()],
        bump
    )]
    pub signing_key: Box<Account<'info, SigningKey>>,
    pub system_program: Program<'info, System>,
}

impl RotateSigningKey<'_> {
    /// listing is not delisted; the key is strong and proved to be the creator's.
    /// `SigningKey::bind` checks that the key does not belong to another listing.
    pub fn validate(&self, args: &RotateSigningKeyArgs) -> Result<()> {
        ensure!(self.listing.status != ListingStatus::Delisted, ListingDelisted);
        require_possession(&args.signing_key, &args.possession, &self.listing.key())
    }
}

/// Bind the key, and use it from now on.
pub fn rotate_signing_key_handler(
    ctx: Context<RotateSigningKey>,
    args: RotateSigningKeyArgs,
) -> Result<()> {
    let accounts = ctx.accounts;
    let listing = accounts.listing.key();
    accounts.listing.signing_key = args.signing_key;
    accounts.signing_key.bind(args.signing_key, ctx.bumps.signing_key, listing)?;
    emit!(SigningKeyRotated { listing, signing_key: args.signing_key });
    Ok(())
}
