//! Withdraws lamports from a wallet's gas balance. Anyone can add to it by a plain transfer.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::creation::Funder;
use crate::events::GasWithdrawn;
use crate::instructions::require_sound_gas_balance;

/// Arguments of `withdraw_gas`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct WithdrawGasArgs {
    /// Lamports to withdraw; `u64::MAX` for all.
    pub lamports: u64,
}

/// Accounts of `withdraw_gas`.
#[derive(Accounts)]
pub struct WithdrawGas<'info> {
    /// The wallet, which receives the lamports.
    #[account(mut)]
    pub wallet: Signer<'info>,
    /// CHECK: the wallet's `Spender` address, by its seeds: a system account without data.
    #[account(mut, seeds = [SPENDER_SEED, wallet.key().as_ref()], bump)]
    pub spender: UncheckedAccount<'info>,
    pub system_program: Program<'info, System>,
}

impl WithdrawGas<'_> {
    fn amount(&self, args: &WithdrawGasArgs) -> u64 {
        if args.lamports == u64::MAX {
            self.spender.lamports()
        } else {
            args.lamports
        }
    }

    /// The gas balance covers the amount; the constraints check the rest.
    pub fn validate(&self, args: &WithdrawGasArgs) -> Result<()> {
        let lamports = self.amount(args);
        ensure!(lamports > 0 && lamports <= self.spender.lamports(), InvalidAmount);
        Ok(())
    }
}

/// Move the lamports. The rest is zero or rent-exempt.
pub fn withdraw_gas_handler(ctx: Context<WithdrawGas>, args: WithdrawGasArgs) -> Result<()> {
    let accounts = ctx.accounts;
    let wallet = accounts.wallet.key();
    let lamports = accounts.amount(&args);
    let spender = Funder {
        account: &accounts.spender,
        seeds: &[SPENDER_SEED, wallet.as_ref(), &[ctx.bumps.spender]],
        system_program: &accounts.system_program,
    };
    spender.send(&accounts.wallet, lamports)?;
    require_sound_gas_balance(&accounts.spender)?;
    emit!(GasWithdrawn {
        wallet,
        spender: accounts.spender.key(),
        lamports,
        remaining: accounts.spender.lamports(),
    });
    Ok(())
}
