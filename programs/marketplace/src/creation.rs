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

/// Allocate `space` bytes at the address of `seeds`, owned by `owner`, rent paid by `payer`.
#[inline(never)]
pub fn create_account<'info>(
    payer: &Signer<'info>,
    account: &AccountInfo<'info>,
    seeds: &[&[u8]],
    space: usize,
    owner: &Pubkey,
) -> Result<()> {
    ensure!(
        account.owner == &system_program::ID,
        MarketplaceError::AccountExists
    );
    let rent = rent_exempt_minimum(space)?;
    let space = u64::try_from(space).map_err(|_| fail(MarketplaceError::ArithmeticOverflow))?;
    let infos = [payer.to_account_info(), account.clone()];
    if account.lamports() == 0 {
        let data = [
            &CREATE_ACCOUNT.to_le_bytes()[..],
            &rent.to_le_bytes(),
            &space.to_le_bytes(),
            owner.as_ref(),
        ];
        return call_system(&data.concat(), &infos, seeds);
    }
    let [_, made] = &infos;
    let made = std::slice::from_ref(made);
    let missing = rent.saturating_sub(account.lamports());
    if missing > 0 {
        transfer_lamports(payer, account, missing)?;
    }
    let allocate = [&ALLOCATE.to_le_bytes()[..], &space.to_le_bytes()];
    call_system(&allocate.concat(), made, seeds)?;
    let assign = [&ASSIGN.to_le_bytes()[..], owner.as_ref()];
    call_system(&assign.concat(), made, seeds)
}

/// Move lamports out of a wallet that signed.
pub fn transfer_lamports<'info>(
    from: &Signer<'info>,
    to: &AccountInfo<'info>,
    lamports: u64,
) -> Result<()> {
    let data = [&TRANSFER.to_le_bytes()[..], &lamports.to_le_bytes()];
    call_system(&data.concat(), &[from.to_account_info(), to.clone()], &[])
}

/// Call the system program: every account is writable and signs, but for the receiver of a transfer. The
/// address of `seeds` signs where there are any.
fn call_system(data: &[u8], accounts: &[AccountInfo], seeds: &[&[u8]]) -> Result<()> {
    let transfer = seeds.is_empty();
    let metas = accounts
        .iter()
        .enumerate()
        .map(|(index, account)| AccountMeta {
            pubkey: *account.key,
            is_signer: index == 0 || !transfer,
            is_writable: true,
        });
    let instruction = Instruction {
        program_id: system_program::ID,
        accounts: metas.collect(),
        data: data.to_vec(),
    };
    let signer = [seeds];
    let signers: &[&[&[u8]]] = if transfer { &[] } else { &signer };
    invoke_signed(&instruction, accounts, signers).map_err(Into::into)
}

/// Lamports that keep an account of `space` bytes alive, as the Rent sysvar has it. The sysvar's factor is a
/// float; it is taken apart into integers here, and the result rounded up, because the runtime computes
/// floats in software, slowly and at length.
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

/// Make a token account of `mint` at the address of `seeds`, with `authority` as its owner.
pub fn create_token_account<'info>(
    payer: &Signer<'info>,
    account: &AccountInfo<'info>,
    seeds: &[&[u8]],
    mint: &AccountInfo<'info>,
    authority: &AccountInfo<'info>,
    token_program: &Program<'info, Token>,
) -> Result<()> {
    create_account(payer, account, seeds, TokenAccount::LEN, token_program.key)?;
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
) -> Result<()> {
    let space = T::DISCRIMINATOR.len().saturating_add(T::INIT_SPACE);
    create_account(payer, account, seeds, space, &crate::ID)?;
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
