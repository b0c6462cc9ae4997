//! Creates the marketplace: its settings and its treasury.

use anchor_lang::prelude::*;
use anchor_lang::solana_program::bpf_loader_upgradeable;
use anchor_spl::token::{self, Mint, Token};

use crate::constants::*;
use crate::creation::create_token_account;
use crate::errors::MarketplaceError;
use crate::events::ConfigInitialized;
use crate::state::{CollateralTier, Config};

/// First settings; each within the bounds of `constants.rs`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct InitializeConfigArgs {
    /// Who may change settings, verify creators and resolve disputes.
    pub admin: Pubkey,
    /// Who must sign every settle.
    pub relay_authority: Pubkey,
    /// The marketplace's share, basis points.
    pub fee_bps: u16,
    /// Lowest price, base units.
    pub min_price: u64,
    /// Bond of a dispute, lamports.
    pub dispute_bond_lamports: u64,
    /// How long after its settle an execution can be disputed.
    pub dispute_window_seconds: u32,
    /// Time from an execution's deadline to the refund that anyone may trigger.
    pub refund_grace_seconds: u32,
    /// Longest timeout a listing may offer.
    pub max_timeout_seconds: u32,
    /// Limit of the prices opened in a window as a multiple of the collateral; 0 = none.
    pub exposure_multiple: u32,
    /// 1 to 4 tiers, strictly increasing.
    pub tiers: Vec<CollateralTier>,
}

/// Accounts of `initialize_config`.
#[derive(Accounts)]
pub struct InitializeConfig<'info> {
    /// The program's upgrade authority.
    pub authority: Signer<'info>,
    /// Pays the rent.
    #[account(mut)]
    pub payer: Signer<'info>,
    /// The settings, made here.
    #[account(init, payer = payer, space = 8 + Config::INIT_SPACE, seeds = [CONFIG_SEED], bump)]
    pub config: Box<Account<'info, Config>>,
    /// CHECK: made here, at its own address, as a token account.
    #[account(mut, seeds = [TREASURY_SEED], bump)]
    pub treasury: UncheckedAccount<'info>,
    /// CHECK: read as a mint in `validate`.
    pub usdc_mint: UncheckedAccount<'info>,
    /// The loader's account about this program; says who may upgrade it.
    #[account(constraint = program_data.key() == program_data_address() @ MarketplaceError::WrongProgramData)]
    pub program_data: Box<Account<'info, ProgramData>>,
    pub token_program: Program<'info, Token>,
    pub system_program: Program<'info, System>,
}

/// Where the upgradeable loader keeps this program's code and upgrade authority.
fn program_data_address() -> Pubkey {
    Pubkey::find_program_address(&[crate::ID.as_ref()], &bpf_loader_upgradeable::ID).0
}

impl InitializeConfig<'_> {
    /// authority is the upgrade authority; usdc_mint is a classic mint of six decimals;
    /// config and treasury are at their addresses by their seeds.
    pub fn validate(&self, args: &InitializeConfigArgs) -> Result<()> {
        require!(
            self.program_data.upgrade_authority_address == Some(self.authority.key()),
            MarketplaceError::NotUpgradeAuthority
        );
        require!(
            self.usdc_mint.owner == &token::ID,
            MarketplaceError::InvalidMint
        );
        let data = self.usdc_mint.try_borrow_data()?;
        let mint =
            Mint::try_deserialize(&mut data.as_ref()).map_err(|_| MarketplaceError::InvalidMint)?;
        require!(
            mint.decimals == USDC_DECIMALS,
            MarketplaceError::InvalidMint
        );
        require!(
            args.tiers.len() <= usize::from(MAX_COLLATERAL_TIERS),
            MarketplaceError::InvalidTiers
        );
        Ok(())
    }
}

/// Write the settings and open the treasury.
pub fn initialize_config_handler(
    ctx: Context<InitializeConfig>,
    args: InitializeConfigArgs,
) -> Result<()> {
    let accounts = ctx.accounts;
    let mut tiers = [CollateralTier::default(); MAX_COLLATERAL_TIERS as usize];
    for (slot, tier) in tiers.iter_mut().zip(&args.tiers) {
        *slot = *tier;
    }
    let config = &mut accounts.config;
    config.set_inner(Config {
        version: ACCOUNT_VERSION,
        bump: ctx.bumps.config,
        treasury_bump: ctx.bumps.treasury,
        opens_paused: false,
        fee_bps: args.fee_bps,
        tier_count: u8::try_from(args.tiers.len()).map_err(|_| MarketplaceError::InvalidTiers)?,
        admin: args.admin,
        pending_admin: Pubkey::default(),
        relay_authority: args.relay_authority,
        usdc_mint: accounts.usdc_mint.key(),
        min_price: args.min_price,
        dispute_bond_lamports: args.dispute_bond_lamports,
        dispute_window_seconds: args.dispute_window_seconds,
        refund_grace_seconds: args.refund_grace_seconds,
        max_timeout_seconds: args.max_timeout_seconds,
        longest_span_seconds: 0,
        exposure_multiple: args.exposure_multiple,
        tiers,
    });
    config.longest_span_seconds = config.span_seconds();
    config.invariant()?;

    // The treasury owns itself: no key, and nobody but this program, can close or reassign it.
    create_token_account(
        &accounts.payer,
        &accounts.treasury,
        &[TREASURY_SEED, &[ctx.bumps.treasury]],
        &accounts.usdc_mint,
        &accounts.treasury,
        &accounts.token_program,
        &accounts.system_program,
    )?;
    emit!(ConfigInitialized {
        config: accounts.config.key(),
        admin: args.admin,
        relay_authority: args.relay_authority,
        usdc_mint: accounts.usdc_mint.key(),
        treasury: accounts.treasury.key(),
        fee_bps: args.fee_bps,
    });
    Ok(())
}
