//! What leaves an execution's accounts at its end besides the price: the escrow's rent and the record's gas.

use anchor_lang::prelude::*;

use super::ExecutionRecord;
use crate::creation::{can_take, first_taker, spendable};
use crate::tokens::TokenTransfer;

/// Close a record's empty escrow. Its rent goes to its lender: the caller's `Spender` or the rent sponsor, else to the
/// record. After a rent increase, neither may be able to take it; then the empty escrow stays.
pub fn close_empty_escrow<'info>(
    record: &Account<'info, ExecutionRecord>,
    escrow: &AccountInfo<'info>,
    [spender, rent_sponsor]: [&AccountInfo<'info>; 2],
    transfer: &TokenTransfer<'_, 'info>,
) -> Result<()> {
    let lender = if record.spender_bump == 0 { rent_sponsor } else { spender };
    if let Some(rent_to) = first_taker(escrow, [lender, record.as_ref()])? {
        transfer.close(escrow, rent_to)?;
    }
    Ok(())
}

/// The gas that leaves a record at its end: the part that is taken, and the part that goes back.
pub struct Gas<'a, 'info> {
    /// None if nothing is taken.
    receiver: Option<&'a AccountInfo<'info>>,
    /// Lamports that the receiver takes.
    pub lamports: u32,
    giver: &'a AccountInfo<'info>,
    /// Lamports that go back to the giver.
    pub returned: u32,
}

/// Divide a record's gas. The first of `receivers` that can takes `taken`, the giver gets the rest back. A giver that
/// cannot take it leaves it to the receiver. If no receiver can take it, or the record needs it for its own rent after a
/// rent increase, it stays in the record until that is closed. So gas can never block a payment.
pub fn divide_gas<'a, 'info: 'a>(
    record: &Account<'info, ExecutionRecord>,
    taken: u32,
    giver: &'a AccountInfo<'info>,
    receivers: impl IntoIterator<Item = &'a AccountInfo<'info>>,
) -> Result<Gas<'a, 'info>> {
    let gas = spendable(record.as_ref(), record.gas_lamports.into())?;
    // At most `gas_lamports`, so it always fits.
    let gas = u32::try_from(gas).unwrap_or(u32::MAX);
    let rest = gas.saturating_sub(taken);
    let returned = if rest > 0 && can_take(giver, rest.into())? { rest } else { 0 };
    let lamports = gas.saturating_sub(returned);
    let mut divided = Gas { receiver: None, lamports: 0, giver, returned };
    if lamports > 0 {
        for receiver in receivers {
            if can_take(receiver, lamports.into())? {
                (divided.receiver, divided.lamports) = (Some(receiver), lamports);
                break;
            }
        }
    }
    Ok(divided)
}

impl<'info> Gas<'_, 'info> {
    /// The account that takes gas; the zero key if none.
    pub fn to(&self) -> Pubkey {
        self.receiver.map_or(Pubkey::default(), |to| to.key())
    }

    /// Move both parts. Call it after the last call to another program: the runtime refuses calls by a program that has
    /// moved lamports already.
    pub fn pay(&self, record: &Account<'info, ExecutionRecord>) -> Result<()> {
        let parts = [(self.receiver, self.lamports), (Some(self.giver), self.returned)];
        for (to, lamports) in parts {
            if let (Some(to), 1..) = (to, lamports) {
                record.sub_lamports(lamports.into())?;
                to.add_lamports(lamports.into())?;
            }
        }
        Ok(())
    }
}
