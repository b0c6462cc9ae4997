//! Creates the marketplace: its settings, its treasury and its account of unclaimed refunds.

use anchor_lang::prelude::*;
use anchor_spl::token::{self, Mint, Token};
use solana_sdk_ids::bpf_loader_upgradeable;

use crate::constants::*;
use crate::creation::{create_token_account, save, space_of, Funder};
use crate::errors::MarketplaceError;
use crate::events::{ConfigInitialized, ConfigSettings};
use crate::guard::fail;
use crate::state::{CollateralTier, Config};

/// First settings; each within the bounds of `constants.rs`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct InitializeConfigArgs {
    /// The key that changes settings, verifies creators and resolves disputes.
    pub admin: Pubkey,
    /// The key that can pause the marketplace, remove relay authorities and cancel pending changes; the zero key for none.
    pub guardian: Pubkey,
    /// The keys that can settle and refund, and open for API keys: 1 to 8 distinct keys.
    pub relay_authorities: Vec<Pubkey>,
    /// The marketplace's fee, basis points.
    pub fee_bps: u16,
    /// Lowest price of a listing, base units.
    pub min_price: u64,
    /// Bond of a dispute, lamports.
    pub dispute_bond_lamports: u64,
    /// Dispute window after a settle, seconds.
    pub dispute_window_seconds: u32,
    /// Time from an execution's deadline to its `refund_at`, seconds.
    pub refund_grace_seconds: u32,
    /// Longest timeout that a listing may offer, seconds.
    pub max_timeout_seconds: u32,
    /// Time from a paid execution's end until its record can be archived, seconds.
    pub record_seconds: u32,
    /// Limit of the prices opened in one dispute window, as a multiple of the collateral; 0 for no limit.
    pub exposure_multiple: u32,
    /// Delay before a proposed change can be applied, seconds; 0 for none, for a local network.
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
    /// The new config.
    #[account(init, payer = payer, space = space_of::<Config>(), seeds = [CONFIG_SEED], bump)]
    pub config: Box<Account<'info, Config>>,
    /// CHECK: the new treasury, by its address; created here as a token account.
    #[account(mut, address = TREASURY_ADDRESS)]
    pub treasury: UncheckedAccount<'info>,
    /// CHECK: the new account of unclaimed refunds, by its address; created here as a token account.
    #[account(mut, address = UNCLAIMED_ADDRESS)]
    pub unclaimed: UncheckedAccount<'info>,
    /// CHECK: read as a mint in `validate`.
    pub usdc_mint: UncheckedAccount<'info>,
    /// CHECK: this program's ProgramData account, which names its upgrade authority; checked in `validate`.
    pub program_data: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
    pub system_program: Program<'info, System>,
}

/// The program's upgrade authority, from the ProgramData account of the upgradeable loader. Layout: the u32 3 for
/// ProgramData, a u64 slot, then 1 and the authority if there is one.
fn upgrade_authority(program_data: &AccountInfo) -> Result<Option<Pubkey>> {
    let address =
        Pubkey::find_program_address(&[crate::ID.as_ref()], &bpf_loader_upgradeable::ID).0;
    let data = program_data.try_borrow_data()?;
    ensure!(
        program_data.key() == address
            && program_data.owner == &bpf_loader_upgradeable::ID
            && data.starts_with(&3u32.to_le_bytes()),
        WrongProgramData
    );
    let authority = match (data.get(12), data.get(13..45)) {
        (Some(1), Some(bytes)) => Pubkey::try_from(bytes).ok(),
        _ => None,
    };
    Ok(authority)
}

impl InitializeConfig<'_> {
    /// authority is the upgrade authority; usdc_mint is a classic mint of six decimals; the admin is not the zero key.
    /// The constraints check the rest.
    pub fn validate(&self, args: &InitializeConfigArgs) -> Result<()> {
        ensure!(
            upgrade_authority(&self.program_data)? == Some(self.authority.key()),
            NotUpgradeAuthority
        );
        ensure!(self.usdc_mint.owner == &token::ID, InvalidMint);
        let data = self.usdc_mint.try_borrow_data()?;
        let mint = Mint::try_deserialize(&mut data.as_ref())
            .map_err(|_| fail(MarketplaceError::InvalidMint))?;
        ensure!(mint.decimals == USDC_DECIMALS, InvalidMint);
        ensure!(args.admin != Pubkey::default(), InvalidAuthority);
        Ok(())
    }
}

/// Write the settings and create the two token accounts.
pub fn initialize_config_handler(
    ctx: Context<InitializeConfig>,
    args: InitializeConfigArgs,
) -> Result<()> {
    let accounts = ctx.accounts;
    let config = &mut accounts.config;
    config.set_inner(Config {
        version: ACCOUNT_VERSION,
        admin_paused: false,
        guardian_paused: false,
        fee_bps: args.fee_bps,
        tier_count: 0,
        relay_authority_count: 0,
        admin: args.admin,
        guardian: args.guardian,
        usdc_mint: accounts.usdc_mint.key(),
        min_price: args.min_price,
        dispute_bond_lamports: args.dispute_bond_lamports,
        dispute_window_seconds: args.dispute_window_seconds,
        refund_grace_seconds: args.refund_grace_seconds,
        max_timeout_seconds: args.max_timeout_seconds,
        record_seconds: args.record_seconds,
        longest_span_seconds: 0,
        exposure_multiple: args.exposure_multiple,
        admin_delay_seconds: args.admin_delay_seconds,
        changes_valid_from: 0,
        admin_since: 0,
        tiers: Default::default(),
        relay_authorities: Default::default(),
        reserved: [0; 64],
    });
    config.set_relay_authorities(&args.relay_authorities)?;
    config.set_tiers(&args.tiers)?;
    config.lengthen_span();
    config.invariant()?;
    save(config)?;

    // Both token accounts own themselves, so only this program can close or reassign them.
    let accounts_and_seeds: [(&AccountInfo, &[&[u8]]); 2] = [
        (&accounts.treasury, &[TREASURY_SEED, &[TREASURY_BUMP]]),
        (&accounts.unclaimed, &[UNCLAIMED_SEED, &[UNCLAIMED_BUMP]]),
    ];
    for (account, seeds) in accounts_and_seeds {
        create_token_account(
            &Funder::wallet(&accounts.payer, &accounts.system_program),
            account,
            seeds,
            &accounts.usdc_mint,
            account,
            &accounts.token_program,
        )?;
    }
    emit!(ConfigInitialized {
        config: CONFIG_ADDRESS,
        admin: args.admin,
        guardian: args.guardian,
        relay_authorities: args.relay_authorities,
        usdc_mint: config.usdc_mint,
        treasury: TREASURY_ADDRESS,
        settings: ConfigSettings::of(config),
    });
    Ok(())
}
