//! Makes program and token accounts at program addresses. A stranger can send lamports to an
//! address before it is used, and the system program's plain creation then refuses; this way of
//! making them does not.

use anchor_lang::prelude::*;
use anchor_lang::system_program;
use anchor_spl::token::{self, InitializeAccount3, Token, TokenAccount};

use crate::errors::MarketplaceError;

/// Allocate `space` bytes at the address of `seeds`, owned by `owner`, rent paid by `payer`.
pub fn create_account<'info>(
    payer: &Signer<'info>,
    account: &AccountInfo<'info>,
    seeds: &[&[u8]],
    space: usize,
    owner: &Pubkey,
    system: &Program<'info, System>,
) -> Result<()> {
    let rent = Rent::get()?.minimum_balance(space);
    let space = u64::try_from(space).map_err(|_| MarketplaceError::ArithmeticOverflow)?;
    let signer = [seeds];
    if account.lamports() == 0 {
        let accounts = system_program::CreateAccount {
            from: payer.to_account_info(),
            to: account.clone(),
        };
        let context = CpiContext::new_with_signer(system.to_account_info(), accounts, &signer);
        return system_program::create_account(context, rent, space, owner);
    }
    let missing = rent.saturating_sub(account.lamports());
    if missing > 0 {
        let accounts = system_program::Transfer {
            from: payer.to_account_info(),
            to: account.clone(),
        };
        system_program::transfer(CpiContext::new(system.to_account_info(), accounts), missing)?;
    }
    let accounts = system_program::Allocate {
        account_to_allocate: account.clone(),
    };
    system_program::allocate(
        CpiContext::new_with_signer(system.to_account_info(), accounts, &signer),
        space,
    )?;
    let accounts = system_program::Assign {
        account_to_assign: account.clone(),
    };
    system_program::assign(
        CpiContext::new_with_signer(system.to_account_info(), accounts, &signer),
        owner,
    )
}

/// Make a token account of `mint` at the address of `seeds`, with `authority` as its owner.
#[allow(clippy::too_many_arguments)]
pub fn create_token_account<'info>(
    payer: &Signer<'info>,
    account: &AccountInfo<'info>,
    seeds: &[&[u8]],
    mint: &AccountInfo<'info>,
    authority: &AccountInfo<'info>,
    token_program: &Program<'info, Token>,
    system: &Program<'info, System>,
) -> Result<()> {
    create_account(
        payer,
        account,
        seeds,
        TokenAccount::LEN,
        token_program.key,
        system,
    )?;
    let accounts = InitializeAccount3 {
        account: account.clone(),
        mint: mint.clone(),
        authority: authority.clone(),
    };
    token::initialize_account3(CpiContext::new(token_program.to_account_info(), accounts))
}

/// Make one of our own accounts at the address of `seeds` and write `value` into it.
pub fn create_state<'info, T: AccountSerialize + Space + Discriminator>(
    payer: &Signer<'info>,
    account: &AccountInfo<'info>,
    seeds: &[&[u8]],
    value: &T,
    system: &Program<'info, System>,
) -> Result<()> {
    let space = T::DISCRIMINATOR.len().saturating_add(T::INIT_SPACE);
    create_account(payer, account, seeds, space, &crate::ID, system)?;
    write_state(account, value)
}

/// Write `value` over an account of ours.
pub fn write_state<T: AccountSerialize>(account: &AccountInfo, value: &T) -> Result<()> {
    let mut data = account.try_borrow_mut_data()?;
    let mut writer: &mut [u8] = &mut data;
    value.try_serialize(&mut writer)
}

/// Read a token account of the classic Token program, or nothing where the account is not one.
pub fn read_token_account(account: &AccountInfo) -> Option<TokenAccount> {
    if account.owner != &token::ID {
        return None;
    }
    let data = account.try_borrow_data().ok()?;
    TokenAccount::try_deserialize(&mut data.as_ref()).ok()
}
