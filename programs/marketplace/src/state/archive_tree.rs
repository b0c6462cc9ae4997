//! The account of an archive's Merkle tree, in the layout of SPL Account Compression, so readers of its trees can read
//! ours: a header of 56 bytes, then `ConcurrentMerkleTree`, without a canopy. Created with the system program and owned
//! by this program. After its registration, only `archive_executions` changes it.

use anchor_lang::prelude::*;
use solana_program::keccak::hashv;
use spl_concurrent_merkle_tree::concurrent_merkle_tree::ConcurrentMerkleTree;

use crate::constants::*;
use crate::creation::rent_exempt_minimum;
use crate::errors::MarketplaceError;
use crate::guard::fail;
use crate::state::ExecutionRecord;

/// The tree that follows the header.
pub type ArchiveTree =
    ConcurrentMerkleTree<{ ARCHIVE_DEPTH as usize }, { ARCHIVE_BUFFER as usize }>;

/// Bytes before the tree.
const HEADER_BYTES: usize = 56;
/// Account type "concurrent Merkle tree" and header version 1, as SPL Account Compression numbers them.
const HEADER_KIND: [u8; 2] = [1, 0];

/// The account can become a tree: owned by this program, of the exact size, all zero and rent-exempt.
pub fn require_new_tree(account: &AccountInfo) -> Result<()> {
    let data = account.try_borrow_data()?;
    ensure!(
        account.owner == &crate::ID && data.len() == ARCHIVE_TREE_BYTES as usize,
        MarketplaceError::InvalidTree
    );
    // If the first byte is zero and each byte equals the next one, all bytes are zero. The comparison is a call of the
    // runtime, at a hundredth of the cost of a loop.
    let is_zero = data.first() == Some(&0) && data.get(1..) == data.get(..data.len() - 1);
    ensure!(
        is_zero && account.lamports() >= rent_exempt_minimum(data.len())?,
        MarketplaceError::InvalidTree
    );
    Ok(())
}

/// Write header and empty tree into the bytes of a new one.
#[inline(never)]
pub fn initialize_tree(data: &mut [u8], authority: &Pubkey, slot: u64) -> Result<()> {
    tree_of(data)?
        .initialize()
        .map_err(|_| fail(MarketplaceError::InvalidTree))?;
    let header = [
        &HEADER_KIND[..],
        &u32::from(ARCHIVE_BUFFER).to_le_bytes(),
        &u32::from(ARCHIVE_DEPTH).to_le_bytes(),
        authority.as_ref(),
        &slot.to_le_bytes(),
    ]
    .concat();
    for (byte, value) in data.iter_mut().zip(header) {
        *byte = value;
    }
    Ok(())
}

/// The tree in the bytes of its account.
pub fn tree_of(data: &mut [u8]) -> Result<&mut ArchiveTree> {
    data.get_mut(HEADER_BYTES..)
        .and_then(|bytes| bytemuck::try_from_bytes_mut(bytes).ok())
        .ok_or_else(|| fail(MarketplaceError::InvalidTree))
}

/// A record's leaf: the hash of a prefix, its address and its fields. The fields are its account's data after the
/// discriminator.
pub fn leaf_of(record: &AccountInfo) -> Result<[u8; 32]> {
    let data = record.try_borrow_data()?;
    let head = ExecutionRecord::DISCRIMINATOR.len();
    let fields = data
        .get(head..head + ExecutionRecord::INIT_SPACE)
        .ok_or_else(|| fail(MarketplaceError::RecordUnsound))?;
    Ok(hashv(&[ARCHIVE_LEAF_DOMAIN, record.key.as_ref(), fields]).0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anchor_lang::solana_program::system_program;

    const BYTES: usize = ARCHIVE_TREE_BYTES as usize;

    /// Zeroes with the alignment of a tree's numbers, as in the runtime.
    fn zeroes() -> Vec<u64> {
        vec![0; BYTES / 8]
    }

    fn account<'a>(
        owner: &'a Pubkey,
        lamports: &'a mut u64,
        data: &'a mut [u8],
    ) -> AccountInfo<'a> {
        const KEY: Pubkey = Pubkey::new_from_array([3; 32]);
        AccountInfo::new(&KEY, false, true, lamports, data, owner, false, 0)
    }

    #[test]
    fn layout() {
        let authority = Pubkey::new_from_array([7; 32]);
        let mut words = zeroes();
        let data: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        assert_eq!(HEADER_BYTES + std::mem::size_of::<ArchiveTree>(), BYTES);
        assert!(initialize_tree(data, &authority, 0x0102_0304).is_ok());

        let mut nodes = vec![[0u8; 32]];
        for level in 0..20 {
            nodes.push(hashv(&[&nodes[level], &nodes[level]]).0);
        }
        let mut expected = vec![1, 0, 64, 0, 0, 0, 20, 0, 0, 0];
        expected.extend([7; 32]);
        expected.extend([4, 3, 2, 1, 0, 0, 0, 0]);
        expected.extend([0; 6]);
        // Sequence number, index of the latest change, one change kept.
        expected.extend([0; 16]);
        expected.extend([1, 0, 0, 0, 0, 0, 0, 0]);
        expected.extend(nodes[20]);
        expected.extend(nodes[..20].concat());
        // Index of the change; then 63 empty changes.
        expected.extend([0; 8]);
        expected.extend(vec![0; 63 * 680]);
        expected.extend(nodes[..20].concat());
        // The rightmost leaf, the number of leaves, padding.
        expected.extend([0; 40]);
        assert_eq!(data, expected);
        assert!(initialize_tree(data, &authority, 0).is_err(), "never twice");
    }

    #[test]
    fn bytes_of_another_length_are_no_tree() {
        let mut words = zeroes();
        let data: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        for length in [0, HEADER_BYTES, BYTES - 8] {
            assert!(tree_of(&mut data[..length]).is_err());
        }
        assert!(tree_of(data).is_ok());
    }

    #[test]
    fn a_leaf_is_the_hash_of_domain_address_and_all_fields() {
        let length = 8 + ExecutionRecord::INIT_SPACE;
        let mut data: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
        let mut preimage = b"agent-marketplace:archive:v1".to_vec();
        preimage.extend([3; 32]);
        preimage.extend(&data[8..]);
        let mut lamports = 1;
        let leaf = leaf_of(&account(&system_program::ID, &mut lamports, &mut data)).unwrap();
        assert_eq!(leaf, hashv(&[&preimage]).0);
        let mut short = vec![0; length - 1];
        assert!(leaf_of(&account(&crate::ID, &mut lamports, &mut short)).is_err());
    }
}
