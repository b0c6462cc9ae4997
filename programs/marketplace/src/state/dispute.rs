//! A caller's claim that a settled result is not what was paid for. At most one per record. It holds everything that its
//! outcome needs, because the record may be archived. It stays until its record can no longer be disputed.

use anchor_lang::prelude::*;

use crate::constants::{DISPUTE_LAPSE_SECONDS, ENDED_DISPUTE_SECONDS};
use crate::creation::{can_take, spendable};

/// State of a dispute.
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
    /// Open, or its outcome.
    pub outcome: DisputeOutcome,
    /// Bump of this address.
    pub bump: u8,
    /// The disputed record.
    pub record: Pubkey,
    /// The record's execution id.
    pub execution_id: [u8; 16],
    /// The record's listing, whose collateral can be slashed.
    pub listing: Pubkey,
    /// The record's caller, who disputes it.
    pub caller: Pubkey,
    /// The account that paid this account's rent and the bond.
    pub rent_sponsor: Pubkey,
    /// SHA-256 of the evidence; the event has its URI.
    pub evidence_hash: [u8; 32],
    /// SHA-256 of the admin's written reason; zero before the outcome.
    pub reason_hash: [u8; 32],
    /// When it was opened, unix seconds; the answer is due 72 hours later.
    pub opened_at: i64,
    /// Lamports of the bond that are still in this account.
    pub bond: u64,
    /// Price of the disputed execution, base units.
    pub price: u64,
    /// What went, or is owed, to the caller, base units.
    pub amount_to_caller: u64,
    /// What the creator lost, base units. What the caller did not get of it is forfeited. What the caller got above it
    /// came from earlier forfeits.
    pub amount_slashed: u64,
    /// Part of `amount_to_caller` that waits until the caller's account can receive it, base units.
    pub owed: u64,
    /// When the outcome was reached, unix seconds; 0 while open.
    pub resolved_at: i64,
}

impl DisputeOutcome {
    /// The allowed transitions: Open to any outcome.
    pub fn can_become(self, next: Self) -> bool {
        self == Self::Open && next != Self::Open
    }
}

impl Dispute {
    /// Reach an outcome.
    pub fn end(&mut self, outcome: DisputeOutcome, reason_hash: [u8; 32], now: i64) -> Result<()> {
        ensure!(self.outcome.can_become(outcome), DisputeNotOpen);
        if outcome == DisputeOutcome::Lapsed {
            ensure!(now >= self.opened_at.saturating_add(DISPUTE_LAPSE_SECONDS), LapseTooEarly);
        }
        self.outcome = outcome;
        self.reason_hash = reason_hash;
        self.resolved_at = now;
        Ok(())
    }

    /// The account can be closed: it owes nothing, and its record can no longer be disputed. The record settled before
    /// this outcome, and no dispute window is longer than this wait.
    pub fn require_closable(&self, now: i64) -> Result<()> {
        ensure!(self.outcome != DisputeOutcome::Open && self.owed == 0, DisputeNotEnded);
        ensure!(now >= self.resolved_at.saturating_add(ENDED_DISPUTE_SECONDS), CloseTooEarly);
        Ok(())
    }

    /// Mark the owed award as paid. Returns its base units.
    pub fn take_owed(&mut self) -> Result<u64> {
        ensure!(self.owed > 0, NothingOwed);
        Ok(std::mem::take(&mut self.owed))
    }

    /// Only an upheld dispute awards anything, at most the price to the caller. An open one has no time of outcome.
    pub fn invariant(&self) -> Result<()> {
        let nothing = self.amount_to_caller == 0 && self.amount_slashed == 0;
        let sound = match self.outcome {
            DisputeOutcome::Open => nothing && self.resolved_at == 0,
            DisputeOutcome::Rejected | DisputeOutcome::Lapsed => nothing && self.resolved_at > 0,
            DisputeOutcome::Upheld => self.amount_to_caller <= self.price && self.resolved_at > 0,
        };
        ensure!(sound && self.owed <= self.amount_to_caller, DisputeUnsound);
        Ok(())
    }
}

/// Take the payable part of the bond. Returns its lamports. A part that would fail the whole transaction stays in the
/// dispute's account: the receiver cannot take it, or the account needs it for its own rent after a rent increase. So
/// neither a receiver nor the rent can block an outcome.
pub fn take_bond(dispute: &mut Account<Dispute>, to: &AccountInfo) -> Result<u64> {
    let paid = spendable(dispute.as_ref(), dispute.bond)?;
    if !can_take(to, paid)? {
        return Ok(0);
    }
    dispute.bond = dispute.bond.saturating_sub(paid);
    Ok(paid)
}

/// Pay the lamports that `take_bond` took. Call it after the last call to another program.
pub fn pay_bond(dispute: &Account<Dispute>, to: &AccountInfo, paid: u64) -> Result<()> {
    dispute.sub_lamports(paid)?;
    to.add_lamports(paid)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::MarketplaceError::*;
    use crate::guard::fail;

    fn dispute() -> Dispute {
        Dispute {
            version: 1,
            outcome: DisputeOutcome::Open,
            bump: 9,
            record: Pubkey::new_from_array([1; 32]),
            execution_id: [7; 16],
            listing: Pubkey::new_from_array([2; 32]),
            caller: Pubkey::new_from_array([3; 32]),
            rent_sponsor: Pubkey::new_from_array([4; 32]),
            evidence_hash: [5; 32],
            reason_hash: [0; 32],
            opened_at: 100,
            bond: 6,
            price: 50,
            amount_to_caller: 0,
            amount_slashed: 0,
            owed: 0,
            resolved_at: 0,
        }
    }

    #[test]
    fn only_an_upheld_dispute_awards_and_an_award_is_taken_once() {
        use DisputeOutcome::*;
        for (outcome, to_caller, owed, sound) in [
            (Open, 0, 0, false),
            (Rejected, 0, 0, true),
            (Rejected, 1, 0, false),
            (Lapsed, 1, 0, false),
            (Upheld, 50, 50, true),
            (Upheld, 51, 0, false),
            (Upheld, 49, 50, false),
        ] {
            let mut ended = dispute();
            (ended.outcome, ended.resolved_at) = (outcome, 200);
            (ended.amount_to_caller, ended.owed) = (to_caller, owed);
            assert_eq!(ended.invariant().is_ok(), sound, "{outcome:?} {to_caller} {owed}");
        }
        let mut upheld = dispute();
        upheld.owed = 7;
        assert_eq!(upheld.take_owed(), Ok(7));
        assert_eq!(upheld.take_owed(), Err(fail(NothingOwed)));
    }
}
