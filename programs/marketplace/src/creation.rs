//! Makes program and token accounts at program addresses. A stranger can send lamports to an
//! address before it is used, and the system program's plain creation then refuses; this way of
//! making them does not.
//!
//! The system program's instructions are packed by hand: their usual encoder brings a serialisation
//! library along that would be a twentieth of this program.

use anchor_lang::prelude::*;
use anchor_lang::solana_program::instruction::Instruction;
use anchor_lang::solana_program::program::invoke_signed;
use anchor_spl::token::{self, InitializeAccount3, Token, TokenAccount};
use solana_sdk_ids::system_program;

use crate::errors::MarketplaceError;
use crate::guard::fail;

/// Numbers of the system program's instructions.
const CREATE_ACCOUNT: u32 = 0;
const ASSIGN: u32 = 1;
const TRANSFER: u32 = 2;
const ALLOCATE: u32 = 8;

/// Bytes that the runtime adds to every account when it counts rent.
const ACCOUNT_STORAGE_OVERHEAD: u64 = 128;

/// Whose lamports pay: a wallet that signed the transaction, or an address of ours by its seeds.
pub struct Funder<'a, 'info> {
    pub account: &'a AccountInfo<'info>,
    /// Seeds of the account where it is an address of ours; empty where it signed the transaction.
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

    /// Move lamports to an account; nothing where the amount is zero.
    pub fn send(&self, to: &AccountInfo<'info>, lamports: u64) -> Result<()> {
        if lamports == 0 {
            return Ok(());
        }
        let data = [&TRANSFER.to_le_bytes()[..], &lamports.to_le_bytes()].concat();
        call_system(&data, &[self.account.clone(), to.clone()], 1, &[self.seeds])
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
    if account.lamports() == 0 {
        let data = [
            &CREATE_ACCOUNT.to_le_bytes()[..],
            &lamports.to_le_bytes(),
            &space.to_le_bytes(),
            owner.as_ref(),
        ];
        let infos = [funder.account.clone(), account.clone()];
        return call_system(&data.concat(), &infos, 2, &[funder.seeds, seeds]);
    }
    funder.send(account, lamports.saturating_sub(account.lamports()))?;
    let made = std::slice::from_ref(account);
    let allocate = [&ALLOCATE.to_le_bytes()[..], &space.to_le_bytes()];
    call_system(&allocate.concat(), made, 1, &[seeds])?;
    let assign = [&ASSIGN.to_le_bytes()[..], owner.as_ref()];
    call_system(&assign.concat(), made, 1, &[seeds])
}

/// Call the system program: every account is writable, the first `signing` of them sign, those that are addresses
/// of ours by their seeds.
fn call_system(
    data: &[u8],
    accounts: &[AccountInfo],
    signing: usize,
    seeds: &[&[&[u8]]],
) -> Result<()> {
    let metas = accounts
        .iter()
        .enumerate()
        .map(|(index, account)| AccountMeta {
            pubkey: *account.key,
            is_signer: index < signing,
            is_writable: true,
        });
    let instruction = Instruction {
        program_id: system_program::ID,
        accounts: metas.collect(),
        data: data.to_vec(),
    };
    // A wallet's empty seeds come first and make no address of ours: the runtime is given those that do.
    let seeds = match seeds {
        [[], rest @ ..] => rest,
        all => all,
    };
    invoke_signed(&instruction, accounts, seeds).map_err(Into::into)
}

/// Lamports that keep an account of `space` bytes alive, as the Rent sysvar has it now. The sysvar's factor is a
/// float, and this build has no arithmetic of floats: it is taken apart into integers, and the result rounded up.
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
    /// Bits of a float's fraction, and the bias of its exponent with them taken in.
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

/// How much of `lamports` an account can give without failing the transaction: what it has above its rent. One that
/// a rise of the rent has left below it gives nothing: runtimes differ in whether such an account may lose lamports.
pub fn spendable(account: &AccountInfo, lamports: u64) -> Result<u64> {
    let above = account
        .lamports()
        .saturating_sub(rent_exempt_minimum(account.data_len())?);
    Ok(lamports.min(above))
}

/// Whether an account can be given lamports without failing the transaction: it is writable, is no program, and
/// is rent-exempt afterwards.
pub fn can_take(account: &AccountInfo, lamports: u64) -> Result<bool> {
    let after = account.lamports().saturating_add(lamports);
    Ok(account.is_writable
        && !account.executable
        && after >= rent_exempt_minimum(account.data_len())?)
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
    let accounts = InitializeAccount3 {
        account: account.clone(),
        mint: mint.clone(),
        authority: authority.clone(),
    };
    token::initialize_account3(CpiContext::new(token_program.to_account_info(), accounts))
}

/// Bytes of an account of ours of this kind.
pub fn space_of<T: Space + Discriminator>() -> usize {
    T::DISCRIMINATOR.len().saturating_add(T::INIT_SPACE)
}

/// Make one of our own accounts at the address of `seeds`, rent paid by `payer`, and write `value` into it.
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

/// Write `value` over an account of ours.
pub fn write_state<T: AccountSerialize>(account: &AccountInfo, value: &T) -> Result<()> {
    let mut data = account.try_borrow_mut_data()?;
    let mut writer: &mut [u8] = &mut data;
    value.try_serialize(&mut writer)
}

/// An account of ours of this kind, or nothing where it is none.
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
