use super::*;
use crate::errors::MarketplaceError::*;
use crate::state::ExecutionStatus;
use anchor_lang::solana_program::system_program;

const BYTES: usize = ARCHIVE_TREE_BYTES as usize;

/// Zeroes with the alignment of a tree's numbers, as in the runtime.
fn zeroes() -> Vec<u64> {
    vec![0; BYTES / 8]
}

fn account<'a>(owner: &'a Pubkey, lamports: &'a mut u64, data: &'a mut [u8]) -> AccountInfo<'a> {
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
    let invalid = Err(fail(ArchiveProofInvalid));
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
    assert_eq!(require_leaf(data, EMPTY, 1, &proof_of(&one, 1)[..10]), invalid);
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
        (leaf(2_050), ARCHIVE_CAPACITY + 2_050, &proof[..LOWER_LEVELS]),
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
        proof.iter().fold(leaf(0), |node, sibling| hashv(&[&node, sibling]).0)
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
    let preimage =
        [&b"agent-marketplace:archive:v1"[..], &[8; 32], &head.try_to_vec().unwrap(), &[9; 32]];
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
