//! A tree of ended executions. A leaf proves the contents of a record after its account is closed and its rent returned,
//! and can be disputed as the record could. Never closed. When it is nine tenths full, the next archive can be created.

use anchor_lang::prelude::*;

use crate::constants::*;

/// An archive and its tree.
#[account]
#[derive(InitSpace, Debug)]
pub struct Archive {
    /// Layout version, 1.
    pub version: u8,
    /// Bump of this address.
    pub bump: u8,
    /// Index of the archive, from 0.
    pub index: u16,
    /// The account that holds the Merkle tree.
    pub tree: Pubkey,
    /// Number of leaves in the tree; the next leaf gets this index.
    pub count: u32,
    /// When the tree was registered, unix seconds.
    pub created_at: i64,
}

impl Archive {
    /// True if the archive of this index can be created: it is the next one, and this one is nine tenths full.
    pub fn makes_way_for(&self, index: u16) -> bool {
        self.index.checked_add(1) == Some(index) && self.count >= ARCHIVE_SUCCESSOR_COUNT
    }

    /// Number of leaves that still fit. Fails if there are none.
    pub fn room(&self) -> Result<u32> {
        let room = ARCHIVE_CAPACITY.saturating_sub(self.count);
        ensure!(room > 0, ArchiveFull);
        Ok(room)
    }

    /// The count equals the tree's number of leaves.
    pub fn invariant(&self, leaves: u32) -> Result<()> {
        ensure!(self.count == leaves && self.count <= ARCHIVE_CAPACITY, ArchiveUnsound);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::MarketplaceError::*;
    use crate::guard::fail;

    fn archive(count: u32) -> Archive {
        Archive {
            version: 1,
            bump: 254,
            index: 0x0102,
            tree: Pubkey::new_from_array([4; 32]),
            count,
            created_at: -2,
        }
    }

    #[test]
    fn the_next_one_can_be_made_at_nine_tenths() {
        let full = ARCHIVE_CAPACITY;
        assert!(u64::from(ARCHIVE_SUCCESSOR_COUNT) * 10 >= u64::from(full) * 9);
        assert!(u64::from(ARCHIVE_SUCCESSOR_COUNT - 1) * 10 < u64::from(full) * 9);
        assert!(archive(ARCHIVE_SUCCESSOR_COUNT).makes_way_for(0x0103));
        assert!(!archive(ARCHIVE_SUCCESSOR_COUNT - 1).makes_way_for(0x0103));
        for index in [0, 0x0101, 0x0102, 0x0104, u16::MAX] {
            assert!(!archive(full).makes_way_for(index));
        }
        let last = Archive { index: u16::MAX, ..archive(full) };
        assert!(!last.makes_way_for(0));
    }

    #[test]
    fn takes_leaves_until_it_is_full_and_counts_them() {
        assert_eq!(archive(0).room(), Ok(ARCHIVE_CAPACITY));
        assert_eq!(archive(ARCHIVE_CAPACITY - 1).room(), Ok(1));
        for count in [ARCHIVE_CAPACITY, u32::MAX] {
            assert_eq!(archive(count).room(), Err(fail(ArchiveFull)));
        }
        assert!(archive(ARCHIVE_CAPACITY).invariant(ARCHIVE_CAPACITY).is_ok());
        assert!(archive(7).invariant(8).is_err());
        assert!(archive(ARCHIVE_CAPACITY + 1).invariant(ARCHIVE_CAPACITY + 1).is_err());
    }
}
