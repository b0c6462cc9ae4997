//! A payment for an execution that is not open yet. Its address commits to the terms, the payer and the amounts, so the
//! payer signs nothing but a plain transfer to it. It is closed by its open or its refund.

use anchor_lang::prelude::*;
use solana_sha256_hasher::hashv;

use crate::constants::*;
use crate::creation::can_take;
use crate::errors::MarketplaceError;
use crate::guard::fail;
use crate::tokens::TokenTransfer;

/// The parties and amounts of a deposit. The money is in its vault, its associated token account.
#[account]
#[derive(InitSpace, Debug)]
pub struct Deposit {
    /// Layout version, 1.
    pub version: u8,
    /// Bump of this address.
    pub bump: u8,
    /// Bump of the vault.
    pub vault_bump: u8,
    /// Hash of terms, payer, price and service fee: the seed of this address.
    pub hash: [u8; 32],
    /// The wallet that buys. It gets the money back if no execution is opened.
    pub caller: Pubkey,
    /// The account that lent this account's and the vault's rent. It gets the rent back.
    pub rent_sponsor: Pubkey,
    /// Price of the execution, base units.
    pub price: u64,
    /// The marketplace's service fee on top of the price, base units.
    pub service_fee: u64,
    /// When it was prepared, unix seconds.
    pub prepared_at: i64,
    /// From this time it can only be refunded, unix seconds. Anyone can then refund a paid one.
    pub expires_at: i64,
}

/// The terms of the execution that a deposit buys.
pub struct DepositTerms<'a> {
    pub listing: &'a Pubkey,
    pub listing_version: u32,
    pub request_hash: &'a [u8; 32],
    pub timeout_seconds: u32,
    /// Determines the execution id, together with the caller.
    pub nonce: &'a [u8; 16],
}

impl DepositTerms<'_> {
    /// SHA-256 of the terms.
    pub fn hash(&self) -> [u8; 32] {
        hashv(&[
            DEPOSIT_TERMS_DOMAIN,
            self.listing.as_ref(),
            &self.listing_version.to_le_bytes(),
            self.request_hash,
            &self.timeout_seconds.to_le_bytes(),
            self.nonce,
        ])
        .to_bytes()
    }
}

impl Deposit {
    /// The seed of a deposit's address. `payer` is the only possible caller,
    /// or the zero key if the payer was not known. Amounts are in base units.
    pub fn hash_of(
        terms_hash: &[u8; 32],
        payer: &Pubkey,
        price: u64,
        service_fee: u64,
    ) -> [u8; 32] {
        hashv(&[
            DEPOSIT_DOMAIN,
            terms_hash,
            payer.as_ref(),
            &price.to_le_bytes(),
            &service_fee.to_le_bytes(),
        ])
        .to_bytes()
    }

    /// Signer seeds of this account, which is its vault's authority.
    pub fn seeds(&self) -> [&[u8]; 3] {
        let bump = std::slice::from_ref(&self.bump);
        [DEPOSIT_SEED, self.hash.as_ref(), bump]
    }

    /// True if `held` base units cover price and service fee.
    pub fn is_paid_by(price: u64, service_fee: u64, held: u64) -> bool {
        price.checked_add(service_fee).is_some_and(|asked| held >= asked)
    }

    /// True if `held` base units in its vault pay this deposit.
    pub fn is_funded(&self, held: u64) -> bool {
        Self::is_paid_by(self.price, self.service_fee, held)
    }

    /// The deposit is paid and has not expired, so it can open its execution.
    pub fn require_openable(&self, held: u64, now: i64) -> Result<()> {
        ensure!(now < self.expires_at, DepositExpired);
        ensure!(self.is_funded(held), DepositUnfunded);
        Ok(())
    }

    /// True if anyone may refund it: a paid one once it has expired, an unpaid one a day after it was prepared.
    pub fn is_refundable(&self, held: u64, now: i64) -> bool {
        let from = if self.is_funded(held) {
            self.expires_at
        } else {
            self.prepared_at.saturating_add(UNFUNDED_DEPOSIT_SECONDS)
        };
        now >= from
    }
}

/// True if the rent sponsor can take the rent of deposit and vault.
pub fn can_close_deposit(
    deposit: &AccountInfo,
    vault: &AccountInfo,
    rent_sponsor: &AccountInfo,
) -> Result<bool> {
    let lent = vault.lamports().checked_add(deposit.lamports());
    let lent = lent.ok_or_else(|| fail(MarketplaceError::ArithmeticOverflow))?;
    can_take(rent_sponsor, lent)
}

/// Close the empty vault and the deposit. Returns false if the rent sponsor cannot take the rent; then both stay open.
/// Call it after all other calls to other programs.
pub fn close_deposit<'info>(
    deposit: &Account<'info, Deposit>,
    vault: &AccountInfo<'info>,
    rent_sponsor: &AccountInfo<'info>,
    transfer: &TokenTransfer<'_, 'info>,
) -> Result<bool> {
    if !can_close_deposit(&transfer.authority, vault, rent_sponsor)? {
        return Ok(false);
    }
    transfer.close(vault, rent_sponsor)?;
    deposit.close(rent_sponsor.clone())?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_commits_to_terms_payer_and_amounts() {
        // Computed apart from this code, with Python's hashlib over domains and little-endian numbers.
        const TERMS: [u8; 32] = [
            0x6e, 0x14, 0xf6, 0xb1, 0xad, 0x53, 0xc0, 0x03, 0x0d, 0x80, 0xc2, 0xbd, 0x97, 0x8a,
            0x38, 0xac, 0x52, 0x9b, 0x24, 0x60, 0xa6, 0x34, 0xf7, 0x62, 0x64, 0x32, 0xe7, 0x84,
            0x42, 0x68, 0x27, 0xa1,
        ];
        const HASH: [u8; 32] = [
            0x60, 0xf4, 0xb2, 0x7b, 0x4c, 0xd6, 0xf5, 0xc6, 0x94, 0x89, 0x29, 0x2d, 0xa5, 0x71,
            0xba, 0x6f, 0xf7, 0xe6, 0xe2, 0x7d, 0x18, 0x73, 0x9a, 0xbc, 0x40, 0x8a, 0xd2, 0xff,
            0x67, 0xd5, 0x45, 0xfa,
        ];
        let terms = DepositTerms {
            listing: &Pubkey::new_from_array([1; 32]),
            listing_version: 2,
            request_hash: &[3; 32],
            timeout_seconds: 4,
            nonce: &[5; 16],
        };
        assert_eq!(terms.hash(), TERMS);
        let payer = Pubkey::new_from_array([6; 32]);
        assert_eq!(Deposit::hash_of(&TERMS, &payer, 7, 8), HASH);
    }

    #[test]
    fn price_and_service_fee_cannot_overflow() {
        assert!(Deposit::is_paid_by(u64::MAX, 0, u64::MAX));
        assert!(!Deposit::is_paid_by(u64::MAX, 1, u64::MAX));
    }
}
