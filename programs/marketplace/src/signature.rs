//! The only verifier of Ed25519: a creator's signature over a result, and a signing key's proof of possession.
//!
//! The signature is an argument of the instruction. The Ed25519 precompile would give the same answer. But it costs the
//! fee of a second signature and 250 bytes more, and other programs could not call settle.

use anchor_lang::prelude::*;
use brine_ed25519::{hasher::Sha512, verify_with_hasher_strict, Address};

use crate::constants::REGISTER_DOMAIN;

/// Field prime 2^255 - 19, little-endian.
const PRIME: [u8; 32] = [
    0xed, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f,
];
/// Group order L = 2^252 + 27742317777372353535851937790883648493, little-endian.
const ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
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

/// `signature` is by `key` over `message`. Errors: SignatureInvalid.
pub fn require_signature(key: &Pubkey, signature: &[u8; 64], message: &[u8]) -> Result<()> {
    ensure!(verify(key.as_array(), signature, message), SignatureInvalid);
    Ok(())
}

/// The key is strong, and it signed for this listing, which proves that its creator holds it.
/// Errors: WeakSigningKey, SignatureInvalid.
pub fn require_possession(key: &Pubkey, signature: &[u8; 64], listing: &Pubkey) -> Result<()> {
    ensure!(is_admissible_key(key), WeakSigningKey);
    let message = [REGISTER_DOMAIN, listing.as_ref()].concat();
    require_signature(key, signature, &message)
}

/// True if `signature`, which is R and S, is by `key` over `message`. It follows the runtime's Ed25519 program:
/// S is below the group order, neither key nor R has small order, and R encodes S B - h A, without the cofactor.
///
/// Costs 20,000 compute units for a result's message, 3,000 of them for the points and most of the rest for SHA-512.
/// SHA-512 is that of `sha2`: brine-ed25519's own saves 700 units and makes the program 137 KB larger.
#[inline(never)]
pub fn verify(key: &[u8; 32], signature: &[u8; 64], message: &[u8]) -> bool {
    // The verifier would refuse an unreduced S too, but only in its last step. This check costs almost nothing.
    signature[32..].iter().rev().lt(ORDER.iter().rev())
        && verify_with_hasher_strict::<Sha512>(
            &Address::new_from_array(*key),
            signature,
            &[message],
        )
        .is_ok()
}

/// True if the key is canonical and strong: its y is below the prime, and its point is not of small order.
/// The proof of possession shows that it is a point of the curve.
pub fn is_admissible_key(key: &Pubkey) -> bool {
    let mut y = key.to_bytes();
    y[31] &= 0x7f;
    let below_prime = y.iter().rev().lt(PRIME.iter().rev());
    below_prime && !SMALL_ORDER_Y.contains(&y)
}

/// The text that a creator signs: `sha256:` and the lower-case hex of the hash.
pub fn result_message(result_hash: &[u8; 32]) -> [u8; 71] {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut message = *b"sha256:0000000000000000000000000000000000000000000000000000000000000000";
    for (pair, byte) in message[7..].chunks_exact_mut(2).zip(result_hash) {
        pair[0] = HEX[usize::from(byte >> 4)];
        pair[1] = HEX[usize::from(byte & 0x0f)];
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_lower_case_hex() {
        let text = "sha256:ab0123456789abcdef00112233445566778899aabbccddeeff000000000000e1";
        let hash =
            core::array::from_fn(|i| u8::from_str_radix(&text[2 * i + 7..2 * i + 9], 16).unwrap());
        assert_eq!(result_message(&hash), text.as_bytes());
    }
}
