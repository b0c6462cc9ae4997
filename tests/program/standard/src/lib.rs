//! The marketplace's hand-written pieces beside those of Anchor and anchor-spl that they stand for; for tests only,
//! deployed nowhere.
//!
//! Each piece is here twice, `by_hand` and the standard way, so that outcome, bytes and compute units can be compared. It
//! compiles the marketplace's files instead of depending on its crate: they must act for this program's id.

use anchor_lang::prelude::*;

#[macro_use]
#[path = "../../../../programs/marketplace/src/guard.rs"]
pub mod guard;

#[path = "../../../../programs/marketplace/src/addresses.rs"]
pub mod addresses;
#[path = "../../../../programs/marketplace/src/calls.rs"]
pub mod calls;
#[path = "../../../../programs/marketplace/src/constants.rs"]
pub mod constants;
#[path = "../../../../programs/marketplace/src/creation.rs"]
pub mod creation;
#[path = "../../../../programs/marketplace/src/errors.rs"]
pub mod errors;
#[path = "../../../../programs/marketplace/src/events.rs"]
pub mod events;
#[path = "../../../../programs/marketplace/src/packing.rs"]
pub mod packing;
#[path = "../../../../programs/marketplace/src/self_call.rs"]
pub mod self_call;
#[path = "../../../../programs/marketplace/src/state/mod.rs"]
pub mod state;
#[path = "../../../../programs/marketplace/src/tokens.rs"]
pub mod tokens;

use anchor_lang::solana_program::log::sol_log_data;
use anchor_lang::system_program;
use anchor_spl::token::{self, Token, TokenAccount};

use addresses::address_of;
use constants::{ESCROW_SEED, EXECUTION_SEED};
use creation::{create_state, create_token_account, rent_exempt_minimum, save, Funder};
use errors::MarketplaceError;
use events::{ArchivedExecution, ExecutionSettled, ExecutionsArchived};
use state::ExecutionRecord;
use tokens::TokenTransfer;

declare_id!("5QphvkQr5SsijuJxh6LbWL8rYh1KcJ8SkXbGDjubfQkd");

/// Seed of the address that owns token accounts.
const OWNER_SEED: &[u8] = b"owner";

#[program]
pub mod test_standard {
    use super::*;

    /// Moves base units.
    pub fn move_tokens(ctx: Context<Tokens>, by_hand: bool, amount: u64) -> Result<()> {
        let accounts = &ctx.accounts;
        let seeds: &[&[u8]] = &[OWNER_SEED, &[ctx.bumps.owner]];
        if by_hand {
            return accounts
                .by_hand(seeds)
                .send(&accounts.from, &accounts.to, amount);
        }
        let given = token::Transfer {
            from: accounts.from.to_account_info(),
            to: accounts.to.to_account_info(),
            authority: accounts.owner.to_account_info(),
        };
        let program = accounts.token_program.to_account_info();
        token::transfer(
            CpiContext::new_with_signer(program, given, &[seeds]),
            amount,
        )
    }

    /// Closes a token account.
    pub fn close_tokens(ctx: Context<Tokens>, by_hand: bool) -> Result<()> {
        let accounts = &ctx.accounts;
        let seeds: &[&[u8]] = &[OWNER_SEED, &[ctx.bumps.owner]];
        if by_hand {
            return accounts.by_hand(seeds).close(&accounts.from, &accounts.to);
        }
        let given = token::CloseAccount {
            account: accounts.from.to_account_info(),
            destination: accounts.to.to_account_info(),
            authority: accounts.owner.to_account_info(),
        };
        let program = accounts.token_program.to_account_info();
        token::close_account(CpiContext::new_with_signer(program, given, &[seeds]))
    }

    /// Moves lamports.
    pub fn move_lamports(ctx: Context<Lamports>, by_hand: bool, lamports: u64) -> Result<()> {
        let accounts = &ctx.accounts;
        if by_hand {
            return Funder::wallet(&accounts.from).send(&accounts.to, lamports);
        }
        let given = system_program::Transfer {
            from: accounts.from.to_account_info(),
            to: accounts.to.to_account_info(),
        };
        let program = accounts.system_program.to_account_info();
        system_program::transfer(CpiContext::new(program, given), lamports)
    }

    /// Makes an account of the program.
    pub fn make_state_by_hand(ctx: Context<MakeStateByHand>, value: ExecutionRecord) -> Result<()> {
        let accounts = &ctx.accounts;
        let seeds: &[&[u8]] = &[EXECUTION_SEED, &value.execution_id, &[ctx.bumps.record]];
        create_state(&accounts.payer, &accounts.record, seeds, &value)
    }

    /// The same by Anchor's `init`.
    pub fn make_state(ctx: Context<MakeState>, value: ExecutionRecord) -> Result<()> {
        ctx.accounts.record.set_inner(value);
        Ok(())
    }

    /// Makes a token account that owns itself.
    pub fn make_tokens_by_hand(ctx: Context<MakeTokensByHand>) -> Result<()> {
        let accounts = &ctx.accounts;
        let mint = accounts.mint.key();
        create_token_account(
            &Funder::wallet(&accounts.payer),
            &accounts.tokens,
            &[ESCROW_SEED, mint.as_ref(), &[ctx.bumps.tokens]],
            &accounts.mint,
            &accounts.tokens,
            &accounts.token_program,
        )
    }

    /// The same by Anchor's `init`.
    pub fn make_tokens(_ctx: Context<MakeTokens>) -> Result<()> {
        Ok(())
    }

    /// Changes an account and writes it back.
    pub fn save_by_hand(ctx: Context<SaveByHand>, settled_at: i64) -> Result<()> {
        let record = &mut ctx.accounts.record;
        record.settled_at = settled_at;
        save(record)
    }

    /// The same by Anchor's `mut`.
    pub fn save_record(ctx: Context<SaveRecord>, settled_at: i64) -> Result<()> {
        ctx.accounts.record.settled_at = settled_at;
        Ok(())
    }

    /// Prints an event.
    pub fn print(_ctx: Context<Nothing>, by_hand: bool, record: ExecutionRecord) -> Result<()> {
        let event = ExecutionSettled {
            record: record.caller,
            execution_id: record.execution_id,
            listing: record.listing,
            result_hash: record.result_hash,
            creator_amount: record.price,
            platform_amount: record.price,
            fee_bps: record.fee_bps,
            fee_waived: true,
            execution_time_ms: record.execution_time_ms,
            settled_at: record.settled_at,
            payout: record.signing_key,
            gas_to: record.rent_sponsor,
            gas_lamports: record.gas_lamports,
        };
        if by_hand {
            return packing::emit(&event);
        }
        emit!(event);
        Ok(())
    }

    /// Sends an event of `times` executions to the program itself.
    pub fn tell(
        ctx: Context<Tell>,
        by_hand: bool,
        times: u8,
        record: ExecutionRecord,
    ) -> Result<()> {
        let archived = ArchivedExecution {
            record: record.listing,
            execution: record,
        };
        let event = ExecutionsArchived {
            archive: archived.execution.caller,
            tree: archived.execution.signing_key,
            first_index: 7,
            executions: vec![archived; usize::from(times)],
        };
        if by_hand {
            let authority = &ctx.accounts.event_authority;
            return self_call::call_self(&event, authority, ctx.bumps.event_authority);
        }
        emit_cpi!(event);
        Ok(())
    }

    /// Prints the address of seeds whose bump is known.
    pub fn locate(_ctx: Context<Nothing>, by_hand: bool, id: [u8; 16], bump: u8) -> Result<()> {
        let address = if by_hand {
            address_of([EXECUTION_SEED, &id, &[]], bump, &crate::ID)
        } else {
            Pubkey::create_program_address(&[EXECUTION_SEED, &id, &[bump]], &crate::ID)
                .map_err(|_| ErrorCode::ConstraintSeeds)?
        };
        sol_log_data(&[address.as_ref()]);
        Ok(())
    }

    /// Fails unless `holds`.
    pub fn check(_ctx: Context<Nothing>, by_hand: bool, holds: bool) -> Result<()> {
        if by_hand {
            ensure!(holds, MarketplaceError::ArithmeticOverflow);
        } else {
            require!(holds, MarketplaceError::ArithmeticOverflow);
        }
        Ok(())
    }

    /// Prints the rent of an account.
    pub fn price(_ctx: Context<Nothing>, by_hand: bool, bytes: u32) -> Result<()> {
        let lamports = if by_hand {
            rent_exempt_minimum(bytes as usize)?
        } else {
            Rent::get()?.minimum_balance(bytes as usize)
        };
        sol_log_data(&[&lamports.to_le_bytes()]);
        Ok(())
    }
}

/// Accounts of what concerns a token account of the program.
#[derive(Accounts)]
pub struct Tokens<'info> {
    /// CHECK: an address without data that owns `from`.
    #[account(seeds = [OWNER_SEED], bump)]
    pub owner: UncheckedAccount<'info>,
    /// CHECK: the token program looks at it.
    #[account(mut)]
    pub from: UncheckedAccount<'info>,
    /// CHECK: the token program looks at it.
    #[account(mut)]
    pub to: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
}

impl<'info> Tokens<'info> {
    fn by_hand<'a>(&'a self, seeds: &'a [&'a [u8]]) -> TokenTransfer<'a, 'info> {
        TokenTransfer {
            authority: self.owner.to_account_info(),
            seeds,
            token_program: &self.token_program,
        }
    }
}

/// Accounts of `move_lamports`.
#[derive(Accounts)]
pub struct Lamports<'info> {
    #[account(mut)]
    pub from: Signer<'info>,
    /// CHECK: only receives.
    #[account(mut)]
    pub to: UncheckedAccount<'info>,
    pub system_program: Program<'info, System>,
}

/// Accounts of `make_state_by_hand`.
#[derive(Accounts)]
#[instruction(value: ExecutionRecord)]
pub struct MakeStateByHand<'info> {
    #[account(mut)]
    pub payer: Signer<'info>,
    /// CHECK: made here.
    #[account(mut, seeds = [EXECUTION_SEED, value.execution_id.as_ref()], bump)]
    pub record: UncheckedAccount<'info>,
    pub system_program: Program<'info, System>,
}

/// Accounts of `make_state`.
#[derive(Accounts)]
#[instruction(value: ExecutionRecord)]
pub struct MakeState<'info> {
    #[account(mut)]
    pub payer: Signer<'info>,
    #[account(
        init,
        payer = payer,
        space = 8 + ExecutionRecord::INIT_SPACE,
        seeds = [EXECUTION_SEED, value.execution_id.as_ref()],
        bump
    )]
    pub record: Box<Account<'info, ExecutionRecord>>,
    pub system_program: Program<'info, System>,
}

/// Accounts of `make_tokens_by_hand`.
#[derive(Accounts)]
pub struct MakeTokensByHand<'info> {
    #[account(mut)]
    pub payer: Signer<'info>,
    /// CHECK: made here.
    #[account(mut, seeds = [ESCROW_SEED, mint.key().as_ref()], bump)]
    pub tokens: UncheckedAccount<'info>,
    /// CHECK: the token program looks at it.
    pub mint: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
    pub system_program: Program<'info, System>,
}

/// Accounts of `make_tokens`.
#[derive(Accounts)]
pub struct MakeTokens<'info> {
    #[account(mut)]
    pub payer: Signer<'info>,
    #[account(
        init,
        payer = payer,
        token::mint = mint,
        token::authority = tokens,
        seeds = [ESCROW_SEED, mint.key().as_ref()],
        bump
    )]
    pub tokens: Box<Account<'info, TokenAccount>>,
    /// CHECK: the token program looks at it.
    pub mint: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
    pub system_program: Program<'info, System>,
}

/// Accounts of `save_by_hand`.
#[derive(Accounts)]
pub struct SaveByHand<'info> {
    pub record: Box<Account<'info, ExecutionRecord>>,
}

/// Accounts of `save_record`.
#[derive(Accounts)]
pub struct SaveRecord<'info> {
    #[account(mut)]
    pub record: Box<Account<'info, ExecutionRecord>>,
}

/// Accounts of `tell`.
#[event_cpi]
#[derive(Accounts)]
pub struct Tell {}

/// Reads no account.
#[derive(Accounts)]
pub struct Nothing {}
