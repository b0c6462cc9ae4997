//! Writes events to the log.

use anchor_lang::prelude::*;
use anchor_lang::solana_program::log::sol_log_data;
use anchor_lang::Event;

/// Write the event to the log.
pub fn emit<E: Event>(event: &E) -> Result<()> {
    sol_log_data(&[&event.data()]);
    Ok(())
}
