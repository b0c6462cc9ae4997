//! The marketplace's check of a signature, over any message; for tests only, deployed nowhere.
//!
//! A settle's message is a text of 71 bytes with a hash in it, so that published vectors cannot be put to it. This
//! program hands key, signature and message of its instruction data to the very function that a settle calls. It
//! compiles the marketplace's files instead of depending on its crate: a build of that without its entry point would
//! lie where the marketplace itself is expected.

use anchor_lang::prelude::*;

#[macro_use]
#[path = "../../../../programs/marketplace/src/guard.rs"]
pub mod guard;

#[path = "../../../../programs/marketplace/src/errors.rs"]
pub mod errors;
#[path = "../../../../programs/marketplace/src/signature.rs"]
pub mod signature;

/// What signature.rs asks of the marketplace's constants, for proofs of possession.
pub mod constants {
    /// As in the marketplace; `verify` needs none of it.
    pub const REGISTER_DOMAIN: &[u8] = b"agent-marketplace:register:v1:";
}

declare_id!("6ATAhYgKAnPB3R9jBsKYWEszrjEZ2TcNy3sncUAU3tbD");

/// Why an instruction fails.
#[error_code]
pub enum VerifierError {
    #[msg("The marketplace refuses the signature")]
    Refused,
}

#[program]
pub mod test_verifier {
    use super::*;

    /// Succeeds where the marketplace takes `signature` for `key`'s over `message`, and fails with Refused elsewhere.
    pub fn verify(
        _ctx: Context<Verify>,
        key: [u8; 32],
        signature: [u8; 64],
        message: Vec<u8>,
    ) -> Result<()> {
        require!(
            signature::verify(&key, &signature, &message),
            VerifierError::Refused
        );
        Ok(())
    }
}

/// `verify` reads no account.
#[derive(Accounts)]
pub struct Verify {}
