//! Makes a deposit and its vault, to which a payer without SOL then pays by a plain transfer.

use anchor_lang::prelude::*;
use anchor_spl::associated_token::AssociatedToken;
use anchor_spl::token::Token;
use solana_sdk_ids::system_program;

use crate::addresses::require_address;
use crate::constants::*;
use crate::creation::{create_associated_account, create_state};
use crate::errors::MarketplaceError;
use crate::events::DepositPrepared;
use crate::guard::fail;
use crate::instructions::open_execution::require_rent_sponsor;
use crate::packing::emit;
use crate::state::{Config, Deposit};
use crate::tokens;

/// Arguments of `prepare_deposit`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct PrepareDepositArgs {
    /// SHA-256 of what is to be bought; see `DepositTerms`.
    pub terms_hash: [u8; 32],
    /// The payer that the quote names; the zero key where it names none.
    pub quoted_payer: Pubkey,
    /// Price of the execution, base units.
    pub price: u64,
    /// What the marketplace gets beyond it, base units, at most `MAX_SERVICE_FEE`.
    pub service_fee: u64,
    /// Who buys: the quoted payer, or where the quote names none, who is about to pay.
    pub caller: Pubkey,
}

impl PrepareDepositArgs {
    fn hash(&self) -> [u8; 32] {
        Deposit::hash_of(
            &self.terms_hash,
            &self.quoted_payer,
            self.price,
            self.service_fee,
        )
    }
}

/// Accounts of `prepare_deposit`.
#[derive(Accounts)]
pub struct PrepareDeposit<'info> {
    /// A relay authority, or anyone where the vault is paid already and the payer is named.
    pub authority: Signer<'info>,
    /// Lends the rent.
    #[account(mut)]
    pub payer: Signer<'info>,
    /// CHECK: who gets the rent back: any account that the payer names; checked in `validate`.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
    #[account(address = CONFIG_ADDRESS, has_one = usdc_mint @ fail(MarketplaceError::WrongMint))]
    pub config: Box<Account<'info, Config>>,
    /// CHECK: at the address that the arguments make, checked in `validate`; made here.
    #[account(mut)]
    pub deposit: UncheckedAccount<'info>,
    /// CHECK: the deposit's associated token account, by its seeds; made here unless it is there, checked in `validate`.
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
    /// authority may prepare it; deposit is at its address; vault is to be made, or the deposit's; that the deposit is new is
    /// seen where it is made.
    pub fn validate(&self, args: &PrepareDepositArgs) -> Result<()> {
        ensure!(
            self.config.is_relay_authority(self.authority.key) || self.is_rescue(args),
            MarketplaceError::NotRelayAuthority
        );
        ensure!(
            args.service_fee <= MAX_SERVICE_FEE,
            MarketplaceError::ServiceFeeOutOfBounds
        );
        ensure!(
            args.quoted_payer == Pubkey::default() || args.quoted_payer == args.caller,
            MarketplaceError::DepositCallerMismatch
        );
        let (address, _) = Pubkey::find_program_address(&[DEPOSIT_SEED, &args.hash()], &crate::ID);
        require_address(self.deposit.key, &address)?;
        require_rent_sponsor(&self.rent_sponsor, &self.deposit, &self.vault)?;
        ensure!(
            self.vault.owner == &system_program::ID
                || tokens::can_receive_for(&self.vault, self.usdc_mint.key, self.deposit.key),
            MarketplaceError::DepositVaultUnsound
        );
        Ok(())
    }

    /// Whether the money is there already, and whose it is does not depend on who says so.
    fn is_rescue(&self, args: &PrepareDepositArgs) -> bool {
        args.quoted_payer != Pubkey::default()
            && Deposit::is_paid_by(
                args.price,
                args.service_fee,
                tokens::held_for(&self.vault, self.deposit.key),
            )
    }
}

/// Make both.
pub fn prepare_deposit_handler(
    ctx: Context<PrepareDeposit>,
    args: PrepareDepositArgs,
) -> Result<()> {
    let accounts = ctx.accounts;
    let now = Clock::get()?.unix_timestamp;
    let hash = args.hash();
    let (_, bump) = Pubkey::find_program_address(&[DEPOSIT_SEED, &hash], &crate::ID);
    let deposit = Deposit {
        version: ACCOUNT_VERSION,
        bump,
        vault_bump: ctx.bumps.vault,
        hash,
        caller: args.caller,
        rent_sponsor: accounts.rent_sponsor.key(),
        price: args.price,
        service_fee: args.service_fee,
        prepared_at: now,
        expires_at: now.saturating_add(DEPOSIT_SECONDS),
    };
    create_state(
        &accounts.payer,
        &accounts.deposit,
        &deposit.seeds(),
        &deposit,
    )?;
    if accounts.vault.owner == &system_program::ID {
        create_associated_account(
            &accounts.payer,
            &accounts.vault,
            &accounts.deposit,
            &accounts.usdc_mint,
            [
                accounts.associated_token_program.as_ref(),
                accounts.token_program.as_ref(),
                accounts.system_program.as_ref(),
            ],
        )?;
    }
    emit(&DepositPrepared {
        deposit: accounts.deposit.key(),
        terms_hash: args.terms_hash,
        quoted_payer: args.quoted_payer,
        caller: deposit.caller,
        rent_sponsor: deposit.rent_sponsor,
        price: deposit.price,
        service_fee: deposit.service_fee,
        prepared_at: now,
        expires_at: deposit.expires_at,
    })
}
