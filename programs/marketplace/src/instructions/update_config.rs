//! Changes settings, each within its bounds. Executions that are open keep those that they were opened with.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::{ConfigSettings, ConfigUpdated};
use crate::guard::fail;
use crate::packing::emit;
use crate::state::{CollateralTier, Config};

/// Arguments of `update_config`: what is absent stays as it is.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct UpdateConfigArgs {
    /// True stops every new execution; settling and refunding go on.
    pub opens_paused: Option<bool>,
    /// The marketplace's share, basis points.
    pub fee_bps: Option<u16>,
    /// Lowest price, base units.
    pub min_price: Option<u64>,
    /// Bond of a dispute, lamports.
    pub dispute_bond_lamports: Option<u64>,
    /// How long after its settle an execution can be disputed.
    pub dispute_window_seconds: Option<u32>,
    /// Time from an execution's deadline to the refund that anyone may trigger.
    pub refund_grace_seconds: Option<u32>,
    /// Longest timeout a listing may offer.
    pub max_timeout_seconds: Option<u32>,
    /// Limit of the prices opened in a window as a multiple of the collateral; 0 = none.
    pub exposure_multiple: Option<u32>,
    /// 1 to 4 tiers, strictly increasing; replaces all.
    pub tiers: Option<Vec<CollateralTier>>,
}

/// Accounts of `update_config`.
#[derive(Accounts)]
pub struct UpdateConfig<'info> {
    /// The admin.
    pub admin: Signer<'info>,
    #[account(mut, address = CONFIG_ADDRESS, has_one = admin @ fail(MarketplaceError::NotAdmin))]
    pub config: Box<Account<'info, Config>>,
}

impl UpdateConfig<'_> {
    /// Nothing beyond the constraints; the bounds are the config's invariant.
    pub fn validate(&self, _args: &UpdateConfigArgs) -> Result<()> {
        Ok(())
    }
}

/// Take what is given, and check all.
pub fn update_config_handler(ctx: Context<UpdateConfig>, args: UpdateConfigArgs) -> Result<()> {
    let config = &mut ctx.accounts.config;
    set(&mut config.opens_paused, args.opens_paused);
    set(&mut config.fee_bps, args.fee_bps);
    set(&mut config.min_price, args.min_price);
    set(
        &mut config.dispute_bond_lamports,
        args.dispute_bond_lamports,
    );
    set(
        &mut config.dispute_window_seconds,
        args.dispute_window_seconds,
    );
    set(&mut config.refund_grace_seconds, args.refund_grace_seconds);
    set(&mut config.max_timeout_seconds, args.max_timeout_seconds);
    set(&mut config.exposure_multiple, args.exposure_multiple);
    if let Some(tiers) = args.tiers {
        config.set_tiers(&tiers)?;
    }
    config.lengthen_span();
    config.invariant()?;
    emit(&ConfigUpdated {
        config: config.key(),
        settings: ConfigSettings::of(config),
    })
}

fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}
