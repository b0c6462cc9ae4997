//! Where accounts must be, for the four instructions that every paid call may need: the opens, settle and refund.
//! The bump that a search found once is kept in the account, so that one hash tells the address, a tenth of the work
//! of Anchor's `seeds`, which all other instructions use; the seeds in the `idl-build` attributes of the four are
//! for clients, who find the same addresses by them.

use anchor_lang::error::ErrorCode;
use anchor_lang::prelude::*;
use solana_sha256_hasher::hashv;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::state::{AgentListing, CreatorCollateral, Deposit, ExecutionRecord, KeyGrant};
use crate::tokens;

/// What the runtime hashes after seeds, bump and program; it keeps these addresses apart from all others.
const MARKER: &[u8] = b"ProgramDerivedAddress";

/// The address of up to three seeds (empty ones add nothing) and a bump that a search has found before.
#[inline(never)]
pub fn address_of(seeds: [&[u8]; 3], bump: u8, program: &Pubkey) -> Pubkey {
    let [first, second, third] = seeds;
    hashv(&[first, second, third, &[bump], program.as_ref(), MARKER])
        .to_bytes()
        .into()
}

/// An account of ours that knows its address.
pub trait Located {
    /// The address that its fields and bump make.
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

/// The account is where its own fields say.
pub fn require_canonical_address<'info, T>(account: &Account<'info, T>) -> Result<()>
where
    T: Located + AccountSerialize + AccountDeserialize + Clone,
{
    require_address(&account.key(), &account.address())
}

/// The collateral is at its address and stands for this listing.
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

/// The account is this deposit's vault, its associated token account; says how many base units it holds.
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

/// The transaction lets the account be written: what Anchor asks of one that is declared `mut`, with its error.
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
