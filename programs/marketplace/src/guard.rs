//! The checks of every instruction and the errors they end in. `ensure!` takes the place of Anchor's `require!`:
//! its error is the bare code, which clients name by the IDL, so that names and texts stay out of the binary.

use anchor_lang::error::Error;
use anchor_lang::prelude::ProgramError;

use crate::errors::MarketplaceError;

/// The error of a failed check. Never inlined, so that a check costs a comparison and a call.
#[cold]
#[inline(never)]
pub fn fail(error: MarketplaceError) -> Error {
    ProgramError::Custom(error.into()).into()
}

/// Return with the error unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $error:expr $(,)?) => {
        if !($condition) {
            return Err($crate::guard::fail($error));
        }
    };
}
