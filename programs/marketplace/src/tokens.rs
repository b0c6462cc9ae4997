//! Reads, moves and closes token accounts. What is asked of an account before money goes there is here too:
//! a transfer to one that cannot receive fails the whole transaction, so it is looked at first.

use anchor_lang::prelude::*;
use anchor_spl::associated_token::get_associated_token_address;
use anchor_spl::token::spl_token::state::AccountState;
use anchor_spl::token::{self, Token, TokenAccount};

use crate::calls::{call, Role};
use crate::errors::MarketplaceError;
use crate::packing::pack;

/// Numbers of the token program's instructions.
const TRANSFER: u8 = 3;
const SET_AUTHORITY: u8 = 6;
const CLOSE_ACCOUNT: u8 = 9;

/// What `TokenTransfer::appoint` can give away.
#[derive(Clone, Copy)]
pub enum Right {
    /// To move what is in the account.
    Owner = 2,
    /// To close the account.
    Close = 3,
}

/// A token account of the classic Token program, or nothing where the account is not one.
pub fn read(account: &AccountInfo) -> Option<TokenAccount> {
    if account.owner != &token::ID {
        return None;
    }
    let data = account.try_borrow_data().ok()?;
    TokenAccount::try_deserialize(&mut data.as_ref()).ok()
}

/// Base units that an account holds; none where it is no token account.
pub fn balance(account: &AccountInfo) -> u64 {
    read(account).map_or(0, |account| account.amount)
}

/// Base units that an account holds for this owner.
pub fn held_for(account: &AccountInfo, owner: &Pubkey) -> u64 {
    read(account)
        .filter(|found| found.owner == *owner)
        .map_or(0, |found| found.amount)
}

/// The account, if it is one of this mint that is not frozen.
fn usable(account: &AccountInfo, mint: &Pubkey) -> Option<TokenAccount> {
    read(account).filter(|found| found.mint == *mint && found.state == AccountState::Initialized)
}

/// Whether the account is one of this mint that is not frozen.
pub fn can_receive(account: &AccountInfo, mint: &Pubkey) -> bool {
    usable(account, mint).is_some()
}

/// Whether the account can receive, and its money would be the owner's.
pub fn can_receive_for(account: &AccountInfo, mint: &Pubkey, owner: &Pubkey) -> bool {
    usable(account, mint).is_some_and(|found| found.owner == *owner)
}

/// Seeds of an owner's associated token account, an address of the associated token program.
pub fn associated_seeds<'a>(owner: &'a Pubkey, mint: &'a Pubkey) -> [&'a [u8]; 3] {
    [owner.as_ref(), token::ID.as_array(), mint.as_ref()]
}

/// Whether this is the address of the owner's associated token account, whatever is there.
pub fn is_associated(account: &AccountInfo, mint: &Pubkey, owner: &Pubkey) -> bool {
    account.key() == get_associated_token_address(owner, mint)
}

/// The account belongs to the wallet and is of this mint.
pub fn require_owned(
    account: &AccountInfo,
    mint: &Pubkey,
    owner: &Pubkey,
    error: MarketplaceError,
) -> Result<TokenAccount> {
    let Some(found) = read(account) else {
        return Err(crate::guard::fail(error));
    };
    ensure!(found.owner == *owner && found.mint == *mint, error);
    Ok(found)
}

/// Who moves tokens out of an account, and by which program.
pub struct TokenTransfer<'a, 'info> {
    pub authority: AccountInfo<'info>,
    /// Seeds of the authority where it is an address of ours; empty where it signed the transaction.
    pub seeds: &'a [&'a [u8]],
    pub token_program: &'a Program<'info, Token>,
}

impl<'info> TokenTransfer<'_, 'info> {
    /// Move base units; nothing where the amount is zero.
    pub fn send(
        &self,
        from: &AccountInfo<'info>,
        to: &AccountInfo<'info>,
        amount: u64,
    ) -> Result<()> {
        if amount == 0 {
            return Ok(());
        }
        let [a, b, c, d, e, f, g, h] = amount.to_le_bytes();
        self.ask(&[TRANSFER, a, b, c, d, e, f, g, h], from, to)
    }

    /// Close an empty account; its rent goes to `destination`.
    pub fn close(
        &self,
        account: &AccountInfo<'info>,
        destination: &AccountInfo<'info>,
    ) -> Result<()> {
        self.ask(&[CLOSE_ACCOUNT], account, destination)
    }

    /// Give a right on an account to somebody else.
    pub fn appoint(&self, account: &AccountInfo<'info>, right: Right, to: &Pubkey) -> Result<()> {
        let data = pack::<35>(&[&[SET_AUTHORITY, right as u8, 1], to.as_ref()])?;
        let accounts = [(account, Role::Writes), (&self.authority, Role::Asks)];
        call(self.token_program.key, &data, accounts, [self.seeds, &[]])
    }

    fn ask(&self, data: &[u8], from: &AccountInfo<'info>, to: &AccountInfo<'info>) -> Result<()> {
        let accounts = [
            (from, Role::Writes),
            (to, Role::Writes),
            (&self.authority, Role::Asks),
        ];
        call(self.token_program.key, data, accounts, [self.seeds, &[]])
    }
}
