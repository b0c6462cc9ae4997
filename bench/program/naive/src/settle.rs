//! Pays creator and treasury against the creator's signature over the result's hash.

use anchor_lang::prelude::*;
use anchor_lang::solana_program::sysvar::instructions::{
    load_current_index_checked, load_instruction_at_checked,
};
use anchor_spl::token_interface::{
    self, CloseAccount, Mint, TokenAccount, TokenInterface, TransferChecked,
};
use solana_sdk_ids::ed25519_program;

use crate::state::*;

#[derive(AnchorSerialize, AnchorDeserialize, Clone)]
pub struct SettleArgs {
    pub result_hash: [u8; 32],
    pub execution_time_ms: u32,
}

#[derive(Accounts)]
pub struct Settle<'info> {
    pub relay_authority: Signer<'info>,
    #[account(
        seeds = [b"config"],
        bump,
        has_one = relay_authority @ EscrowError::NotRelayAuthority,
        has_one = usdc_mint @ EscrowError::WrongMint,
        has_one = treasury
    )]
    pub config: Box<Account<'info, Config>>,
    #[account(
        mut,
        seeds = [b"execution", record.execution_id.as_ref()],
        bump,
        has_one = listing,
        has_one = rent_sponsor
    )]
    pub record: Box<Account<'info, ExecutionRecord>>,
    #[account(
        seeds = [b"listing", creator.key().as_ref(), listing.listing_id.as_ref()],
        bump,
        has_one = creator
    )]
    pub listing: Box<Account<'info, AgentListing>>,
    /// CHECK: the listing's creator.
    pub creator: UncheckedAccount<'info>,
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
        associated_token::authority = creator,
        associated_token::token_program = token_program
    )]
    pub payout: Box<InterfaceAccount<'info, TokenAccount>>,
    #[account(mut, token::mint = usdc_mint, token::token_program = token_program)]
    pub treasury: Box<InterfaceAccount<'info, TokenAccount>>,
    /// CHECK: the record's rent sponsor.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
    pub usdc_mint: Box<InterfaceAccount<'info, Mint>>,
    /// CHECK: the instructions sysvar.
    #[account(address = anchor_lang::solana_program::sysvar::instructions::ID)]
    pub instructions: UncheckedAccount<'info>,
    pub token_program: Interface<'info, TokenInterface>,
}

pub fn settle_handler(ctx: Context<Settle>, args: SettleArgs) -> Result<()> {
    let accounts = ctx.accounts;
    let now = Clock::get()?.unix_timestamp;
    let record = &mut accounts.record;
    require!(
        record.status == ExecutionStatus::Open,
        EscrowError::ExecutionNotOpen
    );
    require!(now < record.refund_at, EscrowError::SettleWindowClosed);
    verify_signature(
        &accounts.instructions,
        &record.signing_key,
        &args.result_hash,
    )?;

    record.status = ExecutionStatus::Completed;
    record.result_hash = Some(args.result_hash);
    record.settled_at = Some(now);
    record.execution_time_ms = Some(args.execution_time_ms);
    let fee = record
        .price
        .checked_mul(u64::from(record.fee_bps))
        .ok_or(EscrowError::Overflow)?
        / 10_000;
    let creator_amount = record.price - fee;

    let execution_id = record.execution_id;
    let seeds: &[&[&[u8]]] = &[&[b"execution", execution_id.as_ref(), &[ctx.bumps.record]]];
    let decimals = accounts.usdc_mint.decimals;
    let recipients = [
        (accounts.payout.to_account_info(), creator_amount),
        (accounts.treasury.to_account_info(), fee),
    ];
    for (to, amount) in recipients {
        let transfer = TransferChecked {
            from: accounts.escrow.to_account_info(),
            mint: accounts.usdc_mint.to_account_info(),
            to,
            authority: accounts.record.to_account_info(),
        };
        let program = accounts.token_program.to_account_info();
        token_interface::transfer_checked(
            CpiContext::new_with_signer(program, transfer, seeds),
            amount,
            decimals,
        )?;
    }
    let close = CloseAccount {
        account: accounts.escrow.to_account_info(),
        destination: accounts.rent_sponsor.to_account_info(),
        authority: accounts.record.to_account_info(),
    };
    let program = accounts.token_program.to_account_info();
    token_interface::close_account(CpiContext::new_with_signer(program, close, seeds))?;
    msg!(
        "Execution settled, {} to the creator, {} to the treasury",
        creator_amount,
        fee
    );

    let record = &accounts.record;
    emit!(ExecutionSettled {
        record: record.key(),
        execution_id,
        listing: record.listing,
        result_hash: args.result_hash,
        creator_amount,
        platform_amount: fee,
        fee_bps: record.fee_bps,
        execution_time_ms: args.execution_time_ms,
        settled_at: now,
    });
    Ok(())
}

/// The instruction before verified the key's signature over `sha256:` and the hash in hex.
fn verify_signature(
    instructions: &AccountInfo,
    key: &Pubkey,
    result_hash: &[u8; 32],
) -> Result<()> {
    let current = load_current_index_checked(instructions)?;
    require!(current > 0, EscrowError::SignatureMissing);
    let instruction = load_instruction_at_checked(usize::from(current) - 1, instructions)?;
    require_keys_eq!(
        instruction.program_id,
        ed25519_program::ID,
        EscrowError::SignatureMissing
    );
    let hex: String = result_hash
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let message = format!("sha256:{hex}");
    let data = &instruction.data;
    require!(
        data.len() == 112 + message.len(),
        EscrowError::InvalidSignature
    );
    // One signature, and key, signature and message in this very instruction, where web3.js puts them.
    let mut header = vec![1, 0];
    let length = message.len() as u16;
    for field in [48, u16::MAX, 16, u16::MAX, 112, length, u16::MAX] {
        header.extend_from_slice(&field.to_le_bytes());
    }
    require!(data[..16] == header, EscrowError::InvalidSignature);
    require!(
        data[16..48] == key.to_bytes(),
        EscrowError::InvalidSignature
    );
    require!(
        data[112..] == *message.as_bytes(),
        EscrowError::InvalidSignature
    );
    Ok(())
}
