//! Withdraws collected fees from the treasury.

use anchor_lang::prelude::*;
use anchor_spl::token::Token;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::TreasuryWithdrawn;
use crate::guard::fail;
use crate::state::Config;
use crate::tokens::{self, TokenTransfer};

/// Arguments of `withdraw_treasury`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct WithdrawTreasuryArgs {
    /// Base units.
    pub amount: u64,
}

/// Accounts of `withdraw_treasury`.
#[derive(Accounts)]
pub struct WithdrawTreasury<'info> {
    /// The admin.
    pub admin: Signer<'info>,
    #[account(address = CONFIG_ADDRESS, has_one = admin @ fail(MarketplaceError::NotAdmin))]
    pub config: Box<Account<'info, Config>>,
    /// CHECK: the treasury, by its address.
    #[account(mut, address = TREASURY_ADDRESS)]
    pub treasury: UncheckedAccount<'info>,
    /// CHECK: any USDC account but the treasury itself; checked in `validate`.
    #[account(mut)]
    pub destination: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
}

impl WithdrawTreasury<'_> {
    /// The guardian has not paused the treasury, which holds the amount; destination is another account and can receive.
    /// The constraints check the rest.
    pub fn validate(&self, args: &WithdrawTreasuryArgs) -> Result<()> {
        self.config.require_treasury_open()?;
        ensure!(args.amount > 0 && args.amount <= tokens::balance(&self.treasury), InvalidAmount);
        ensure!(
            self.destination.key() != TREASURY_ADDRESS
                && tokens::can_receive(&self.destination, &self.config.usdc_mint),
            DestinationUnusable
        );
        Ok(())
    }
}

/// Move the amount.
pub fn withdraw_treasury_handler(
    ctx: Context<WithdrawTreasury>,
    args: WithdrawTreasuryArgs,
) -> Result<()> {
    let accounts = ctx.accounts;
    let transfer = TokenTransfer {
        authority: accounts.treasury.to_account_info(),
        seeds: &[TREASURY_SEED, &[TREASURY_BUMP]],
        token_program: &accounts.token_program,
    };
    transfer.send(&accounts.treasury, &accounts.destination, args.amount)?;
    emit!(TreasuryWithdrawn {
        treasury: accounts.treasury.key(),
        destination: accounts.destination.key(),
        amount: args.amount,
        remaining: tokens::balance(&accounts.treasury),
    });
    Ok(())
}
