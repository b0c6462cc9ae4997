//! The only verifier of Ed25519 signatures: the creator's over a result, and a signing key's proof of possession.
//!
//! A signature is an argument of the instruction it serves and is verified here, strictly and without the cofactor,
//! by the rule of the runtime's own Ed25519 program: S below the group order, neither the key nor R of small order,
//! and R equal to S B - h A. The precompile would say the same, at the price of a second signature's fee, 250 more
//! bytes, and a settle that no program could call.

use anchor_lang::prelude::*;
use brine_ed25519::{hasher::Sha512, verify_with_hasher_strict, Address};

use crate::constants::REGISTER_DOMAIN;
use crate::errors::MarketplaceError;

/// Length of a result's signed text: `sha256:` and 64 hex digits.
const RESULT_MESSAGE_BYTES: usize = 71;

/// Field prime 2^255 - 19 and group order 2^252 + 27742317777372353535851937790883648493, little-endian.
const PRIME: [u8; 32] = [
    0xed, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f,
];
/// The y coordinates of all eight points of small order: 1, -1, 0 and the two of order eight.
const SMALL_ORDER_Y: [[u8; 32]; 5] = [
    [
        0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0,
    ],
    [
        0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0x7f,
    ],
    [0; 32],
    [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98,
        0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53,
        0xfc, 0x05,
    ],
    [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67,
        0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac,
        0x03, 0x7a,
    ],
];

/// `key`'s signature over `message` holds, by the runtime's own rule. Errors: SignatureInvalid.
pub fn require_signature(key: &Pubkey, signature: &[u8; 64], message: &[u8]) -> Result<()> {
    ensure!(
        verify(key.as_array(), signature, message),
        MarketplaceError::SignatureInvalid
    );
    Ok(())
}

/// The key signed for this listing, so that its creator holds it, and it is a strong one.
/// Errors: WeakSigningKey, SignatureInvalid.
pub fn require_possession(key: &Pubkey, signature: &[u8; 64], listing: &Pubkey) -> Result<()> {
    ensure!(is_admissible_key(key), MarketplaceError::WeakSigningKey);
    let message = [REGISTER_DOMAIN, listing.as_ref()].concat();
    require_signature(key, signature, &message)
}

/// Whether `signature` (R, then S) is `key`'s over `message`, by the rule at the head of this file.
#[inline(never)]
pub fn verify(key: &[u8; 32], signature: &[u8; 64], message: &[u8]) -> bool {
    verify_with_hasher_strict::<Sha512>(&Address::new_from_array(*key), signature, &[message])
        .is_ok()
}

/// A key that signs nothing by accident: its y is below the prime and its point not of small order. That it is a
/// point of the curve is what the proof of possession shows.
pub fn is_admissible_key(key: &Pubkey) -> bool {
    is_admissible_point(key.as_array())
}
fn is_admissible_point(encoded: &[u8; 32]) -> bool {
    let mut y = *encoded;
    y[31] &= 0x7f;
    let below_prime = y.iter().rev().lt(PRIME.iter().rev());
    below_prime && !SMALL_ORDER_Y.contains(&y)
}

/// The text that a creator signs: `sha256:` and the lower-case hex of the hash.
pub fn result_message(result_hash: &[u8; 32]) -> [u8; RESULT_MESSAGE_BYTES] {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut message = *b"sha256:0000000000000000000000000000000000000000000000000000000000000000";
    for (pair, byte) in message[7..].chunks_exact_mut(2).zip(result_hash) {
        pair[0] = HEX[usize::from(byte >> 4)];
        pair[1] = HEX[usize::from(byte & 0x0f)];
    }
    message
}
