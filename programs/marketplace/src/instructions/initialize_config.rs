//! Creates the marketplace: its settings and its treasury.

use anchor_lang::prelude::*;
use anchor_spl::token::{self, Mint, Token};
use solana_sdk_ids::bpf_loader_upgradeable;

use crate::constants::*;
use crate::creation::{create_state, create_token_account, Funder};
use crate::errors::MarketplaceError;
use crate::events::{ConfigInitialized, ConfigSettings};
use crate::guard::fail;
use crate::packing::emit;
use crate::state::{CollateralTier, Config};

/// First settings; each within the bounds of `constants.rs`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct InitializeConfigArgs {
    /// Who may change settings, verify creators and resolve disputes.
    pub admin: Pubkey,
    /// Who may pause opens, remove relay authorities and drop changes that wait; the zero key for nobody.
    pub guardian: Pubkey,
    /// Who may settle and refund, and open for API keys: 1 to 8 distinct keys.
    pub relay_authorities: Vec<Pubkey>,
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
    /// How long a change that widens power waits; 0 = not at all, for a local network.
    pub admin_delay_seconds: u32,
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
    /// CHECK: made here, at its own address.
    #[account(mut, address = CONFIG_ADDRESS)]
    pub config: UncheckedAccount<'info>,
    /// CHECK: made here, at its own address, as a token account.
    #[account(mut, address = TREASURY_ADDRESS)]
    pub treasury: UncheckedAccount<'info>,
    /// CHECK: read as a mint in `validate`.
    pub usdc_mint: UncheckedAccount<'info>,
    /// CHECK: the loader's account about this program, which says who may upgrade it; read in `validate`.
    pub program_data: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
    pub system_program: Program<'info, System>,
}

/// The program's upgrade authority, by the account in which the upgradeable loader keeps its code: a u32 that
/// says ProgramData, a u64 slot, then 1 and the authority where there is one.
fn upgrade_authority(program_data: &AccountInfo) -> Result<Option<Pubkey>> {
    let address =
        Pubkey::find_program_address(&[crate::ID.as_ref()], &bpf_loader_upgradeable::ID).0;
    let data = program_data.try_borrow_data()?;
    ensure!(
        program_data.key() == address
            && program_data.owner == &bpf_loader_upgradeable::ID
            && data.starts_with(&3u32.to_le_bytes()),
        MarketplaceError::WrongProgramData
    );
    let authority = match (data.get(12), data.get(13..45)) {
        (Some(1), Some(bytes)) => Pubkey::try_from(bytes).ok(),
        _ => None,
    };
    Ok(authority)
}

impl InitializeConfig<'_> {
    /// authority is the upgrade authority; usdc_mint is a classic mint of six decimals;
    /// config and treasury are at their addresses by their seeds.
    pub fn validate(&self, args: &InitializeConfigArgs) -> Result<()> {
        ensure!(
            upgrade_authority(&self.program_data)? == Some(self.authority.key()),
            MarketplaceError::NotUpgradeAuthority
        );
        ensure!(
            self.usdc_mint.owner == &token::ID,
            MarketplaceError::InvalidMint
        );
        let data = self.usdc_mint.try_borrow_data()?;
        let mint = Mint::try_deserialize(&mut data.as_ref())
            .map_err(|_| fail(MarketplaceError::InvalidMint))?;
        ensure!(
            mint.decimals == USDC_DECIMALS,
            MarketplaceError::InvalidMint
        );
        ensure!(
            args.admin != Pubkey::default(),
            MarketplaceError::InvalidAuthority
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
    let mut config = Box::new(Config {
        version: ACCOUNT_VERSION,
        bump: CONFIG_BUMP,
        treasury_bump: TREASURY_BUMP,
        opens_paused: false,
        fee_bps: args.fee_bps,
        tier_count: 0,
        relay_authority_count: 0,
        admin: args.admin,
        pending_admin: Pubkey::default(),
        guardian: args.guardian,
        usdc_mint: accounts.usdc_mint.key(),
        min_price: args.min_price,
        dispute_bond_lamports: args.dispute_bond_lamports,
        dispute_window_seconds: args.dispute_window_seconds,
        refund_grace_seconds: args.refund_grace_seconds,
        max_timeout_seconds: args.max_timeout_seconds,
        longest_span_seconds: 0,
        exposure_multiple: args.exposure_multiple,
        admin_delay_seconds: args.admin_delay_seconds,
        tiers: Default::default(),
        relay_authorities: Default::default(),
        reserved: [0; 64],
    });
    config.set_relay_authorities(&args.relay_authorities)?;
    config.set_tiers(&args.tiers)?;
    config.lengthen_span();
    config.invariant()?;
    create_state(
        &accounts.payer,
        &accounts.config,
        &[CONFIG_SEED, &[config.bump]],
        &*config,
    )?;

    // The treasury owns itself: no key, and nobody but this program, can close or reassign it.
    create_token_account(
        &Funder::wallet(&accounts.payer),
        &accounts.treasury,
        &[TREASURY_SEED, &[config.treasury_bump]],
        &accounts.usdc_mint,
        &accounts.treasury,
        &accounts.token_program,
    )?;
    emit(&ConfigInitialized {
        config: CONFIG_ADDRESS,
        admin: args.admin,
        guardian: args.guardian,
        relay_authorities: args.relay_authorities,
        usdc_mint: config.usdc_mint,
        treasury: TREASURY_ADDRESS,
        settings: ConfigSettings::of(&config),
    })
}
