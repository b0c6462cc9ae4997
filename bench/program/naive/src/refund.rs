//! Sends an escrow back to its caller.

use anchor_lang::prelude::*;
use anchor_spl::token_interface::{
    self, CloseAccount, Mint, TokenAccount, TokenInterface, TransferChecked,
};

use crate::state::*;

#[derive(AnchorSerialize, AnchorDeserialize, Clone)]
pub struct RefundArgs {
    pub reason: u8,
}

#[derive(Accounts)]
pub struct Refund<'info> {
    /// The relay authority, or anyone from `refund_at` on.
    pub authority: Signer<'info>,
    #[account(seeds = [b"config"], bump, has_one = usdc_mint @ EscrowError::WrongMint)]
    pub config: Box<Account<'info, Config>>,
    #[account(
        mut,
        seeds = [b"execution", record.execution_id.as_ref()],
        bump,
        has_one = caller,
        has_one = rent_sponsor
    )]
    pub record: Box<Account<'info, ExecutionRecord>>,
    /// CHECK: the record's caller.
    pub caller: UncheckedAccount<'info>,
    #[account(
        mut,
        associated_token::mint = usdc_mint,
        associated_token::authority = record,
        associated_token::token_program = token_program
    )]
    pub escrow: Box<InterfaceAccount<'info, TokenAccount>>,
    #[account(
        mut,
        associated_token::mint = usdc_mint,
        associated_token::authority = caller,
        associated_token::token_program = token_program
    )]
    pub destination: Box<InterfaceAccount<'info, TokenAccount>>,
    #[account(
        mut,
        seeds = [b"grant", caller.key().as_ref(), record.key_id.as_ref()],
        bump
    )]
    pub grant: Box<Account<'info, KeyGrant>>,
    /// CHECK: the record's rent sponsor.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
    pub usdc_mint: Box<InterfaceAccount<'info, Mint>>,
    pub token_program: Interface<'info, TokenInterface>,
}

pub fn refund_handler(ctx: Context<Refund>, args: RefundArgs) -> Result<()> {
    let accounts = ctx.accounts;
    let now = Clock::get()?.unix_timestamp;
    let record = &mut accounts.record;
    require!(
        record.status == ExecutionStatus::Open,
        EscrowError::ExecutionNotOpen
    );
    require!(
        accounts.authority.key() == accounts.config.relay_authority || now >= record.refund_at,
        EscrowError::RefundTooEarly
    );
    record.status = ExecutionStatus::Refunded;
    record.settled_at = Some(now);

    let execution_id = record.execution_id;
    let seeds: &[&[&[u8]]] = &[&[b"execution", execution_id.as_ref(), &[ctx.bumps.record]]];
    let amount = accounts.escrow.amount;
    let transfer = TransferChecked {
        from: accounts.escrow.to_account_info(),
        mint: accounts.usdc_mint.to_account_info(),
        to: accounts.destination.to_account_info(),
        authority: accounts.record.to_account_info(),
    };
    let program = accounts.token_program.to_account_info();
    token_interface::transfer_checked(
        CpiContext::new_with_signer(program, transfer, seeds),
        amount,
        accounts.usdc_mint.decimals,
    )?;
    let close = CloseAccount {
        account: accounts.escrow.to_account_info(),
        destination: accounts.rent_sponsor.to_account_info(),
        authority: accounts.record.to_account_info(),
    };
    let program = accounts.token_program.to_account_info();
    token_interface::close_account(CpiContext::new_with_signer(program, close, seeds))?;

    let (record, grant) = (&accounts.record, &mut accounts.grant);
    if !grant.revoked && grant.created_at <= record.opened_at {
        grant.total_spent = grant.total_spent.saturating_sub(record.price);
        if record.opened_at >= grant.period_start {
            grant.period_spent = grant.period_spent.saturating_sub(record.price);
        }
    }
    msg!("Execution refunded, {} base units", amount);

    emit!(ExecutionRefunded {
        record: record.key(),
        execution_id,
        listing: record.listing,
        caller: record.caller,
        amount,
        reason: args.reason,
        refunded_at: now,
        grant_total_spent: grant.total_spent,
    });
    Ok(())
}
