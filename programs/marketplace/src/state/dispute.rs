//! A caller's claim that a settled result is not what was paid for. One per record, ever; kept after its outcome.

use anchor_lang::prelude::*;

/// Where a dispute stands.
#[derive(AnchorSerialize, AnchorDeserialize, InitSpace, Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum DisputeOutcome {
    /// Waits for the admin's answer.
    Open,
    /// The admin found for the creator.
    Rejected,
    /// The admin found for the caller.
    Upheld,
    /// Nobody answered in time.
    Lapsed,
}

/// The claim, its bond and its outcome.
#[account]
#[derive(InitSpace, Debug)]
pub struct Dispute {
    /// Layout version, 1.
    pub version: u8,
    /// Where it stands.
    pub outcome: DisputeOutcome,
    /// Bump of this address.
    pub bump: u8,
    /// The disputed record.
    pub record: Pubkey,
    /// Who disputes: the record's caller.
    pub caller: Pubkey,
    /// SHA-256 of the evidence, whose URI is in the event.
    pub evidence_hash: [u8; 32],
    /// SHA-256 of the admin's written reason; zero before the outcome.
    pub reason_hash: [u8; 32],
    /// When it was opened, unix seconds; the answer is due 72 hours later.
    pub opened_at: i64,
    /// Lamports held in this account as bond.
    pub bond: u64,
    /// Slashed collateral that went, or is owed, to the caller, base units.
    pub amount_to_caller: u64,
    /// Slashed collateral that went to the treasury, base units.
    pub amount_to_treasury: u64,
    /// Part of `amount_to_caller` that waits until the caller's account can receive it, base units.
    pub owed: u64,
    /// When the outcome was reached, unix seconds; 0 while open.
    pub resolved_at: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First 8 bytes of SHA-256("account:Dispute").
    const DISCRIMINATOR: [u8; 8] = [0x24, 0x31, 0xf1, 0x43, 0x28, 0x24, 0xf1, 0x4a];

    #[test]
    fn layout() {
        let dispute = Dispute {
            version: 1,
            outcome: DisputeOutcome::Lapsed,
            bump: 9,
            record: Pubkey::new_from_array([1; 32]),
            caller: Pubkey::new_from_array([2; 32]),
            evidence_hash: [3; 32],
            reason_hash: [4; 32],
            opened_at: 5,
            bond: 6,
            amount_to_caller: 7,
            amount_to_treasury: 8,
            owed: 9,
            resolved_at: -1,
        };
        let mut bytes = Vec::new();
        dispute.try_serialize(&mut bytes).unwrap();
        let mut expected = [
            &DISCRIMINATOR[..],
            &[1, 3, 9],
            &[1; 32],
            &[2; 32],
            &[3; 32],
            &[4; 32],
        ]
        .concat();
        for number in [5u8, 6, 7, 8, 9] {
            expected.extend([number, 0, 0, 0, 0, 0, 0, 0]);
        }
        expected.extend([0xff; 8]);
        assert_eq!(bytes, expected);
        assert_eq!(bytes.len(), 8 + Dispute::INIT_SPACE);
    }
}
