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
        .0
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
        *canopy
            .get_mut(in_canopy(change.index, level))
            .ok_or_else(unsound)? = *node;
    }
    Ok(())
}

/// The tree has this leaf now. `proof` is the path's siblings below the canopy, from the bottom up, and may be as old as
/// the tree's buffer.
#[inline(never)]
pub fn require_leaf(data: &[u8], leaf: Node, index: u32, proof: &[Node]) -> Result<()> {
    let (tree, canopy) = read_tree(data)?;
    ensure!(
        proof.len() == LOWER_LEVELS && index < tree.rightmost_proof.index,
        MarketplaceError::ArchiveProofInvalid
    );
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
    let args = ProveLeafArgs {
        current_root: EMPTY,
        leaf,
        proof_vec: nodes,
        index,
    };
    tree.prove_leaf(&args)
        .map_err(|_| fail(MarketplaceError::ArchiveProofInvalid))
}

/// Levels below those of the canopy.
const LOWER_LEVELS: usize = ARCHIVE_PROOF_NODES as usize;

/// Index in the canopy of the node above leaf `index`, `level` levels up.
fn in_canopy(index: u32, level: usize) -> usize {
    let number = (u64::from(ARCHIVE_CAPACITY) + u64::from(index)) >> level;
    usize::try_from(number)
        .unwrap_or(usize::MAX)
        .saturating_sub(FIRST_IN_CANOPY)
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
mod tests {
    use super::*;
    use crate::state::ExecutionStatus;
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
        let nodes_of_canopy = (1 << (ARCHIVE_CANOPY_DEPTH + 1)) - FIRST_IN_CANOPY;
        assert_eq!(HEADER_BYTES + TREE_BYTES + 32 * nodes_of_canopy, BYTES);
        assert_eq!(ARCHIVE_DEPTH, ARCHIVE_CANOPY_DEPTH + ARCHIVE_PROOF_NODES);
        assert_eq!(RecordHead::INIT_SPACE, usize::from(RECORD_HEAD_BYTES));
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
        // The rightmost leaf, the number of leaves, padding; an empty canopy.
        expected.extend([0; 40]);
        expected.extend(vec![0; 32 * nodes_of_canopy]);
        assert_eq!(data, expected);
        assert!(initialize_tree(data, &authority, 0).is_err(), "never twice");
    }

    #[test]
    fn bytes_of_another_length_are_no_tree() {
        let mut words = zeroes();
        let data: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        for length in [0, HEADER_BYTES, HEADER_BYTES + TREE_BYTES - 8, BYTES - 8] {
            assert!(tree_of(&mut data[..length]).is_err());
        }
        assert!(tree_of(data).is_ok());
    }

    /// Siblings on the path of a leaf to the root, from a full computation over all leaves.
    fn proof_of(leaves: &[Node], index: usize) -> Vec<Node> {
        let mut level = leaves.to_vec();
        let (mut at, mut empty, mut proof) = (index, EMPTY, Vec::new());
        for _ in 0..ARCHIVE_DEPTH {
            proof.push(level.get(at ^ 1).copied().unwrap_or(empty));
            level = level
                .chunks(2)
                .map(|pair| hashv(&[&pair[0], pair.get(1).unwrap_or(&empty)]).0)
                .collect();
            empty = hashv(&[&empty, &empty]).0;
            at /= 2;
        }
        proof
    }

    #[test]
    fn a_leaf_is_proven_by_its_lower_nodes_while_the_buffer_knows_their_changes() {
        let invalid = Err(fail(MarketplaceError::ArchiveProofInvalid));
        let mut words = zeroes();
        let data: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        assert!(initialize_tree(data, &Pubkey::default(), 0).is_ok());
        let leaf = |at: usize| hashv(&[&at.to_le_bytes()]).0;
        let mut leaves = Vec::new();
        let mut grow = |data: &mut [u8], count: usize| {
            let (tree, canopy) = tree_of(data).unwrap();
            for at in leaves.len()..count {
                append_leaf(tree, canopy, leaf(at)).unwrap();
                leaves.push(leaf(at));
            }
            leaves.clone()
        };
        let check = |data: &[u8], leaves: &[Node], index: usize| {
            let proof = proof_of(leaves, index);
            require_leaf(data, leaf(index), index as u32, &proof[..LOWER_LEVELS])
        };
        let one = grow(data, 1);
        assert_eq!(check(data, &one, 0), Ok(()));
        assert_eq!(
            require_leaf(data, EMPTY, 1, &proof_of(&one, 1)[..10]),
            invalid
        );
        // Two blocks of 1,024 leaves and a part of the third: the canopy has nodes of several paths.
        let first = grow(data, 2_100);
        for index in [0, 1, 1_023, 1_024, 2_047, 2_048, 2_099] {
            assert_eq!(check(data, &first, index), Ok(()), "{index}");
        }
        let proof = proof_of(&first, 2_050);
        for (leaf, index, proof) in [
            (leaf(2_051), 2_050, &proof[..LOWER_LEVELS]),
            (leaf(2_050), 2_051, &proof[..LOWER_LEVELS]),
            (leaf(2_050), 2_050, &proof[..9]),
            (leaf(2_050), 2_050, &proof[..11]),
            (
                leaf(2_050),
                ARCHIVE_CAPACITY + 2_050,
                &proof[..LOWER_LEVELS],
            ),
            (proof_of(&first, 2_052)[1], 2_050, &proof[..LOWER_LEVELS]),
        ] {
            assert_eq!(require_leaf(data, leaf, index, proof), invalid, "{index}");
        }
        // The buffer applies its last 63 changes; an older proof of the block that fills is invalid, one of a full
        // block never is.
        grow(data, 2_163);
        assert_eq!(check(data, &first, 2_050), Ok(()));
        let now = grow(data, 2_300);
        assert_eq!(check(data, &first, 2_099), invalid);
        assert_eq!(check(data, &now, 2_099), Ok(()));
        assert_eq!(check(data, &first, 1_500), Ok(()));
        let (tree, _) = tree_of(data).unwrap();
        assert_eq!(tree.get_root(), {
            let proof = proof_of(&now, 0);
            proof
                .iter()
                .fold(leaf(0), |node, sibling| hashv(&[&node, sibling]).0)
        });
    }

    #[test]
    fn a_leaf_is_the_hash_of_domain_address_head_and_hash_of_the_rest() {
        let length = 8 + ExecutionRecord::INIT_SPACE;
        let mut data: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
        let mut preimage = b"agent-marketplace:archive:v1".to_vec();
        preimage.extend([3; 32]);
        preimage.extend(&data[8..110]);
        preimage.extend(hashv(&[&data[110..]]).0);
        let mut lamports = 1;
        let leaf = leaf_of(&account(&system_program::ID, &mut lamports, &mut data)).unwrap();
        assert_eq!(leaf, hashv(&[&preimage]).0);
        let mut short = vec![0; length - 1];
        assert!(leaf_of(&account(&crate::ID, &mut lamports, &mut short)).is_err());
    }

    #[test]
    fn a_leaf_follows_from_its_head_and_the_hash_of_the_rest() {
        let head = RecordHead {
            version: 1,
            status: ExecutionStatus::Completed,
            execution_id: [2; 16],
            listing: Pubkey::new_from_array([3; 32]),
            caller: Pubkey::new_from_array([4; 32]),
            price: 5,
            settled_at: 6,
            dispute_window_seconds: 7,
        };
        let record = Pubkey::new_from_array([8; 32]);
        let preimage = [
            &b"agent-marketplace:archive:v1"[..],
            &[8; 32],
            &head.try_to_vec().unwrap(),
            &[9; 32],
        ];
        let leaf = leaf_from(&record, &head, &[9; 32]);
        assert_eq!(leaf, Ok(hashv(&[&preimage.concat()]).0));
    }

    #[test]
    fn the_leaf_of_an_unclaimed_refund_is_the_hash_of_domain_and_fields() {
        let refund = UnclaimedRefund {
            source: Pubkey::new_from_array([2; 32]),
            caller: Pubkey::new_from_array([3; 32]),
            amount: 0x0405,
            unclaimed_at: -6,
        };
        let preimage = [
            &b"agent-marketplace:unclaimed:v1"[..],
            &[2; 32],
            &[3; 32],
            &0x0405u64.to_le_bytes(),
            &(-6i64).to_le_bytes(),
        ];
        assert_eq!(unclaimed_leaf(&refund), Ok(hashv(&[&preimage.concat()]).0));
    }
}
