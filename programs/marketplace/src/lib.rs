//! Escrow for paid executions of AI agents.
//!
//! A creator lists an agent with a price, a signing key and collateral (`list_agent`). A caller's price
//! moves into an escrow account of its own (`open_execution`, or `open_execution_with_grant` for an API key
//! whose wallet gave it a capped right with `create_grant`). It leaves that account in one of two ways only:
//! to creator and marketplace, in a transaction that carries the creator's Ed25519 signature over the
//! result's hash (`settle_execution`), or back to the caller (`refund_execution`), which from `refund_at` on
//! anyone can trigger. The `ExecutionRecord` stays as proof of what was asked, answered and paid.
//!
//! `state/` holds the accounts and their transitions, `instructions/` who may cause them, `ed25519.rs` the
//! reading of signatures, `events.rs` what indexers hear.

use anchor_lang::prelude::*;

pub mod constants;
pub mod creation;
pub mod ed25519;
pub mod errors;
pub mod events;
pub mod instructions;
pub mod state;

pub use instructions::*;

declare_id!("6wYfSpZq2bXE3TSRRh8HhNT8oHf4kZdy13ti9Nyepsyo");

/// The instructions, in the order in which a marketplace meets them.
#[program]
pub mod marketplace {
    use super::*;

    /// Create the marketplace: settings, settlement mint and treasury, all for ever or within fixed bounds.
    ///
    /// Authority: the program's upgrade authority. Emits `ConfigInitialized`.
    /// Errors: NotUpgradeAuthority, InvalidMint, the OutOfBounds errors, InvalidTiers.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn initialize_config(
        ctx: Context<InitializeConfig>,
        args: InitializeConfigArgs,
    ) -> Result<()> {
        initialize_config_handler(ctx, args)
    }

    /// Give or take a creator's verification badge.
    ///
    /// Authority: the admin. Emits `CreatorVerificationChanged`. Errors: NotAdmin.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn set_creator_verified(
        ctx: Context<SetCreatorVerified>,
        args: SetCreatorVerifiedArgs,
    ) -> Result<()> {
        set_creator_verified_handler(ctx, args)
    }

    /// List an agent and deposit its collateral. The instruction before must be the signing key's Ed25519
    /// signature over `agent-marketplace:register:v1:` and the listing's 32 bytes.
    ///
    /// Authority: the creator. Emits `AgentListed`.
    /// Errors: the terms' (PriceBelowMinimum to UriTooLong), InvalidPayout, InvalidDepositSource,
    /// WeakSigningKey, SigningKeyTaken, the Signature errors.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn list_agent(ctx: Context<ListAgent>, args: ListAgentArgs) -> Result<()> {
        list_agent_handler(ctx, args)
    }

    /// Change a listing's terms or payout account; new terms raise its version.
    ///
    /// Authority: the creator. Emits `ListingUpdated`.
    /// Errors: NotCreator, ListingDelisted, the terms', CollateralBelowTier, InvalidPayout.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn update_listing(ctx: Context<UpdateListing>, args: UpdateListingArgs) -> Result<()> {
        update_listing_handler(ctx, args)
    }

    /// Pause or resume a listing.
    ///
    /// Authority: the creator. Emits `ListingStatusChanged`.
    /// Errors: NotCreator, InvalidListingTransition, CollateralBelowTier.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn set_listing_status(
        ctx: Context<SetListingStatus>,
        args: SetListingStatusArgs,
    ) -> Result<()> {
        set_listing_status_handler(ctx, args)
    }

    /// Give an API key a capped right to spend from the signing wallet. It works only together with an SPL
    /// approval of the wallet's `Spender` address.
    ///
    /// Authority: the wallet. Emits `GrantCreated`. Errors: GrantLimitZero, GrantExpiryOutOfBounds.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn create_grant(ctx: Context<CreateGrant>, args: CreateGrantArgs) -> Result<()> {
        create_grant_handler(ctx, args)
    }

    /// End a key's right for good.
    ///
    /// Authority: the wallet or the relay authority. Emits `GrantRevoked`.
    /// Errors: NotGrantAuthority, GrantRevoked.
    #[access_control(ctx.accounts.validate())]
    pub fn revoke_grant(ctx: Context<RevokeGrant>) -> Result<()> {
        revoke_grant_handler(ctx)
    }

    /// Fund an execution from the caller's own USDC account.
    ///
    /// Authority: the caller. Emits `ExecutionOpened`.
    /// Errors: OpensPaused, ListingNotActive, PriceAboveMax, ListingVersionMismatch, TimeoutOutOfRange,
    /// OpenTooLate, WrongExecutionId, InvalidSource, InsufficientBalance, ExposureLimitReached.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn open_execution(ctx: Context<OpenExecution>, args: OpenExecutionArgs) -> Result<()> {
        open_execution_handler(ctx, args)
    }

    /// Fund an execution from a wallet that granted an API key the right to.
    ///
    /// Authority: the relay authority, within the grant's caps. Emits `ExecutionOpened`.
    /// Errors: those of `open_execution`, NotRelayAuthority, InsufficientAllowance, the Grant errors.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn open_execution_with_grant(
        ctx: Context<OpenExecutionWithGrant>,
        args: OpenExecutionArgs,
    ) -> Result<()> {
        open_execution_with_grant_handler(ctx, args)
    }

    /// Release an escrow: the fee to the treasury, the rest to the creator. The instruction before must be
    /// the Ed25519 signature of the record's signing key over `sha256:` and the result hash in lower-case hex.
    ///
    /// Authority: the relay authority and that signature, before `refund_at`. Emits `ExecutionSettled`.
    /// Errors: NotRelayAuthority, ExecutionNotOpen, SettleWindowClosed, WrongListing, WrongPayout,
    /// PayoutUnusable, WrongRentSponsor, the Signature errors, NotTopLevel.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn settle_execution(
        ctx: Context<SettleExecution>,
        args: SettleExecutionArgs,
    ) -> Result<()> {
        settle_execution_handler(ctx, args)
    }

    /// Send an escrow back to its caller.
    ///
    /// Authority: the relay authority; anyone from `refund_at` on. Emits `ExecutionRefunded`.
    /// Errors: ExecutionNotOpen, RefundTooEarly, WrongRefundDestination, RefundDestinationUnusable,
    /// WrongRentSponsor.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn refund_execution(
        ctx: Context<RefundExecution>,
        args: RefundExecutionArgs,
    ) -> Result<()> {
        refund_execution_handler(ctx, args)
    }
}
