//! The account of an archive's Merkle tree, in the layout of SPL Account Compression, so readers of its trees can read
//! ours: a header of 56 bytes, then `ConcurrentMerkleTree`, then the canopy, which stores the nodes of the upper levels
//! so that a proof on chain needs only the lower ones. Created with the system program and owned by this program. After
//! its registration, it only grows: `archive_executions` and the moves of unclaimed refunds append to it.

use anchor_lang::prelude::*;
use solana_program::keccak::hashv;
use spl_concurrent_merkle_tree::concurrent_merkle_tree::{ConcurrentMerkleTree, ProveLeafArgs};
use spl_concurrent_merkle_tree::node::{empty_node, Node, EMPTY};

use crate::constants::*;
use crate::creation::{rent_exempt_minimum, save};
use crate::errors::MarketplaceError;
use crate::guard::fail;
use crate::state::{Archive, ExecutionRecord, RecordHead, UnclaimedRefund};

/// The tree that follows the header.
pub type ArchiveTree =
    ConcurrentMerkleTree<{ ARCHIVE_DEPTH as usize }, { ARCHIVE_BUFFER as usize }>;

/// Bytes before the tree.
const HEADER_BYTES: usize = 56;
const TREE_BYTES: usize = std::mem::size_of::<ArchiveTree>();
/// Position of the root if the tree's nodes are numbered from 1, level by level. The canopy starts with node 2.
const FIRST_IN_CANOPY: usize = 2;
/// Account type "concurrent Merkle tree" and header version 1, as SPL Account Compression numbers them.
const HEADER_KIND: [u8; 2] = [1, 0];

/// The account can become a tree: owned by this program, of the exact size, all zero and rent-exempt.
pub fn require_new_tree(account: &AccountInfo) -> Result<()> {
    let data = account.try_borrow_data()?;
    ensure!(account.owner == &crate::ID && data.len() == ARCHIVE_TREE_BYTES as usize, InvalidTree);
    // If the first byte is zero and each byte equals the next one, all bytes are zero. The comparison is a call of the
    // runtime, at a hundredth of the cost of a loop.
    let is_zero = data.first() == Some(&0) && data.get(1..) == data.get(..data.len() - 1);
    ensure!(is_zero && account.lamports() >= rent_exempt_minimum(data.len())?, InvalidTree);
    Ok(())
}

/// Write header and empty tree into the bytes of a new one.
#[inline(never)]
pub fn initialize_tree(data: &mut [u8], authority: &Pubkey, slot: u64) -> Result<()> {
    tree_of(data)?.0.initialize().map_err(|_| fail(MarketplaceError::InvalidTree))?;
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

/// The tree and the canopy in the bytes of their account, to be changed.
fn tree_of(data: &mut [u8]) -> Result<(&mut ArchiveTree, &mut [Node])> {
    let parts = data.split_at_mut_checked(HEADER_BYTES + TREE_BYTES);
    parts
        .and_then(|(head, canopy)| {
            let tree = bytemuck::try_from_bytes_mut(head.get_mut(HEADER_BYTES..)?).ok()?;
            Some((tree, bytemuck::try_cast_slice_mut(canopy).ok()?))
        })
        .ok_or_else(|| fail(MarketplaceError::InvalidTree))
}

/// The tree and the canopy in the bytes of their account.
fn read_tree(data: &[u8]) -> Result<(&ArchiveTree, &[Node])> {
    let parts = data.split_at_checked(HEADER_BYTES + TREE_BYTES);
    parts
        .and_then(|(head, canopy)| {
            let tree = bytemuck::try_from_bytes(head.get(HEADER_BYTES..)?).ok()?;
            Some((tree, bytemuck::try_cast_slice(canopy).ok()?))
        })
        .ok_or_else(|| fail(MarketplaceError::InvalidTree))
}

/// Append leaves to an archive's tree, and count them.
#[inline(never)]
pub fn append_leaves(
    archive: &mut Account<Archive>,
    tree: &AccountInfo,
    leaves: &[Node],
) -> Result<()> {
    let mut data = tree.try_borrow_mut_data()?;
    let (tree, canopy) = tree_of(&mut data)?;
    for leaf in leaves {
        append_leaf(tree, canopy, *leaf)?;
        archive.count = archive.count.saturating_add(1);
    }
    archive.invariant(tree.rightmost_proof.index)?;
    save(archive)
}

/// Append a leaf, and store the new nodes of the upper levels in the canopy.
fn append_leaf(tree: &mut ArchiveTree, canopy: &mut [Node], leaf: Node) -> Result<()> {
    let unsound = || fail(MarketplaceError::ArchiveUnsound);
    tree.append(leaf).map_err(|_| unsound())?;
    let latest = usize::try_from(tree.active_index).unwrap_or(usize::MAX);
    let change = tree.change_logs.get(latest).ok_or_else(unsound)?;
    for (level, node) in change.path.iter().enumerate().skip(LOWER_LEVELS) {
        *canopy.get_mut(in_canopy(change.index, level)).ok_or_else(unsound)? = *node;
    }
    Ok(())
}

/// The tree has this leaf now. `proof` is the path's siblings below the canopy, from the bottom up, and may be as old as
/// the tree's buffer.
#[inline(never)]
pub fn require_leaf(data: &[u8], leaf: Node, index: u32, proof: &[Node]) -> Result<()> {
    let (tree, canopy) = read_tree(data)?;
    ensure!(proof.len() == LOWER_LEVELS && index < tree.rightmost_proof.index, ArchiveProofInvalid);
    let mut nodes = Vec::with_capacity(ARCHIVE_DEPTH.into());
    nodes.extend_from_slice(proof);
    let mut empty = empty_node(LOWER_LEVELS as u32);
    for level in LOWER_LEVELS..ARCHIVE_DEPTH.into() {
        // The sibling's number differs from the node's in the last bit.
        let sibling = canopy.get(in_canopy(index, level) ^ 1).copied();
        let sibling = sibling.unwrap_or(EMPTY);
        nodes.push(if sibling == EMPTY { empty } else { sibling });
        empty = hashv(&[&empty, &empty]).0;
    }
    // No root is zero. For an unknown root, the tree applies all changes that it keeps to the proof, so that a proof
    // need not be of the latest root. The result is compared with the latest root.
    let args = ProveLeafArgs { current_root: EMPTY, leaf, proof_vec: nodes, index };
    tree.prove_leaf(&args).map_err(|_| fail(MarketplaceError::ArchiveProofInvalid))
}

/// Levels below those of the canopy.
const LOWER_LEVELS: usize = ARCHIVE_PROOF_NODES as usize;

/// Index in the canopy of the node above leaf `index`, `level` levels up.
fn in_canopy(index: u32, level: usize) -> usize {
    let number = (u64::from(ARCHIVE_CAPACITY) + u64::from(index)) >> level;
    usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(FIRST_IN_CANOPY)
}

/// A record's leaf: the hash of a prefix, its address, the fields that a dispute needs, and the hash of the other
/// fields. The fields are its account's data after the discriminator.
pub fn leaf_of(record: &AccountInfo) -> Result<Node> {
    let data = record.try_borrow_data()?;
    let start = ExecutionRecord::DISCRIMINATOR.len();
    let fields = data
        .get(start..start + ExecutionRecord::INIT_SPACE)
        .ok_or_else(|| fail(MarketplaceError::RecordUnsound))?;
    let (head, rest) = fields.split_at(RecordHead::INIT_SPACE);
    Ok(hash_leaf(record.key, head, &hashv(&[rest]).0))
}

/// The leaf of a record that was archived, from the fields that a dispute needs and the hash of the others.
pub fn leaf_from(record: &Pubkey, head: &RecordHead, rest_hash: &[u8; 32]) -> Result<Node> {
    Ok(hash_leaf(record, &head.try_to_vec()?, rest_hash))
}

/// The leaf of an unclaimed refund: the hash of a prefix and its fields.
pub fn unclaimed_leaf(refund: &UnclaimedRefund) -> Result<Node> {
    Ok(hashv(&[UNCLAIMED_LEAF_DOMAIN, &refund.try_to_vec()?]).0)
}

fn hash_leaf(record: &Pubkey, head: &[u8], rest_hash: &[u8; 32]) -> Node {
    hashv(&[ARCHIVE_LEAF_DOMAIN, record.as_ref(), head, rest_hash]).0
}

#[cfg(test)]
mod tests;
