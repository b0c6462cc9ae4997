//! Checks the addresses of accounts, for the instructions of a paid call: the opens, settle and
//! both refunds. Each account stores the bump that a search found once, so one hash gives its
//! address, a tenth of the work of Anchor's `seeds`. All other instructions use `seeds`. The seeds
//! in the `idl-build` attributes are for clients, which derive the same addresses from them.

use anchor_lang::error::ErrorCode;
use anchor_lang::prelude::*;
use solana_sha256_hasher::hashv;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::state::{AgentListing, CreatorCollateral, Deposit, ExecutionRecord, KeyGrant};
use crate::tokens;

/// The runtime hashes this after seeds, bump and program. It separates these addresses from all other hashes.
const MARKER: &[u8] = b"ProgramDerivedAddress";

/// The address of up to three seeds (empty ones add nothing) and a bump that a search found before.
#[inline(never)]
pub fn address_of(seeds: [&[u8]; 3], bump: u8, program: &Pubkey) -> Pubkey {
    let [first, second, third] = seeds;
    hashv(&[first, second, third, &[bump], program.as_ref(), MARKER])
        .to_bytes()
        .into()
}

/// A program account that stores the parts of its address.
pub trait Located {
    /// The address derived from its fields and bump.
    fn address(&self) -> Pubkey;
}

impl Located for AgentListing {
    fn address(&self) -> Pubkey {
        let seeds = [LISTING_SEED, self.creator.as_ref(), &self.listing_id];
        address_of(seeds, self.bump, &crate::ID)
    }
}

impl Located for CreatorCollateral {
    fn address(&self) -> Pubkey {
        let seeds = [COLLATERAL_SEED, self.listing.as_ref(), &[]];
        address_of(seeds, self.bump, &crate::ID)
    }
}

impl Located for KeyGrant {
    fn address(&self) -> Pubkey {
        let seeds = [GRANT_SEED, self.wallet.as_ref(), &self.key_id];
        address_of(seeds, self.bump, &crate::ID)
    }
}

impl Located for ExecutionRecord {
    fn address(&self) -> Pubkey {
        let seeds = [EXECUTION_SEED, &self.execution_id, &[]];
        address_of(seeds, self.bump, &crate::ID)
    }
}

impl Located for Deposit {
    fn address(&self) -> Pubkey {
        let seeds = [DEPOSIT_SEED, self.hash.as_ref(), &[]];
        address_of(seeds, self.bump, &crate::ID)
    }
}

/// The account is at the address derived from its own fields.
pub fn require_canonical_address<'info, T>(account: &Account<'info, T>) -> Result<()>
where
    T: Located + AccountSerialize + AccountDeserialize + Clone,
{
    require_address(&account.key(), &account.address())
}

/// The collateral is at its address and belongs to this listing.
pub fn require_collateral_of<'info>(
    collateral: &Account<'info, CreatorCollateral>,
    listing: &Pubkey,
) -> Result<()> {
    ensure!(
        collateral.listing == *listing,
        MarketplaceError::WrongListing
    );
    require_canonical_address(collateral)
}

/// The account is this record's escrow.
pub fn require_escrow_of(
    escrow: &AccountInfo,
    record: &Account<'_, ExecutionRecord>,
) -> Result<()> {
    let key = record.key();
    let seeds = [ESCROW_SEED, key.as_ref(), &[]];
    let address = address_of(seeds, record.escrow_bump, &crate::ID);
    require_address(escrow.key, &address)
}

/// The account is the caller's `Spender`, if that lent the rent of this record's escrow.
pub fn require_escrow_lender(
    spender: &AccountInfo,
    record: &Account<'_, ExecutionRecord>,
) -> Result<()> {
    if record.spender_bump == 0 {
        return Ok(());
    }
    let seeds = [SPENDER_SEED, record.caller.as_ref(), &[]];
    require_address(
        spender.key,
        &address_of(seeds, record.spender_bump, &crate::ID),
    )
}

/// The account is this deposit's vault, its associated token account. Returns the base units that it holds.
pub fn require_vault_of(
    vault: &AccountInfo,
    deposit: &Account<'_, Deposit>,
    mint: &Pubkey,
) -> Result<u64> {
    let key = deposit.key();
    let seeds = tokens::associated_seeds(&key, mint);
    let address = address_of(seeds, deposit.vault_bump, &anchor_spl::associated_token::ID);
    require_address(vault.key, &address)?;
    let unsound = MarketplaceError::DepositVaultUnsound;
    tokens::require_owned(vault, mint, &key, unsound).map(|vault| vault.amount)
}

/// The account is writable. Fails with the error of Anchor's `mut`.
pub fn require_writable<'info, T>(account: &Account<'info, T>) -> Result<()>
where
    T: AccountSerialize + AccountDeserialize + Clone,
{
    if AsRef::<AccountInfo>::as_ref(account).is_writable {
        Ok(())
    } else {
        Err(ErrorCode::ConstraintMut.into())
    }
}

/// Two addresses are the same.
#[inline(never)]
pub fn require_address(key: &Pubkey, address: &Pubkey) -> Result<()> {
    ensure!(key == address, MarketplaceError::WrongAddress);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_hash_gives_the_address_that_the_search_found() {
        for fill in 0..64u8 {
            let wallet = [fill; 32];
            let id = [fill; 16];
            for seeds in [[GRANT_SEED, &wallet, &id], [COLLATERAL_SEED, &wallet, &[]]] {
                let found = Pubkey::find_program_address(&seeds, &crate::ID);
                assert_eq!(address_of(seeds, found.1, &crate::ID), found.0);
            }
        }
    }
}
