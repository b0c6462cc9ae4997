//! Spending rights of API keys, and gas balances.

use anchor_lang::prelude::*;

/// A wallet gave an API key a spending right.
#[event]
pub struct GrantCreated {
    pub grant: Pubkey,
    pub wallet: Pubkey,
    pub key_id: [u8; 16],
    pub per_execution_max: u64,
    pub period_max: u64,
    pub total_max: u64,
    pub period_seconds: u32,
    pub max_gas_lamports: u32,
    pub expires_at: i64,
    pub created_at: i64,
    /// The account that paid the grant's rent.
    pub rent_sponsor: Pubkey,
}

/// A wallet changed a key's limits.
#[event]
pub struct GrantUpdated {
    pub grant: Pubkey,
    pub wallet: Pubkey,
    pub key_id: [u8; 16],
    pub per_execution_max: u64,
    pub period_max: u64,
    pub total_max: u64,
    pub period_seconds: u32,
    pub max_gas_lamports: u32,
    pub expires_at: i64,
    /// Start of the current period, unix seconds, and its spend. A new period length starts a new period.
    pub period_start: i64,
    pub period_spent: u64,
}

/// A key's spending right was revoked permanently.
#[event]
pub struct GrantRevoked {
    pub grant: Pubkey,
    pub wallet: Pubkey,
    pub key_id: [u8; 16],
}

/// A grant's account was closed, which ended the key's spending right.
#[event]
pub struct GrantClosed {
    pub grant: Pubkey,
    pub wallet: Pubkey,
    pub key_id: [u8; 16],
}

/// A wallet withdrew lamports from its gas balance.
#[event]
pub struct GasWithdrawn {
    pub wallet: Pubkey,
    /// The `Spender` address, whose lamports are the gas balance.
    pub spender: Pubkey,
    pub lamports: u64,
    /// Lamports left in the gas balance.
    pub remaining: u64,
}
