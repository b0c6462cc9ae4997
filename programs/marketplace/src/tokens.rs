//! Reads token accounts, moves tokens and closes accounts. Also checks receivers before a transfer, because
//! a transfer to an account that cannot receive fails the whole transaction.

use anchor_lang::prelude::*;
use anchor_spl::associated_token::get_associated_token_address;
use anchor_spl::token::spl_token::state::AccountState;
use anchor_spl::token::{self, CloseAccount, Token, TokenAccount, Transfer};

use crate::creation::used;
use crate::errors::MarketplaceError;

/// A token account of the classic Token program, or `None` if the account is not one.
pub fn read(account: &AccountInfo) -> Option<TokenAccount> {
    if account.owner != &token::ID {
        return None;
    }
    let data = account.try_borrow_data().ok()?;
    TokenAccount::try_deserialize(&mut data.as_ref()).ok()
}

/// Base units that an account holds; 0 if it is not a token account.
pub fn balance(account: &AccountInfo) -> u64 {
    read(account).map_or(0, |account| account.amount)
}

/// Base units that an account holds if this owner owns it; otherwise 0.
pub fn held_for(account: &AccountInfo, owner: &Pubkey) -> u64 {
    read(account).filter(|found| found.owner == *owner).map_or(0, |found| found.amount)
}

/// The token account, if it is of this mint and not frozen.
fn usable(account: &AccountInfo, mint: &Pubkey) -> Option<TokenAccount> {
    read(account).filter(|found| found.mint == *mint && found.state == AccountState::Initialized)
}

/// True if the account is a token account of this mint and not frozen.
pub fn can_receive(account: &AccountInfo, mint: &Pubkey) -> bool {
    usable(account, mint).is_some()
}

/// True if the account can receive and belongs to this owner.
pub fn can_receive_for(account: &AccountInfo, mint: &Pubkey, owner: &Pubkey) -> bool {
    usable(account, mint).is_some_and(|found| found.owner == *owner)
}

/// Seeds of an owner's associated token account, an address of the associated token program.
pub fn associated_seeds<'a>(owner: &'a Pubkey, mint: &'a Pubkey) -> [&'a [u8]; 3] {
    [owner.as_ref(), token::ID.as_array(), mint.as_ref()]
}

/// True if this is the address of the owner's associated token account, even if the account does not exist.
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

/// The account is a deposit's vault, which its address alone does not prove. Returns the base units that it holds.
pub fn require_vault(vault: &AccountInfo, mint: &Pubkey, deposit: &Pubkey) -> Result<u64> {
    let unsound = MarketplaceError::DepositVaultUnsound;
    require_owned(vault, mint, deposit, unsound).map(|vault| vault.amount)
}

/// The authority that moves tokens out of an account, and the token program.
pub struct TokenTransfer<'a, 'info> {
    pub authority: AccountInfo<'info>,
    /// Seeds of the authority if it is an address of this program; empty if it signed the transaction.
    pub seeds: &'a [&'a [u8]],
    pub token_program: &'a Program<'info, Token>,
}

impl<'info> TokenTransfer<'_, 'info> {
    /// Move base units. Does nothing if the amount is zero.
    pub fn send(
        &self,
        from: &AccountInfo<'info>,
        to: &AccountInfo<'info>,
        amount: u64,
    ) -> Result<()> {
        if amount == 0 {
            return Ok(());
        }
        let accounts =
            Transfer { from: from.clone(), to: to.clone(), authority: self.authority.clone() };
        token::transfer(self.call(accounts).with_signer(used(&[self.seeds])), amount)
    }

    /// Close an empty account; its rent goes to `destination`.
    pub fn close(
        &self,
        account: &AccountInfo<'info>,
        destination: &AccountInfo<'info>,
    ) -> Result<()> {
        let accounts = CloseAccount {
            account: account.clone(),
            destination: destination.clone(),
            authority: self.authority.clone(),
        };
        token::close_account(self.call(accounts).with_signer(used(&[self.seeds])))
    }

    fn call<'b, 'c, 'd, T: ToAccountMetas + ToAccountInfos<'info>>(
        &self,
        accounts: T,
    ) -> CpiContext<'b, 'c, 'd, 'info, T> {
        CpiContext::new(self.token_program.to_account_info(), accounts)
    }
}
