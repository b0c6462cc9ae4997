//! Creates a deposit and its vault. A payer without SOL then pays into the vault by a plain transfer.

use anchor_lang::prelude::*;
use anchor_spl::associated_token::AssociatedToken;
use anchor_spl::token::Token;
use solana_sdk_ids::system_program;

use crate::constants::*;
use crate::creation::{create_associated_account, save, space_of};
use crate::errors::MarketplaceError;
use crate::events::DepositPrepared;
use crate::guard::fail;
use crate::instructions::opening::require_rent_sponsor;
use crate::state::{Config, Deposit};
use crate::tokens;

/// Arguments of `prepare_deposit`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct PrepareDepositArgs {
    /// SHA-256 of the deposit's terms; see `DepositTerms`.
    pub terms_hash: [u8; 32],
    /// The payer that the quote names; the zero key if it names none.
    pub quoted_payer: Pubkey,
    /// Price of the execution, base units.
    pub price: u64,
    /// The marketplace's service fee on top of the price, base units, at most `MAX_SERVICE_FEE`.
    pub service_fee: u64,
    /// The wallet that buys: the quoted payer, or, if the quote names none, the wallet that is about to pay.
    pub caller: Pubkey,
}

impl PrepareDepositArgs {
    fn hash(&self) -> [u8; 32] {
        Deposit::hash_of(&self.terms_hash, &self.quoted_payer, self.price, self.service_fee)
    }
}

/// Accounts of `prepare_deposit`.
#[derive(Accounts)]
#[instruction(args: PrepareDepositArgs)]
pub struct PrepareDeposit<'info> {
    /// A relay authority, or anyone if `quoted_payer` is set and the vault is already paid.
    pub authority: Signer<'info>,
    /// Lends the rent.
    #[account(mut)]
    pub payer: Signer<'info>,
    /// CHECK: gets the rent back; any account that the payer names; checked in `validate`.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
    #[account(address = CONFIG_ADDRESS, has_one = usdc_mint @ fail(MarketplaceError::WrongMint))]
    pub config: Box<Account<'info, Config>>,
    /// The new deposit.
    #[account(
        init,
        payer = payer,
        space = space_of::<Deposit>(),
        seeds = [DEPOSIT_SEED, &PrepareDepositArgs::hash(&args)],
        bump
    )]
    pub deposit: Box<Account<'info, Deposit>>,
    /// CHECK: the deposit's associated token account, by its seeds; created here if missing, checked in `validate`.
    #[account(
        mut,
        seeds = [deposit.key().as_ref(), token_program.key().as_ref(), usdc_mint.key().as_ref()],
        seeds::program = associated_token_program.key(),
        bump
    )]
    pub vault: UncheckedAccount<'info>,
    /// CHECK: the settlement mint, by the config's has_one.
    pub usdc_mint: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
    pub associated_token_program: Program<'info, AssociatedToken>,
    pub system_program: Program<'info, System>,
}

impl PrepareDeposit<'_> {
    /// authority may prepare it; vault does not exist yet, or belongs to the deposit; the constraints check the rest.
    pub fn validate(&self, args: &PrepareDepositArgs) -> Result<()> {
        ensure!(
            self.config.is_relay_authority(self.authority.key) || self.is_rescue(args),
            NotRelayAuthority
        );
        ensure!(args.service_fee <= MAX_SERVICE_FEE, ServiceFeeOutOfBounds);
        ensure!(
            args.quoted_payer == Pubkey::default() || args.quoted_payer == args.caller,
            DepositCallerMismatch
        );
        let deposit = self.deposit.as_ref().as_ref();
        require_rent_sponsor(&self.rent_sponsor, deposit, &self.vault)?;
        ensure!(
            self.vault.owner == &system_program::ID
                || tokens::can_receive_for(&self.vault, self.usdc_mint.key, deposit.key),
            DepositVaultUnsound
        );
        Ok(())
    }

    /// True if the vault is already paid and `quoted_payer` is set, so the authority cannot choose the caller.
    fn is_rescue(&self, args: &PrepareDepositArgs) -> bool {
        args.quoted_payer != Pubkey::default()
            && Deposit::is_paid_by(
                args.price,
                args.service_fee,
                tokens::held_for(&self.vault, &self.deposit.key()),
            )
    }
}

/// Create the deposit, and its vault if it does not exist.
pub fn prepare_deposit_handler(
    ctx: Context<PrepareDeposit>,
    args: PrepareDepositArgs,
) -> Result<()> {
    let accounts = ctx.accounts;
    let now = Clock::get()?.unix_timestamp;
    accounts.deposit.set_inner(Deposit {
        version: ACCOUNT_VERSION,
        bump: ctx.bumps.deposit,
        vault_bump: ctx.bumps.vault,
        hash: args.hash(),
        caller: args.caller,
        rent_sponsor: accounts.rent_sponsor.key(),
        price: args.price,
        service_fee: args.service_fee,
        prepared_at: now,
        expires_at: now.saturating_add(DEPOSIT_SECONDS),
    });
    save(&accounts.deposit)?;
    if accounts.vault.owner == &system_program::ID {
        create_associated_account(
            &accounts.payer,
            &accounts.vault,
            accounts.deposit.as_ref().as_ref(),
            &accounts.usdc_mint,
            [
                accounts.associated_token_program.as_ref(),
                accounts.token_program.as_ref(),
                accounts.system_program.as_ref(),
            ],
        )?;
    }
    let deposit = &accounts.deposit;
    emit!(DepositPrepared {
        deposit: deposit.key(),
        terms_hash: args.terms_hash,
        quoted_payer: args.quoted_payer,
        caller: deposit.caller,
        rent_sponsor: deposit.rent_sponsor,
        price: deposit.price,
        service_fee: deposit.service_fee,
        prepared_at: now,
        expires_at: deposit.expires_at,
    });
    Ok(())
}
