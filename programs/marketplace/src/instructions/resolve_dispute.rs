//! The admin's decision on a dispute: for the creator, or for the caller with an amount of the collateral.

use anchor_lang::prelude::*;
use anchor_spl::token::Token;

use crate::constants::*;
use crate::creation::save;
use crate::errors::MarketplaceError;
use crate::events::DisputeResolved;
use crate::guard::fail;
use crate::state::{
    pay_bond, take_bond, AgentListing, Config, CreatorCollateral, Dispute, DisputeOutcome, Slash,
};
use crate::tokens::{self, TokenTransfer};

/// Arguments of `resolve_dispute`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct ResolveDisputeArgs {
    /// True to decide for the caller.
    pub upheld: bool,
    /// Base units to take for the caller, and beyond the price as forfeit; 0 if rejected.
    pub amount: u64,
    /// SHA-256 of the admin's written reason.
    pub reason_hash: [u8; 32],
}

/// Accounts of `resolve_dispute`.
#[derive(Accounts)]
pub struct ResolveDispute<'info> {
    /// The admin.
    pub admin: Signer<'info>,
    #[account(address = CONFIG_ADDRESS, has_one = admin @ fail(MarketplaceError::NotAdmin))]
    pub config: Box<Account<'info, Config>>,
    #[account(
        mut,
        seeds = [DISPUTE_SEED, dispute.record.as_ref()],
        bump = dispute.bump,
        has_one = listing @ fail(MarketplaceError::WrongListing),
        has_one = rent_sponsor @ fail(MarketplaceError::WrongRentSponsor)
    )]
    pub dispute: Box<Account<'info, Dispute>>,
    #[account(
        mut,
        seeds = [LISTING_SEED, listing.creator.as_ref(), listing.listing_id.as_ref()],
        bump = listing.bump,
        has_one = creator @ fail(MarketplaceError::NotCreator)
    )]
    pub listing: Box<Account<'info, AgentListing>>,
    #[account(mut, seeds = [COLLATERAL_SEED, listing.key().as_ref()], bump = collateral.bump)]
    pub collateral: Box<Account<'info, CreatorCollateral>>,
    /// CHECK: the listing's vault, by its seeds.
    #[account(mut, seeds = [COLLATERAL_VAULT_SEED, listing.key().as_ref()], bump = collateral.vault_bump)]
    pub collateral_vault: UncheckedAccount<'info>,
    /// CHECK: the caller's associated token account, by its seeds; it may be missing or frozen.
    #[account(
        mut,
        seeds = [dispute.caller.as_ref(), token_program.key().as_ref(), config.usdc_mint.as_ref()],
        seeds::program = anchor_spl::associated_token::ID,
        bump
    )]
    pub destination: UncheckedAccount<'info>,
    /// CHECK: the listing's creator, by has_one; gets the bond if rejected.
    #[account(mut)]
    pub creator: UncheckedAccount<'info>,
    /// CHECK: the account that paid the bond, by has_one; gets it back if upheld.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
}

impl ResolveDispute<'_> {
    /// A rejection slashes nothing; the constraints check the rest.
    pub fn validate(&self, args: &ResolveDisputeArgs) -> Result<()> {
        ensure!(args.upheld || args.amount == 0, InvalidAmount);
        Ok(())
    }

    /// Slash the collateral. Returns the base units that the caller can receive now; the rest of the award is owed.
    fn slash(&mut self, amount: u64, now: i64) -> Result<u64> {
        let mint = self.config.usdc_mint;
        let Slash { to_caller, slashed } = self.collateral.slash(amount, self.dispute.price)?;
        self.collateral.keep_forfeits(now, self.config.longest_span_seconds);
        let can_pay = tokens::can_receive(&self.collateral_vault, &mint)
            && tokens::can_receive_for(&self.destination, &mint, &self.dispute.caller);
        let owed = if can_pay { 0 } else { to_caller };
        self.collateral.owe(owed)?;
        self.dispute.amount_to_caller = to_caller;
        self.dispute.amount_slashed = slashed;
        self.dispute.owed = owed;
        // Tiers may have risen since listing: a decision that slashes nothing is no reason to pause.
        if amount > 0 {
            let available = self.collateral.available();
            self.listing.pause_if_below(available, &self.config)?;
        }
        Ok(to_caller.saturating_sub(owed))
    }

    /// Pay the caller out of the vault.
    fn pay(&self, to_caller: u64) -> Result<()> {
        let vault = &self.collateral_vault;
        let transfer = TokenTransfer {
            authority: vault.to_account_info(),
            seeds: &self.collateral.vault_seeds(),
            token_program: &self.token_program,
        };
        transfer.send(vault, &self.destination, to_caller)
    }
}

/// End the dispute: update dispute, collateral and listing, and pay the slash and the bond.
pub fn resolve_dispute_handler(
    ctx: Context<ResolveDispute>,
    args: ResolveDisputeArgs,
) -> Result<()> {
    let accounts = ctx.accounts;
    let now = Clock::get()?.unix_timestamp;
    let outcome = if args.upheld { DisputeOutcome::Upheld } else { DisputeOutcome::Rejected };
    accounts.dispute.end(outcome, args.reason_hash, now)?;
    accounts.collateral.end_dispute()?;
    let (bond_to, to_caller) = if args.upheld {
        let to_caller = accounts.slash(args.amount, now)?;
        (&accounts.rent_sponsor, to_caller)
    } else {
        (&accounts.creator, 0)
    };
    let bond = take_bond(&mut accounts.dispute, bond_to)?;
    accounts.dispute.invariant()?;
    save(&accounts.dispute)?;
    save(&accounts.collateral)?;
    save(&accounts.listing)?;

    accounts.pay(to_caller)?;
    let vault = tokens::balance(&accounts.collateral_vault);
    accounts.collateral.invariant(vault)?;
    pay_bond(&accounts.dispute, bond_to, bond)?;
    let (dispute, collateral) = (&accounts.dispute, &accounts.collateral);
    emit!(DisputeResolved {
        dispute: dispute.key(),
        record: dispute.record,
        execution_id: dispute.execution_id,
        listing: dispute.listing,
        upheld: args.upheld,
        amount_to_caller: dispute.amount_to_caller,
        amount_slashed: dispute.amount_slashed,
        owed: dispute.owed,
        bond,
        bond_to: bond_to.key(),
        reason_hash: args.reason_hash,
        resolved_at: now,
        deposited: collateral.deposited,
        slashed: collateral.slashed,
        forfeited: collateral.forfeited,
        sweepable_at: collateral.sweepable_at,
        listing_status: accounts.listing.status as u8,
    });
    Ok(())
}
