//! The only reader of the Ed25519 precompile's instruction. The runtime has already checked the
//! signature; what is left is to make sure that it checked *this* key over *this* message, and not
//! bytes that lie elsewhere in the transaction.

use anchor_lang::prelude::*;
use anchor_lang::solana_program::instruction::get_stack_height;
use anchor_lang::solana_program::instruction::TRANSACTION_LEVEL_STACK_HEIGHT;
use anchor_lang::solana_program::sysvar::instructions::{
    load_current_index_checked, load_instruction_at_checked,
};
use solana_sdk_ids::ed25519_program;

use crate::constants::REGISTER_DOMAIN;
use crate::errors::MarketplaceError;
use crate::guard::fail;

/// Offsets that web3.js writes: header of 16 bytes, key, signature, message.
const KEY_OFFSET: u16 = 16;
const SIGNATURE_OFFSET: u16 = 48;
const MESSAGE_OFFSET: u16 = 112;
/// "In this very instruction", as the precompile writes it.
const THIS_INSTRUCTION: u16 = u16::MAX;

/// Field prime 2^255 - 19, little-endian.
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

/// Refuses when called by another program: a wrapper could use one signature for two settles.
pub fn require_top_level() -> Result<()> {
    ensure!(
        get_stack_height() == TRANSACTION_LEVEL_STACK_HEIGHT,
        MarketplaceError::NotTopLevel
    );
    Ok(())
}

/// The instruction directly before the current top-level one verified `key`'s signature over `message`.
pub fn require_signature(instructions: &AccountInfo, key: &Pubkey, message: &[u8]) -> Result<()> {
    let current = load_current_index_checked(instructions)?;
    let before = usize::from(current)
        .checked_sub(1)
        .ok_or_else(|| fail(MarketplaceError::SignatureMissing))?;
    let instruction = load_instruction_at_checked(before, instructions)?;
    ensure!(
        instruction.program_id == ed25519_program::ID,
        MarketplaceError::SignatureWrongProgram
    );
    check_layout(&instruction.data, key, message)
}

/// The instruction before is the key's proof that the listing's creator holds it, and the key is a strong one.
pub fn require_possession(
    instructions: &AccountInfo,
    key: &Pubkey,
    listing: &Pubkey,
) -> Result<()> {
    ensure!(is_admissible_key(key), MarketplaceError::WeakSigningKey);
    let message = [REGISTER_DOMAIN, listing.as_ref()].concat();
    require_signature(instructions, key, &message)
}

/// The whole instruction is one self-contained signature by `key` over `message`, in the standard layout.
fn check_layout(data: &[u8], key: &Pubkey, message: &[u8]) -> Result<()> {
    ensure!(data.first() == Some(&1), MarketplaceError::SignatureCount);
    ensure!(data.get(1) == Some(&0), MarketplaceError::SignaturePadding);
    let length = usize::from(MESSAGE_OFFSET).saturating_add(message.len());
    ensure!(data.len() == length, MarketplaceError::SignatureLength);
    let field = |index: usize| -> u16 {
        let at = index.saturating_mul(2).saturating_add(2);
        match (data.get(at), data.get(at.saturating_add(1))) {
            (Some(low), Some(high)) => u16::from_le_bytes([*low, *high]),
            _ => 0,
        }
    };
    ensure!(
        field(0) == SIGNATURE_OFFSET,
        MarketplaceError::SignatureOffset
    );
    ensure!(
        field(1) == THIS_INSTRUCTION,
        MarketplaceError::SignatureForeignSignature
    );
    ensure!(field(2) == KEY_OFFSET, MarketplaceError::SignatureKeyOffset);
    ensure!(
        field(3) == THIS_INSTRUCTION,
        MarketplaceError::SignatureForeignKey
    );
    ensure!(
        field(4) == MESSAGE_OFFSET,
        MarketplaceError::SignatureMessageOffset
    );
    ensure!(
        usize::from(field(5)) == message.len(),
        MarketplaceError::SignatureLength
    );
    ensure!(
        field(6) == THIS_INSTRUCTION,
        MarketplaceError::SignatureForeignMessage
    );
    let signed_key = data.get(usize::from(KEY_OFFSET)..usize::from(SIGNATURE_OFFSET));
    ensure!(
        signed_key == Some(key.as_ref()),
        MarketplaceError::SignatureWrongKey
    );
    let signed_message = data.get(usize::from(MESSAGE_OFFSET)..);
    ensure!(
        signed_message == Some(message),
        MarketplaceError::SignatureWrongMessage
    );
    Ok(())
}

/// A key that signs nothing by accident: its y is below the prime and its point not of small order.
/// Checked when a key is registered and not left to the precompile, whose rule may be relaxed; that
/// it is a point of the curve is what the proof of possession shows.
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
    for (pair, byte) in message[7..]
        .as_chunks_mut::<2>()
        .0
        .iter_mut()
        .zip(result_hash)
    {
        pair[0] = HEX[usize::from(byte >> 4)];
        pair[1] = HEX[usize::from(byte & 0x0f)];
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Pubkey = Pubkey::new_from_array([7; 32]);
    const MESSAGE: &[u8] = b"hello";

    fn canonical() -> Vec<u8> {
        let mut data = vec![1, 0];
        for field in [48u16, 0xffff, 16, 0xffff, 112, 5, 0xffff] {
            data.extend_from_slice(&field.to_le_bytes());
        }
        data.extend_from_slice(KEY.as_ref());
        data.extend_from_slice(&[9; 64]);
        data.extend_from_slice(MESSAGE);
        data
    }

    #[test]
    fn accepts_the_canonical_layout() {
        assert!(check_layout(&canonical(), &KEY, MESSAGE).is_ok());
    }

    #[test]
    fn each_guard_has_its_own_error() {
        use MarketplaceError::*;
        let table: [(usize, u8, MarketplaceError); 12] = [
            (0, 0, SignatureCount),
            (0, 2, SignatureCount),
            (1, 1, SignaturePadding),
            (2, 49, SignatureOffset),
            (4, 0, SignatureForeignSignature),
            (6, 17, SignatureKeyOffset),
            (8, 0, SignatureForeignKey),
            (10, 113, SignatureMessageOffset),
            (12, 4, SignatureLength),
            (14, 0, SignatureForeignMessage),
            (16, 8, SignatureWrongKey),
            (112, b'H', SignatureWrongMessage),
        ];
        for (at, byte, expected) in table {
            let mut data = canonical();
            data[at] = byte;
            assert_eq!(
                check_layout(&data, &KEY, MESSAGE),
                Err(fail(expected)),
                "byte {at}"
            );
        }
        for length in 0..canonical().len() {
            assert!(
                check_layout(&canonical()[..length], &KEY, MESSAGE).is_err(),
                "length {length}"
            );
        }
        let mut longer = canonical();
        longer.push(0);
        assert_eq!(
            check_layout(&longer, &KEY, MESSAGE),
            Err(fail(SignatureLength))
        );
    }

    #[test]
    fn weak_and_non_canonical_keys_are_refused() {
        for y in SMALL_ORDER_Y {
            for sign in [0u8, 0x80] {
                let mut key = y;
                key[31] |= sign;
                assert!(!is_admissible_key(&Pubkey::new_from_array(key)));
            }
        }
        assert!(!is_admissible_key(&Pubkey::new_from_array(PRIME)));
        let mut above = PRIME;
        above[0] = 0xee;
        assert!(!is_admissible_key(&Pubkey::new_from_array(above)));
        assert!(!is_admissible_key(&Pubkey::new_from_array([0xff; 32])));
        let mut two = [0u8; 32];
        two[0] = 2;
        assert!(is_admissible_key(&Pubkey::new_from_array(two)));
    }

    #[test]
    fn the_message_is_lower_case_hex() {
        let mut hash = [0u8; 32];
        hash[0] = 0xab;
        hash[31] = 0x01;
        let message = result_message(&hash);
        assert!(message.starts_with(b"sha256:ab00"));
        assert!(message.ends_with(b"01"));
    }
}
