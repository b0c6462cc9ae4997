//! The checks of every instruction and their errors. `ensure!` replaces Anchor's `require!`. Its error
//! is only the code. Clients look up its name and text in the IDL, so both stay out of the binary.

use anchor_lang::error::Error;
use anchor_lang::prelude::{ProgramError, Pubkey};

use crate::errors::MarketplaceError;

/// The error of a failed check. Never inlined, so that a check costs a comparison and a call.
#[cold]
#[inline(never)]
pub fn fail(error: MarketplaceError) -> Error {
    ProgramError::Custom(error.into()).into()
}

/// Return with the error unless the condition holds. A `MarketplaceError` needs only its name.
macro_rules! ensure {
    ($condition:expr, $error:expr $(,)?) => {
        if !($condition) {
            #[allow(unused_imports)]
            use $crate::errors::MarketplaceError::*;
            return Err($crate::guard::fail($error));
        }
    };
}

/// Two addresses are the same. For accounts whose address depends on more than a constraint can say.
pub fn require_address(key: &Pubkey, address: &Pubkey) -> anchor_lang::Result<()> {
    ensure!(key == address, WrongAddress);
    Ok(())
}
