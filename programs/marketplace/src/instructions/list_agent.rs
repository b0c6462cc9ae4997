//! Puts an agent on offer: its terms, its signing key, its collateral.

use anchor_lang::prelude::*;
use anchor_spl::token::{self, Mint, Token, TokenAccount, Transfer};

use crate::constants::*;
use crate::creation::{create_state, create_token_account};
use crate::ed25519;
use crate::errors::MarketplaceError;
use crate::events::AgentListed;
use crate::state::{
    AgentListing, Config, CreatorCollateral, ListingStatus, ListingTerms, SigningKey,
};

/// Arguments of `list_agent`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct ListAgentArgs {
    /// Chosen by the creator, any 16 bytes; part of the listing's address.
    pub listing_id: [u8; 16],
    /// Ed25519 key that will sign this agent's results.
    pub signing_key: Pubkey,
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
    #[account(seeds = [CONFIG_SEED], bump = config.bump, has_one = usdc_mint @ MarketplaceError::WrongMint)]
    pub config: Box<Account<'info, Config>>,
    /// The listing, made here.
    #[account(
        init,
        payer = payer,
        space = 8 + AgentListing::INIT_SPACE,
        seeds = [LISTING_SEED, creator.key().as_ref(), args.listing_id.as_ref()],
        bump
    )]
    pub listing: Box<Account<'info, AgentListing>>,
    /// The key's tie to this listing, made here. One that exists already has a version and is refused in
    /// `validate`; plain `init` would refuse it too, but without saying why.
    #[account(
        init_if_needed,
        payer = payer,
        space = 8 + SigningKey::INIT_SPACE,
        seeds = [KEY_SEED, args.signing_key.as_ref()],
        bump
    )]
    pub signing_key: Box<Account<'info, SigningKey>>,
    /// CHECK: at its address by its seeds; made here.
    #[account(mut, seeds = [COLLATERAL_SEED, listing.key().as_ref()], bump)]
    pub collateral: UncheckedAccount<'info>,
    /// CHECK: at its address by its seeds; made here as a token account that owns itself.
    #[account(mut, seeds = [COLLATERAL_VAULT_SEED, listing.key().as_ref()], bump)]
    pub collateral_vault: UncheckedAccount<'info>,
    /// The creator's account that pays the deposit.
    #[account(
        mut,
        constraint = source.owner == creator.key() && source.mint == usdc_mint.key()
            @ MarketplaceError::InvalidDepositSource
    )]
    pub source: Box<Account<'info, TokenAccount>>,
    /// The creator's account that settlements will pay.
    #[account(
        constraint = payout.owner == creator.key() && payout.mint == usdc_mint.key()
            @ MarketplaceError::InvalidPayout
    )]
    pub payout: Box<Account<'info, TokenAccount>>,
    pub usdc_mint: Box<Account<'info, Mint>>,
    /// CHECK: the instructions sysvar, by its address.
    #[account(address = anchor_lang::solana_program::sysvar::instructions::ID)]
    pub instructions: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
    pub system_program: Program<'info, System>,
}

impl ListAgent<'_> {
    /// listing, collateral and vault are new at their addresses; signing_key is new, strong and
    /// proved to be the creator's; source and payout by their constraints; terms within the config's limits.
    pub fn validate(&self, args: &ListAgentArgs) -> Result<()> {
        require!(
            self.signing_key.version == 0,
            MarketplaceError::SigningKeyTaken
        );
        require!(
            ed25519::is_admissible_key(&args.signing_key),
            MarketplaceError::WeakSigningKey
        );
        require_possession(&self.instructions, &args.signing_key, &self.listing.key())?;
        args.terms.validate(&self.config)
    }
}

/// The key's holder signed this listing's registration in the instruction before.
pub fn require_possession(
    instructions: &AccountInfo,
    key: &Pubkey,
    listing: &Pubkey,
) -> Result<()> {
    let message = [REGISTER_DOMAIN, listing.as_ref()].concat();
    ed25519::require_signature(instructions, key, &message)
}

/// Make the four accounts and move the tier's deposit into the vault.
pub fn list_agent_handler(ctx: Context<ListAgent>, args: ListAgentArgs) -> Result<()> {
    let now = Clock::get()?.unix_timestamp;
    let accounts = ctx.accounts;
    let bumps = ctx.bumps;
    let listing_key = accounts.listing.key();
    let deposit = accounts.config.tier_deposit(args.terms.price)?;
    let terms = args.terms;

    accounts.listing.set_inner(AgentListing {
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
    });
    accounts.signing_key.set_inner(SigningKey {
        version: ACCOUNT_VERSION,
        bump: bumps.signing_key,
        key: args.signing_key,
        listing: listing_key,
    });
    fund_collateral(accounts, &bumps, deposit)?;

    let listing = &accounts.listing;
    emit!(AgentListed {
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
        metadata_hash: listing.metadata_hash,
        metadata_uri: listing.metadata_uri.clone(),
        listed_at: listing.listed_at,
    });
    Ok(())
}

/// Open the collateral's book and vault and move the deposit in.
fn fund_collateral(accounts: &ListAgent, bumps: &ListAgentBumps, deposit: u64) -> Result<()> {
    let listing_key = accounts.listing.key();
    let vault_seeds: &[&[u8]] = &[
        COLLATERAL_VAULT_SEED,
        listing_key.as_ref(),
        &[bumps.collateral_vault],
    ];
    create_token_account(
        &accounts.payer,
        &accounts.collateral_vault,
        vault_seeds,
        &accounts.usdc_mint.to_account_info(),
        &accounts.collateral_vault,
        &accounts.token_program,
        &accounts.system_program,
    )?;
    let transfer = Transfer {
        from: accounts.source.to_account_info(),
        to: accounts.collateral_vault.to_account_info(),
        authority: accounts.creator.to_account_info(),
    };
    token::transfer(
        CpiContext::new(accounts.token_program.to_account_info(), transfer),
        deposit,
    )?;

    let collateral = CreatorCollateral {
        version: ACCOUNT_VERSION,
        returned: false,
        bump: bumps.collateral,
        vault_bump: bumps.collateral_vault,
        listing: listing_key,
        deposited: deposit,
        slashed: 0,
        owed: 0,
        disputed_amount: 0,
        exposure_opened: 0,
        exposure_window_start: 0,
        returnable_at: 0,
        open_disputes: 0,
    };
    let seeds: &[&[u8]] = &[COLLATERAL_SEED, listing_key.as_ref(), &[bumps.collateral]];
    create_state(
        &accounts.payer,
        &accounts.collateral,
        seeds,
        &collateral,
        &accounts.system_program,
    )?;
    let vault = crate::creation::read_token_account(&accounts.collateral_vault);
    collateral.invariant(vault.map_or(0, |vault| vault.amount))
}
