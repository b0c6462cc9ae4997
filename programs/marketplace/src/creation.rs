//! Creates program and token accounts at program addresses. A stranger can send lamports to an
//! address before it is used, and the system program's `CreateAccount` then fails. The functions here
//! do not fail then.

use anchor_lang::prelude::*;
use anchor_spl::token::{Token, TokenAccount};
use solana_sdk_ids::system_program;

use crate::calls::{call, Role};
use crate::errors::MarketplaceError;
use crate::guard::fail;
use crate::packing::{pack, Packer};

/// Numbers of the system program's instructions.
const CREATE_ACCOUNT: u32 = 0;
const ASSIGN: u32 = 1;
const TRANSFER: u32 = 2;
const ALLOCATE: u32 = 8;
/// Number of the token program's instruction.
const INITIALIZE_ACCOUNT_3: u8 = 18;
/// Number of the associated token program's instruction.
const CREATE: u8 = 0;

/// Bytes that the runtime adds to every account when it counts rent.
const ACCOUNT_STORAGE_OVERHEAD: u64 = 128;

/// The account whose lamports pay: a wallet that signed the transaction, or an address of this program with its seeds.
pub struct Funder<'a, 'info> {
    pub account: &'a AccountInfo<'info>,
    /// Seeds of the account if it is an address of this program; empty if it signed the transaction.
    pub seeds: &'a [&'a [u8]],
}

impl<'a, 'info> Funder<'a, 'info> {
    /// A wallet that signed the transaction.
    pub fn wallet(account: &'a AccountInfo<'info>) -> Self {
        Funder {
            account,
            seeds: &[],
        }
    }

    /// Move lamports to an account. Does nothing if the amount is zero.
    pub fn send(&self, to: &AccountInfo<'info>, lamports: u64) -> Result<()> {
        if lamports == 0 {
            return Ok(());
        }
        let data = pack::<12>(&[&TRANSFER.to_le_bytes(), &lamports.to_le_bytes()])?;
        let accounts = [(self.account, Role::Gives), (to, Role::Writes)];
        call(&system_program::ID, &data, accounts, [self.seeds, &[]])
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
    ensure!(
        account.owner == &system_program::ID,
        MarketplaceError::AccountExists
    );
    let lamports = rent_exempt_minimum(space)?
        .checked_add(extra)
        .ok_or_else(|| fail(MarketplaceError::ArithmeticOverflow))?;
    let space = u64::try_from(space).map_err(|_| fail(MarketplaceError::ArithmeticOverflow))?;
    let (system, space) = (&system_program::ID, space.to_le_bytes());
    let made = (account, Role::Gives);
    if account.lamports() == 0 {
        let data = pack::<52>(&[
            &CREATE_ACCOUNT.to_le_bytes(),
            &lamports.to_le_bytes(),
            &space,
            owner.as_ref(),
        ])?;
        let accounts = [(funder.account, Role::Gives), made];
        return call(system, &data, accounts, [funder.seeds, seeds]);
    }
    funder.send(account, lamports.saturating_sub(account.lamports()))?;
    let allocate = pack::<12>(&[&ALLOCATE.to_le_bytes(), &space])?;
    call(system, &allocate, [made], [&[], seeds])?;
    let assign = pack::<36>(&[&ASSIGN.to_le_bytes(), owner.as_ref()])?;
    call(system, &assign, [made], [&[], seeds])
}

/// Rent-exempt minimum of an account of `space` bytes, lamports, from the Rent sysvar. The sysvar's factor is a float.
/// Integer arithmetic on its bits takes fewer compute units. The result is rounded up.
pub fn rent_exempt_minimum(space: usize) -> Result<u64> {
    let rent = Rent::get()?;
    let bytes = u64::try_from(space)
        .ok()
        .and_then(|space| space.checked_add(ACCOUNT_STORAGE_OVERHEAD))
        .ok_or_else(|| fail(MarketplaceError::ArithmeticOverflow))?;
    rent_of(
        bytes,
        rent.lamports_per_byte_year,
        rent.exemption_threshold.to_bits(),
    )
    .ok_or_else(|| fail(MarketplaceError::ArithmeticOverflow))
}

/// bytes x lamports x a positive float given by its bits.
fn rent_of(bytes: u64, lamports: u64, factor: u64) -> Option<u64> {
    /// The sysvar's factor is 2.0 since genesis, and is planned to be 1.0. Neither needs long arithmetic.
    const TWO: u64 = 0x4000_0000_0000_0000;
    const ONE: u64 = 0x3ff0_0000_0000_0000;
    match factor {
        TWO => return bytes.checked_mul(lamports)?.checked_mul(2),
        ONE => return bytes.checked_mul(lamports),
        _ => (),
    }
    /// Bits of a float's fraction, and the bias of its exponent plus these bits.
    const FRACTION: u32 = 52;
    const BIAS: u64 = 1_075;
    let mantissa = (factor & ((1 << FRACTION) - 1)) | (1 << FRACTION);
    let exponent = factor >> FRACTION;
    let product = u128::from(bytes)
        .checked_mul(u128::from(lamports))?
        .checked_mul(u128::from(mantissa))?;
    let shift = u32::try_from(BIAS.checked_sub(exponent)?).ok()?;
    let whole = product.checked_shr(shift)?;
    let exact = whole.checked_shl(shift)? == product;
    u64::try_from(whole).ok()?.checked_add(u64::from(!exact))
}

/// How many of `lamports` an account can give without failing the transaction: at most its balance above its rent.
/// After a rent increase, an account below its rent gives nothing: runtimes differ in whether it may lose lamports.
pub fn spendable(account: &AccountInfo, lamports: u64) -> Result<u64> {
    let above = account
        .lamports()
        .saturating_sub(rent_exempt_minimum(account.data_len())?);
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
    let space = TokenAccount::LEN;
    create_account(funder, account, seeds, space, token_program.key, 0)?;
    let data = pack::<33>(&[&[INITIALIZE_ACCOUNT_3], authority.key.as_ref()])?;
    let accounts = [(account, Role::Writes), (mint, Role::Reads)];
    call(token_program.key, &data, accounts, [&[], &[]])
}

/// Create the associated token account of `owner`. Only the program that derives its address can create it.
pub fn create_associated_account<'info>(
    funder: &Signer<'info>,
    account: &AccountInfo<'info>,
    owner: &AccountInfo<'info>,
    mint: &AccountInfo<'info>,
    [associated_token, token, system]: [&AccountInfo<'info>; 3],
) -> Result<()> {
    let accounts = [
        (funder.as_ref(), Role::Gives),
        (account, Role::Writes),
        (owner, Role::Reads),
        (mint, Role::Reads),
        (system, Role::Reads),
        (token, Role::Reads),
    ];
    call(associated_token.key, &[CREATE], accounts, [&[], &[]])
}

/// Size of an account of this type, bytes, with its discriminator.
pub fn space_of<T: Space + Discriminator>() -> usize {
    T::DISCRIMINATOR.len().saturating_add(T::INIT_SPACE)
}

/// Create an account of this program at the address of `seeds`, rent paid by `payer`, and write `value` into it.
pub fn create_state<'info, T: AccountSerialize + Space + Discriminator>(
    payer: &Signer<'info>,
    account: &AccountInfo<'info>,
    seeds: &[&[u8]],
    value: &T,
) -> Result<()> {
    let funder = Funder::wallet(payer);
    create_account(&funder, account, seeds, space_of::<T>(), &crate::ID, 0)?;
    write_state(account, value)
}

/// Write `value` over an account of this program.
pub fn write_state<T: AccountSerialize>(account: &AccountInfo, value: &T) -> Result<()> {
    let mut data = account.try_borrow_mut_data()?;
    value.try_serialize(&mut Packer(&mut data))
}

/// Write an account back: before a call to another program, or because it is not declared `mut`. Anchor writes `mut`
/// accounts when an instruction ends, at three times the cost.
pub fn save<T: AccountSerialize + AccountDeserialize + Clone>(account: &Account<T>) -> Result<()> {
    write_state(account.as_ref(), &**account)
}

/// The account as a `T`, or `None` if it is not one of this program.
pub fn read_state<T: AccountDeserialize>(account: &AccountInfo) -> Option<T> {
    if account.owner != &crate::ID {
        return None;
    }
    let data = account.try_borrow_data().ok()?;
    T::try_deserialize(&mut data.as_ref()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rent_is_what_the_float_formula_gives_rounded_up() {
        for threshold in [2.0f64, 1.0, 0.5, 4.0, 1.5] {
            for (bytes, lamports) in [
                (128u64, 3_480u64),
                (418, 3_480),
                (10_485_888, 6_960),
                (1, 0),
            ] {
                let expected = (bytes * lamports) as f64 * threshold;
                assert_eq!(
                    rent_of(bytes, lamports, threshold.to_bits()),
                    Some(expected.ceil() as u64)
                );
            }
        }
        assert_eq!(rent_of(3, 1, 0.1f64.to_bits()), Some(1), "rounded up");
        assert_eq!(rent_of(u64::MAX, u64::MAX, 2.0f64.to_bits()), None);
    }
}
