//! The marketplace's check of a signature, over any message, and a call with nine arguments; for tests only, deployed
//! nowhere.
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
        require!(signature::verify(&key, &signature, &message), VerifierError::Refused);
        Ok(())
    }

    /// Succeeds where `mixed` of the nine numbers is `expected`, and fails with Refused elsewhere. A function's sixth
    /// argument and those after it go through the stack, in a way that depends on the version of SBPF; some of these
    /// are 128 bits wide and take two places each.
    #[allow(clippy::too_many_arguments)]
    pub fn pass_nine(
        _ctx: Context<Verify>,
        a: u64,
        b: u128,
        c: u8,
        d: u64,
        e: u128,
        f: u16,
        g: u64,
        h: u128,
        i: u32,
        expected: u128,
    ) -> Result<()> {
        require!(mixed(a, b, c, d, e, f, g, h, i) == expected, VerifierError::Refused);
        Ok(())
    }
}

/// Gives each argument a weight of its own, so that none can stand for another, and hands all of them on once more:
/// two frames with arguments on the stack at a time.
#[inline(never)]
#[allow(clippy::too_many_arguments)]
fn mixed(a: u64, b: u128, c: u8, d: u64, e: u128, f: u16, g: u64, h: u128, i: u32) -> u128 {
    let straight = weighed(a, b, c, d, e, f, g, h, i);
    let turned = weighed(g, h, i as u8, a, b, f, d, e, u32::from(c));
    straight.wrapping_mul(31).wrapping_add(turned)
}

#[inline(never)]
#[allow(clippy::too_many_arguments)]
fn weighed(a: u64, b: u128, c: u8, d: u64, e: u128, f: u16, g: u64, h: u128, i: u32) -> u128 {
    [a.into(), b, c.into(), d.into(), e, f.into(), g.into(), h, i.into()]
        .iter()
        .fold(0u128, |sum, argument| sum.wrapping_mul(1_000_003).wrapping_add(*argument))
}

/// Neither instruction reads an account.
#[derive(Accounts)]
pub struct Verify {}
