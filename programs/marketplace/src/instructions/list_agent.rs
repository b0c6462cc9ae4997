//! Lists an agent: its terms, its signing key, its collateral.

use anchor_lang::prelude::*;
use anchor_spl::token::Token;

use crate::constants::*;
use crate::creation::{create_token_account, save, space_of, Funder};
use crate::errors::MarketplaceError;
use crate::events::AgentListed;
use crate::guard::fail;
use crate::signature::require_possession;
use crate::state::{
    AgentListing, Config, CreatorCollateral, ListingStatus, ListingTerms, SigningKey,
};
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
    /// The new listing.
    #[account(
        init,
        payer = payer,
        space = space_of::<AgentListing>(),
        seeds = [LISTING_SEED, creator.key().as_ref(), args.listing_id.as_ref()],
        bump
    )]
    pub listing: Box<Account<'info, AgentListing>>,
    /// The account that binds the key to this listing; created here, or bound to another listing, which is refused.
    #[account(
        init_if_needed,
        payer = payer,
        space = space_of::<SigningKey>(),
        seeds = [KEY_SEED, args.signing_key.as_ref()],
        bump
    )]
    pub signing_key: Box<Account<'info, SigningKey>>,
    /// The new collateral.
    #[account(
        init,
        payer = payer,
        space = space_of::<CreatorCollateral>(),
        seeds = [COLLATERAL_SEED, listing.key().as_ref()],
        bump
    )]
    pub collateral: Box<Account<'info, CreatorCollateral>>,
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
    /// signing_key is strong and proved to be the creator's; the constraints check the rest.
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
        ensure!(deposit <= args.max_deposit, DepositAboveMax);
        ensure!(source.amount >= deposit, InsufficientBalance);
        require_possession(&args.signing_key, &args.possession, &self.listing.key())
    }
}

/// Fill the new accounts and move the tier's deposit into the vault.
pub fn list_agent_handler(ctx: Context<ListAgent>, args: ListAgentArgs) -> Result<()> {
    let now = Clock::get()?.unix_timestamp;
    let accounts = ctx.accounts;
    let key = accounts.listing.key();
    let deposit = accounts.config.tier_deposit(args.terms.price)?;
    let terms = args.terms;
    accounts.listing.set_inner(AgentListing {
        version: ACCOUNT_VERSION,
        status: ListingStatus::Active,
        bump: ctx.bumps.listing,
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
    });
    accounts.signing_key.bind(args.signing_key, ctx.bumps.signing_key, key)?;
    fund_collateral(accounts, &ctx.bumps, deposit)?;
    let listing = &accounts.listing;
    emit!(AgentListed {
        listing: key,
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
        metadata_uri: listing.metadata_uri.clone(),
        listed_at: listing.listed_at,
    });
    Ok(())
}

/// Fill the collateral, create its vault, and move the deposit in.
fn fund_collateral(accounts: &mut ListAgent, bumps: &ListAgentBumps, deposit: u64) -> Result<()> {
    accounts.collateral.set_inner(CreatorCollateral {
        version: ACCOUNT_VERSION,
        returned: false,
        bump: bumps.collateral,
        vault_bump: bumps.collateral_vault,
        listing: accounts.listing.key(),
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
    });
    save(&accounts.listing)?;
    save(&accounts.signing_key)?;
    save(&accounts.collateral)?;
    let vault = &accounts.collateral_vault;
    let listing = accounts.listing.key();
    create_token_account(
        &Funder::wallet(&accounts.payer, &accounts.system_program),
        vault,
        &[COLLATERAL_VAULT_SEED, listing.as_ref(), &[bumps.collateral_vault]],
        &accounts.usdc_mint,
        vault,
        &accounts.token_program,
    )?;
    let transfer = TokenTransfer {
        authority: accounts.creator.to_account_info(),
        seeds: &[],
        token_program: &accounts.token_program,
    };
    transfer.send(&accounts.source, vault, deposit)?;
    accounts.collateral.invariant(tokens::balance(vault))
}
