//! Changes a listing's signing key. Open executions keep their key.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::creation::{create_state, read_state, save};
use crate::errors::MarketplaceError;
use crate::events::SigningKeyRotated;
use crate::guard::fail;
use crate::packing::emit;
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
    /// CHECK: the account that binds the key to this listing, by its seeds; created here if the key is new.
    #[cfg(not(feature = "idl-build"))]
    #[account(mut, seeds = [KEY_SEED, args.signing_key.as_ref()], bump)]
    pub signing_key: UncheckedAccount<'info>,
    /// The account that binds the key to this listing; created here if the key is new.
    #[cfg(feature = "idl-build")]
    #[account(mut, seeds = [KEY_SEED, args.signing_key.as_ref()], bump)]
    pub signing_key: Box<Account<'info, SigningKey>>,
    pub system_program: Program<'info, System>,
}

impl RotateSigningKey<'_> {
    /// listing is not delisted; the key is strong and proved to be the creator's.
    /// `bind_signing_key` checks that the key does not belong to another listing.
    pub fn validate(&self, args: &RotateSigningKeyArgs) -> Result<()> {
        ensure!(
            self.listing.status != ListingStatus::Delisted,
            MarketplaceError::ListingDelisted
        );
        require_possession(&args.signing_key, &args.possession, &self.listing.key())
    }
}

/// Bind a key to a listing permanently. Does nothing if it is already bound to this listing.
pub fn bind_signing_key<'info>(
    payer: &Signer<'info>,
    account: &AccountInfo<'info>,
    key: Pubkey,
    bump: u8,
    listing: Pubkey,
) -> Result<()> {
    if let Some(tie) = read_state::<SigningKey>(account) {
        ensure!(tie.listing == listing, MarketplaceError::SigningKeyTaken);
        return Ok(());
    }
    let tie = SigningKey {
        version: ACCOUNT_VERSION,
        bump,
        key,
        listing,
    };
    create_state(payer, account, &[KEY_SEED, key.as_ref(), &[bump]], &tie)
}

/// Bind the key, and use it from now on.
pub fn rotate_signing_key_handler(
    ctx: Context<RotateSigningKey>,
    args: RotateSigningKeyArgs,
) -> Result<()> {
    let accounts = ctx.accounts;
    let listing = accounts.listing.key();
    accounts.listing.signing_key = args.signing_key;
    save(&accounts.listing)?;
    bind_signing_key(
        &accounts.payer,
        &accounts.signing_key.to_account_info(),
        args.signing_key,
        ctx.bumps.signing_key,
        listing,
    )?;
    emit(&SigningKeyRotated {
        listing,
        signing_key: args.signing_key,
    })
}
