//! Lists an agent: its terms, its signing key, its collateral.

use anchor_lang::prelude::*;
use anchor_spl::token::Token;

use crate::constants::*;
use crate::creation::{create_state, create_token_account, Funder};
use crate::errors::MarketplaceError;
use crate::events::AgentListed;
use crate::guard::fail;
use crate::instructions::bind_signing_key;
use crate::packing::emit;
use crate::signature::require_possession;
use crate::state::{AgentListing, Config, CreatorCollateral, ListingStatus, ListingTerms};
use crate::tokens::{self, TokenTransfer};

/// Arguments of `list_agent`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct ListAgentArgs {
    /// Chosen by the creator, any 16 bytes; part of the listing's address.
    pub listing_id: [u8; 16],
    /// Ed25519 key that will sign this agent's results.
    pub signing_key: Pubkey,
    /// That key's Ed25519 signature over `agent-marketplace:register:v1:` and the listing's 32 address bytes.
    pub possession: [u8; 64],
    /// Most that the creator agrees to deposit, base units.
    pub max_deposit: u64,
    /// Price, timeouts, tags, metadata.
    pub terms: ListingTerms,
}

/// Accounts of `list_agent`.
#[derive(Accounts)]
#[instruction(args: ListAgentArgs)]
pub struct ListAgent<'info> {
    /// The creator's wallet; owns `source` and `payout`.
    pub creator: Signer<'info>,
    /// Pays the rent of the four new accounts.
    #[account(mut)]
    pub payer: Signer<'info>,
    #[account(address = CONFIG_ADDRESS, has_one = usdc_mint @ fail(MarketplaceError::WrongMint))]
    pub config: Box<Account<'info, Config>>,
    /// CHECK: the new listing, by its seeds; created here.
    #[account(
        mut,
        seeds = [LISTING_SEED, creator.key().as_ref(), args.listing_id.as_ref()],
        bump
    )]
    pub listing: UncheckedAccount<'info>,
    /// CHECK: the account that binds the key to this listing, by its seeds; created here.
    #[account(mut, seeds = [KEY_SEED, args.signing_key.as_ref()], bump)]
    pub signing_key: UncheckedAccount<'info>,
    /// CHECK: the new collateral, by its seeds; created here.
    #[account(mut, seeds = [COLLATERAL_SEED, listing.key().as_ref()], bump)]
    pub collateral: UncheckedAccount<'info>,
    /// CHECK: the new vault, by its seeds; created here as a token account that owns itself.
    #[account(mut, seeds = [COLLATERAL_VAULT_SEED, listing.key().as_ref()], bump)]
    pub collateral_vault: UncheckedAccount<'info>,
    /// CHECK: the creator's USDC account that pays the deposit; checked in `validate`.
    #[account(mut)]
    pub source: UncheckedAccount<'info>,
    /// CHECK: the creator's USDC account that settlements will pay; checked in `validate`.
    pub payout: UncheckedAccount<'info>,
    /// CHECK: the settlement mint, by the config's has_one.
    pub usdc_mint: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
    pub system_program: Program<'info, System>,
}

impl ListAgent<'_> {
    /// source and payout are the creator's; terms are within the config's limits; source covers the deposit;
    /// signing_key is strong and proved to be the creator's. Creating an account that exists fails.
    pub fn validate(&self, args: &ListAgentArgs) -> Result<()> {
        let (mint, creator) = (self.usdc_mint.key, self.creator.key);
        let source = tokens::require_owned(
            &self.source,
            mint,
            creator,
            MarketplaceError::InvalidDepositSource,
        )?;
        tokens::require_owned(&self.payout, mint, creator, MarketplaceError::InvalidPayout)?;
        args.terms.validate(&self.config)?;
        let deposit = self.config.tier_deposit(args.terms.price)?;
        ensure!(
            deposit <= args.max_deposit,
            MarketplaceError::DepositAboveMax
        );
        ensure!(
            source.amount >= deposit,
            MarketplaceError::InsufficientBalance
        );
        require_possession(&args.signing_key, &args.possession, self.listing.key)
    }
}

/// Make the four accounts and move the tier's deposit into the vault.
pub fn list_agent_handler(ctx: Context<ListAgent>, args: ListAgentArgs) -> Result<()> {
    let now = Clock::get()?.unix_timestamp;
    let accounts = ctx.accounts;
    let bumps = ctx.bumps;
    let listing_key = accounts.listing.key();
    let deposit = accounts.config.tier_deposit(args.terms.price)?;
    let terms = args.terms;

    let listing = AgentListing {
        version: ACCOUNT_VERSION,
        status: ListingStatus::Active,
        bump: bumps.listing,
        creator: accounts.creator.key(),
        listing_id: args.listing_id,
        payout: accounts.payout.key(),
        signing_key: args.signing_key,
        price: terms.price,
        timeout_seconds: terms.timeout_seconds,
        min_timeout_seconds: terms.min_timeout_seconds,
        listing_version: 1,
        tag_mask: terms.tag_mask,
        metadata_hash: terms.metadata_hash,
        listed_at: now,
        metadata_uri: terms.metadata_uri,
    };
    let seeds: &[&[u8]] = &[
        LISTING_SEED,
        listing.creator.as_ref(),
        listing.listing_id.as_ref(),
        &[listing.bump],
    ];
    create_state(&accounts.payer, &accounts.listing, seeds, &listing)?;
    bind_signing_key(
        &accounts.payer,
        &accounts.signing_key,
        args.signing_key,
        bumps.signing_key,
        listing_key,
    )?;
    fund_collateral(accounts, &bumps, deposit)?;

    emit(&AgentListed {
        listing: listing_key,
        creator: listing.creator,
        listing_id: listing.listing_id,
        signing_key: listing.signing_key,
        payout: listing.payout,
        price: listing.price,
        timeout_seconds: listing.timeout_seconds,
        min_timeout_seconds: listing.min_timeout_seconds,
        tag_mask: listing.tag_mask,
        listing_version: listing.listing_version,
        deposited: deposit,
        rent_sponsor: accounts.payer.key(),
        metadata_hash: listing.metadata_hash,
        metadata_uri: listing.metadata_uri,
        listed_at: listing.listed_at,
    })
}

/// Create the collateral and its vault, then move the deposit in.
fn fund_collateral(accounts: &ListAgent, bumps: &ListAgentBumps, deposit: u64) -> Result<()> {
    let listing_key = accounts.listing.key();
    let collateral = CreatorCollateral {
        version: ACCOUNT_VERSION,
        returned: false,
        bump: bumps.collateral,
        vault_bump: bumps.collateral_vault,
        listing: listing_key,
        rent_sponsor: accounts.payer.key(),
        deposited: deposit,
        slashed: 0,
        owed: 0,
        forfeited: 0,
        exposure_opened: 0,
        exposure_window_start: 0,
        returnable_at: 0,
        sweepable_at: 0,
        open_disputes: 0,
        reserved: [0; 24],
    };
    let seeds: &[&[u8]] = &[COLLATERAL_SEED, listing_key.as_ref(), &[bumps.collateral]];
    create_state(&accounts.payer, &accounts.collateral, seeds, &collateral)?;
    let vault_seeds: &[&[u8]] = &[
        COLLATERAL_VAULT_SEED,
        listing_key.as_ref(),
        &[bumps.collateral_vault],
    ];
    create_token_account(
        &Funder::wallet(&accounts.payer),
        &accounts.collateral_vault,
        vault_seeds,
        &accounts.usdc_mint,
        &accounts.collateral_vault,
        &accounts.token_program,
    )?;
    let transfer = TokenTransfer {
        authority: accounts.creator.to_account_info(),
        seeds: &[],
        token_program: &accounts.token_program,
    };
    transfer.send(&accounts.source, &accounts.collateral_vault, deposit)?;
    collateral.invariant(tokens::balance(&accounts.collateral_vault))
}
