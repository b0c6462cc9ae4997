//! Creates accounts where Anchor's `init` does not fit: a gas balance may lend the rent, and an account may need more
//! lamports than its rent. Like `init`, it works where a stranger has sent lamports to the address before. Also decides
//! who can give and take lamports.

use anchor_lang::prelude::*;
use anchor_lang::system_program::{self, Allocate, Assign, CreateAccount, Transfer};
use anchor_spl::associated_token;
use anchor_spl::token::{self, InitializeAccount3, Token, TokenAccount};

use crate::errors::MarketplaceError;
use crate::guard::fail;

/// The account whose lamports pay: a wallet that signed the transaction, or an address of this program with its seeds.
pub struct Funder<'a, 'info> {
    pub account: &'a AccountInfo<'info>,
    /// Seeds of the account if it is an address of this program; empty if it signed the transaction.
    pub seeds: &'a [&'a [u8]],
    pub system_program: &'a Program<'info, System>,
}

impl<'a, 'info> Funder<'a, 'info> {
    /// A wallet that signed the transaction.
    pub fn wallet(
        account: &'a AccountInfo<'info>,
        system_program: &'a Program<'info, System>,
    ) -> Self {
        Funder { account, seeds: &[], system_program }
    }

    /// Move lamports to an account. Does nothing if the amount is zero.
    pub fn send(&self, to: &AccountInfo<'info>, lamports: u64) -> Result<()> {
        if lamports == 0 {
            return Ok(());
        }
        let accounts = Transfer { from: self.account.clone(), to: to.clone() };
        let program = self.system_program.to_account_info();
        let signers = [self.seeds];
        let context = CpiContext::new(program, accounts).with_signer(used(&signers));
        system_program::transfer(context, lamports)
    }
}

/// Seeds that sign a call. Empty seeds sign nothing: then the account signed the transaction.
pub fn used<'a, 'b, 'c>(signers: &'a [&'b [&'c [u8]]]) -> &'a [&'b [&'c [u8]]] {
    match signers.split_first() {
        Some(([], rest)) => rest,
        _ => signers,
    }
}

/// Allocate `space` bytes at the address of `seeds`, owned by `owner`; the funder pays rent and `extra` lamports.
#[inline(never)]
pub fn create_account<'info>(
    funder: &Funder<'_, 'info>,
    account: &AccountInfo<'info>,
    seeds: &[&[u8]],
    space: usize,
    owner: &Pubkey,
    extra: u64,
) -> Result<()> {
    ensure!(account.owner == &system_program::ID, AccountExists);
    let lamports = rent_exempt_minimum(space)?
        .checked_add(extra)
        .ok_or_else(|| fail(MarketplaceError::ArithmeticOverflow))?;
    let space = u64::try_from(space).map_err(|_| fail(MarketplaceError::ArithmeticOverflow))?;
    let program = funder.system_program.to_account_info();
    if account.lamports() == 0 {
        let accounts = CreateAccount { from: funder.account.clone(), to: account.clone() };
        let signers = [funder.seeds, seeds];
        let context = CpiContext::new(program, accounts).with_signer(used(&signers));
        return system_program::create_account(context, lamports, space, owner);
    }
    funder.send(account, lamports.saturating_sub(account.lamports()))?;
    let signers = [seeds];
    let allocated = Allocate { account_to_allocate: account.clone() };
    let context = CpiContext::new(program.clone(), allocated).with_signer(&signers);
    system_program::allocate(context, space)?;
    let assigned = Assign { account_to_assign: account.clone() };
    system_program::assign(CpiContext::new(program, assigned).with_signer(&signers), owner)
}

/// Rent-exempt minimum of an account of `space` bytes, lamports.
pub fn rent_exempt_minimum(space: usize) -> Result<u64> {
    Ok(Rent::get()?.minimum_balance(space))
}

/// How many of `lamports` an account can give without failing the transaction: at most its balance above its rent.
/// After a rent increase, an account below its rent gives nothing: runtimes differ in whether it may lose lamports.
pub fn spendable(account: &AccountInfo, lamports: u64) -> Result<u64> {
    let above = account.lamports().saturating_sub(rent_exempt_minimum(account.data_len())?);
    Ok(lamports.min(above))
}

/// True if an account can receive lamports without failing the transaction: it is writable, is no program, and
/// is rent-exempt afterwards.
pub fn can_take(account: &AccountInfo, lamports: u64) -> Result<bool> {
    let after = account.lamports().saturating_add(lamports);
    Ok(account.is_writable
        && !account.executable
        && after >= rent_exempt_minimum(account.data_len())?)
}

/// The first of `takers` that can receive the rent of a token account that is about to be closed. A taker that cannot
/// receive lamports must not block the money of others.
pub fn first_taker<'a, 'info>(
    closing: &AccountInfo<'info>,
    takers: [&'a AccountInfo<'info>; 2],
) -> Result<Option<&'a AccountInfo<'info>>> {
    let lamports = closing.lamports();
    for taker in takers {
        if can_take(taker, lamports)? {
            return Ok(Some(taker));
        }
    }
    Ok(None)
}

/// Make a token account of `mint` at the address of `seeds`, with `authority` as its owner.
pub fn create_token_account<'info>(
    funder: &Funder<'_, 'info>,
    account: &AccountInfo<'info>,
    seeds: &[&[u8]],
    mint: &AccountInfo<'info>,
    authority: &AccountInfo<'info>,
    token_program: &Program<'info, Token>,
) -> Result<()> {
    create_account(funder, account, seeds, TokenAccount::LEN, token_program.key, 0)?;
    let accounts = InitializeAccount3 {
        account: account.clone(),
        mint: mint.clone(),
        authority: authority.clone(),
    };
    token::initialize_account3(CpiContext::new(token_program.to_account_info(), accounts))
}

/// Create the associated token account of `owner`. Only the program that derives its address can create it.
pub fn create_associated_account<'info>(
    funder: &Signer<'info>,
    account: &AccountInfo<'info>,
    owner: &AccountInfo<'info>,
    mint: &AccountInfo<'info>,
    [associated_token, token, system]: [&AccountInfo<'info>; 3],
) -> Result<()> {
    let accounts = associated_token::Create {
        payer: funder.to_account_info(),
        associated_token: account.clone(),
        authority: owner.clone(),
        mint: mint.clone(),
        system_program: system.clone(),
        token_program: token.clone(),
    };
    associated_token::create(CpiContext::new(associated_token.clone(), accounts))
}

/// Size of an account of this type, bytes, with its discriminator.
pub fn space_of<T: Space + Discriminator>() -> usize {
    T::DISCRIMINATOR.len().saturating_add(T::INIT_SPACE)
}

/// Write `value` over an account of this program.
pub fn write_state<T: AccountSerialize>(account: &AccountInfo, value: &T) -> Result<()> {
    let mut data = account.try_borrow_mut_data()?;
    value.try_serialize(&mut data.as_mut())
}

/// Write an account back before a call to another program, as Anchor does with `mut` accounts at the end.
pub fn save<T: AccountSerialize + AccountDeserialize + Owner + Clone>(
    account: &Account<T>,
) -> Result<()> {
    account.exit(&crate::ID)
}

/// The account as a `T`, or `None` if it is not one of this program.
pub fn read_state<T: AccountDeserialize>(account: &AccountInfo) -> Option<T> {
    if account.owner != &crate::ID {
        return None;
    }
    let data = account.try_borrow_data().ok()?;
    T::try_deserialize(&mut data.as_ref()).ok()
}
