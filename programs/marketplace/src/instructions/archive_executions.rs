//! Turns ended records into leaves and returns their rent. Anyone may call it. A record that cannot be archived yet, or
//! that was archived before, is skipped, so it does not fail the others.

use anchor_lang::prelude::*;
use anchor_lang::system_program;

use crate::constants::*;
use crate::creation::{can_take, read_state};
use crate::errors::MarketplaceError;
use crate::events::{ArchivedExecution, ExecutionsArchived};
use crate::guard::{fail, require_address};
use crate::self_call::call_self;
use crate::state::{append_leaves, leaf_of, Archive, Config, ExecutionRecord};

/// Accounts of `archive_executions`; the remaining ones are pairs of a record and its rent sponsor, all writable.
#[event_cpi]
#[derive(Accounts)]
pub struct ArchiveExecutions<'info> {
    #[account(mut,
        seeds = [ARCHIVE_SEED, &archive.index.to_le_bytes()], bump = archive.bump,
        has_one = tree @ fail(MarketplaceError::WrongAddress))]
    pub archive: Box<Account<'info, Archive>>,
    /// CHECK: the archive's tree, by has_one.
    #[account(mut)]
    pub tree: UncheckedAccount<'info>,
    #[account(address = CONFIG_ADDRESS)]
    pub config: Box<Account<'info, Config>>,
}

impl ArchiveExecutions<'_> {
    /// program is this program, because it calls itself; the records are at most `MAX_ARCHIVED_RECORDS`. The handler
    /// checks each record and its rent sponsor.
    pub fn validate(&self, remaining: &[AccountInfo]) -> Result<()> {
        require_address(self.program.key, &crate::ID)?;
        ensure!(remaining.len() <= 2 * usize::from(MAX_ARCHIVED_RECORDS), TooManyRecords);
        Ok(())
    }
}

/// Choose the records, append them, send the event and close them, in this order: the runtime allows no call between
/// programs once lamports have moved.
pub fn archive_executions_handler(ctx: Context<ArchiveExecutions>) -> Result<()> {
    let accounts = &ctx.accounts;
    let ripeness = Ripeness {
        record_seconds: accounts.config.record_seconds,
        now: Clock::get()?.unix_timestamp,
    };
    let (chosen, executions) = choose(ctx.remaining_accounts, accounts.archive.room()?, &ripeness)?;
    let event = ExecutionsArchived {
        archive: ctx.accounts.archive.key(),
        tree: ctx.accounts.tree.key(),
        first_index: ctx.accounts.archive.count,
        executions,
    };
    let leaves: Vec<_> = chosen.iter().map(|(record, _)| leaf_of(record)).collect::<Result<_>>()?;
    append_leaves(&mut ctx.accounts.archive, &ctx.accounts.tree, &leaves)?;
    call_self(&event, &ctx.accounts.event_authority, ctx.bumps.event_authority)?;
    for (record, sponsor) in chosen {
        let lamports = record.lamports();
        record.sub_lamports(lamports)?;
        sponsor.add_lamports(lamports)?;
        record.assign(&system_program::ID);
        record.resize(0)?;
    }
    Ok(())
}

/// The time by which records are judged.
struct Ripeness {
    record_seconds: u32,
    now: i64,
}

type Pairs<'a, 'info> = Vec<(&'a AccountInfo<'info>, &'a AccountInfo<'info>)>;

/// The pairs that can be archived now, each once and at most `room`, and the fields of their records.
#[inline(never)]
fn choose<'a, 'info>(
    remaining: &'a [AccountInfo<'info>],
    room: u32,
    ripeness: &Ripeness,
) -> Result<(Pairs<'a, 'info>, Vec<ArchivedExecution>)> {
    let most = usize::from(MAX_ARCHIVED_RECORDS);
    let mut chosen: Pairs = Vec::with_capacity(most);
    let mut executions = Vec::with_capacity(most);
    for pair in remaining.chunks_exact(2) {
        let [record, sponsor] = pair else { continue };
        let is_new = chosen.iter().all(|(earlier, _)| earlier.key != record.key);
        if executions.len() >= room as usize || !is_new || !can_receive(sponsor, record)? {
            continue;
        }
        if let Some(execution) = read_ripe(record, sponsor.key, ripeness) {
            chosen.push((record, sponsor));
            executions.push(ArchivedExecution { record: *record.key, execution });
        }
    }
    ensure!(!chosen.is_empty(), NothingToArchive);
    Ok((chosen, executions))
}

/// The fields of a record that is at its address, can be archived and has this rent sponsor; otherwise `None`.
#[inline(never)]
fn read_ripe(
    record: &AccountInfo,
    sponsor: &Pubkey,
    ripeness: &Ripeness,
) -> Option<ExecutionRecord> {
    let execution: ExecutionRecord = read_state(record)?;
    let ripe = record.is_writable
        && execution.is_archivable(ripeness.record_seconds, ripeness.now)
        && execution.rent_sponsor == *sponsor
        && execution.is_at(record.key);
    ripe.then_some(execution)
}

/// True if the sponsor can take the record's lamports without failing the whole transaction. An account of this
/// program is refused: it could be a record that this call closes.
#[inline(never)]
fn can_receive(sponsor: &AccountInfo, record: &AccountInfo) -> Result<bool> {
    Ok(sponsor.owner != &crate::ID && can_take(sponsor, record.lamports())?)
}
