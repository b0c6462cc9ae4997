//! Escrow for paid executions of AI agents.
//!
//! A creator lists an agent with a price, a signing key and collateral (`list_agent`). To call it, a caller moves the
//! price into an escrow account: with `open_execution`, or with `open_execution_with_grant` for an API key that has a
//! capped spending right from its wallet (`create_grant`). A caller without SOL pays into a deposit
//! (`prepare_deposit`). The deposit becomes an escrow (`open_execution_from_deposit`) or goes back to the caller
//! (`refund_deposit`). The price leaves the escrow in one of two ways. `settle_execution` pays creator and marketplace,
//! and needs the creator's Ed25519 signature over the result's hash. `refund_execution` pays the caller, and from
//! `refund_at` on anyone can call it. If the caller's account cannot receive a refund, anyone can move it an hour later to
//! one account of the program (`move_unclaimed_refund`, `move_unclaimed_deposit`), and the caller claims it there
//! (`claim_refund`). The `ExecutionRecord` remains as proof of
//! request, result and payment. When a paid record is old enough, it becomes a leaf of a Merkle tree and its rent goes
//! back (`create_archive`, `archive_executions`). Anyone can then prove the record against the tree's root. Within the
//! dispute window the caller can dispute the result, by the record (`open_dispute`) or by the leaf
//! (`open_dispute_with_proof`). The admin's decision may slash the creator's collateral (`resolve_dispute`). The rest of
//! the collateral goes back once the listing is delisted and every dispute window has closed (`delist_agent`,
//! `return_collateral`).
//!
//! The wallet that is served pays the costs. An open puts gas lamports into the record for the relay that ends the
//! execution. With a grant they come from the wallet's gas balance: the lamports of its `Spender` address.
//! It also pays what the open costs, and may lend the escrow's rent. All rent goes back to the account that
//! lent it: the escrow's when the call ends, the record's when the record is archived or closed.
//!
//! Each instruction lists its errors. All can also fail with ArithmeticOverflow, or with an error whose name ends in
//! Unsound, Insolvent or Overspent: then an account breaks its own rules, and nothing changes.
//!
//! `state/` has the accounts and their transitions, `instructions/` the checks of who may cause them. `signature.rs` is
//! the only verifier of signatures. `events/` has the events for indexers.

use anchor_lang::prelude::*;

#[macro_use]
pub mod guard;

pub mod constants;
pub mod creation;
pub mod errors;
pub mod events;
pub mod instructions;
pub mod self_call;
pub mod signature;
pub mod state;
pub mod tokens;

pub use instructions::*;

declare_id!("6wYfSpZq2bXE3TSRRh8HhNT8oHf4kZdy13ti9Nyepsyo");

#[cfg(not(feature = "no-entrypoint"))]
solana_security_txt::security_txt! {
    name: "Agent Marketplace",
    project_url: "https://agent-marketplace.example",
    contacts: "email:security@agent-marketplace.example",
    policy: "SECURITY.md of the source code",
    preferred_languages: "en"
}

/// The instructions, in the order in which a marketplace uses them.
#[program]
pub mod marketplace {
    use super::*;

    /// Create the marketplace: settings, settlement mint, treasury and the account of unclaimed refunds. All but the
    /// settings never change.
    ///
    /// Authority: the program's upgrade authority. Emits `ConfigInitialized`.
    /// Errors: NotUpgradeAuthority, WrongProgramData, InvalidAuthority, InvalidRelayAuthorities, InvalidMint,
    /// the OutOfBounds errors, InvalidTiers, AccountExists.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn initialize_config(
        ctx: Context<InitializeConfig>,
        args: InitializeConfigArgs,
    ) -> Result<()> {
        initialize_config_handler(ctx, args)
    }

    /// Change settings immediately. Absent settings keep their values, and open executions keep the settings of
    /// their open. If `admin_delay_seconds` is not 0, these changes need `propose_change`: fee, bond, minimum price,
    /// tiers, `record_seconds`, a shorter dispute window, a higher or no exposure limit, a longer delay, the end of the
    /// guardian's pause.
    ///
    /// Authority: the admin. Emits `ConfigUpdated`.
    /// Errors: NotAdmin, ChangeMustWait, the OutOfBounds errors, InvalidTiers.
    pub fn update_config(ctx: Context<UpdateConfig>, args: SettingsChange) -> Result<()> {
        update_config_handler(ctx, args)
    }

    /// Announce a change: of settings, or of the admin, or of the guardian. It is due `admin_delay_seconds` later, a
    /// change of guardian 7 days after that if there is a delay. Several changes can be pending.
    ///
    /// Authority: the admin. Emits `ChangeProposed`.
    /// Errors: NotAdmin, MixedChange, ChangeInvalidated, InvalidAuthority, the OutOfBounds errors, InvalidTiers,
    /// InvalidRelayAuthorities.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn propose_change(ctx: Context<ProposeChange>, args: ProposeChangeArgs) -> Result<()> {
        propose_change_handler(ctx, args)
    }

    /// Apply a pending change of settings or guardian that is due, within 7 days. Its rent goes back to the account that
    /// paid it.
    ///
    /// Authority: anyone. Emits `ChangeApplied`.
    /// Errors: ChangeInvalidated, ChangeNotDue, ChangeExpired, AdminMustAccept, WrongRentSponsor, the OutOfBounds errors,
    /// InvalidTiers, InvalidRelayAuthorities.
    #[access_control(ctx.accounts.validate())]
    pub fn apply_change(ctx: Context<ApplyChange>) -> Result<()> {
        apply_change_handler(ctx)
    }

    /// Cancel a pending change. Its rent goes back to the account that paid it.
    ///
    /// Authority: the admin or the guardian for settings, the guardian for an admin (the admin if there is no guardian),
    /// the admin for a guardian; anyone if the change can never be applied any more. Emits `ChangeCancelled`.
    /// Errors: NotGuardianOrAdmin, NotGuardian, NotAdmin, WrongRentSponsor.
    #[access_control(ctx.accounts.validate())]
    pub fn cancel_change(ctx: Context<CancelChange>) -> Result<()> {
        cancel_change_handler(ctx)
    }

    /// Cancel all pending changes of settings. Only changes proposed in a later second can be applied. Their accounts
    /// stay until anyone closes them with `cancel_change`.
    ///
    /// Authority: the admin or the guardian. Emits `ChangesCancelled`. Errors: NotGuardianOrAdmin.
    #[access_control(ctx.accounts.validate())]
    pub fn cancel_all_changes(ctx: Context<CancelAllChanges>) -> Result<()> {
        cancel_all_changes_handler(ctx)
    }

    /// Pause the marketplace, or lift the pause, immediately. Admin and guardian each have their own pause, and new
    /// executions are refused while either is set. The guardian's also stops withdrawals from the treasury and forfeits on their way to it, and cancels
    /// all pending changes of settings. Each key changes only its own pause; the admin ends the guardian's with
    /// `lift_guardian_pause` of a change proposed after it.
    ///
    /// Authority: the admin or the guardian. Emits `ConfigUpdated`. Errors: NotGuardianOrAdmin.
    pub fn set_pause(ctx: Context<SetPause>, args: SetPauseArgs) -> Result<()> {
        set_pause_handler(ctx, args)
    }

    /// Become admin, by a change that proposes the signer and is due, within 7 days. All other pending changes are
    /// cancelled. The change's rent goes back to the account that paid it.
    ///
    /// Authority: the proposed admin. Emits `AdminChanged`.
    /// Errors: NotNextAdmin, ChangeInvalidated, ChangeNotDue, ChangeExpired, WrongRentSponsor.
    #[access_control(ctx.accounts.validate())]
    pub fn accept_admin(ctx: Context<AcceptAdmin>) -> Result<()> {
        accept_admin_handler(ctx)
    }

    /// Remove one relay authority immediately, even the last one. All pending changes of settings are cancelled. To add
    /// one, use `propose_change`.
    ///
    /// Authority: the admin or the guardian. Emits `RelayAuthorityRemoved`.
    /// Errors: NotGuardianOrAdmin, UnknownRelayAuthority.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn remove_relay_authority(
        ctx: Context<RemoveRelayAuthority>,
        args: RemoveRelayAuthorityArgs,
    ) -> Result<()> {
        remove_relay_authority_handler(ctx, args)
    }

    /// Withdraw from the treasury, unless the guardian has paused the marketplace.
    ///
    /// Authority: the admin. Emits `TreasuryWithdrawn`.
    /// Errors: NotAdmin, TreasuryPaused, InvalidAmount, DestinationUnusable.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn withdraw_treasury(
        ctx: Context<WithdrawTreasury>,
        args: WithdrawTreasuryArgs,
    ) -> Result<()> {
        withdraw_treasury_handler(ctx, args)
    }

    /// Give or remove a creator's verification badge.
    ///
    /// Authority: the admin. Emits `CreatorVerificationChanged`. Errors: NotAdmin.
    pub fn set_creator_verified(
        ctx: Context<SetCreatorVerified>,
        args: SetCreatorVerifiedArgs,
    ) -> Result<()> {
        set_creator_verified_handler(ctx, args)
    }

    /// List an agent and deposit its collateral. `possession` is the signing key's Ed25519 signature over
    /// `agent-marketplace:register:v1:` and the listing's 32 bytes. Fails if the deposit is above `max_deposit`.
    ///
    /// Authority: the creator. Emits `AgentListed`.
    /// Errors: PriceBelowMinimum, PriceAboveTiers, InvalidTimeouts, InvalidTags, UriTooLong, InvalidPayout, WrongMint,
    /// InvalidDepositSource, DepositAboveMax, InsufficientBalance, WeakSigningKey, SignatureInvalid, SigningKeyTaken,
    /// AccountExists.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn list_agent(ctx: Context<ListAgent>, args: ListAgentArgs) -> Result<()> {
        list_agent_handler(ctx, args)
    }

    /// Change a listing's terms or payout account. Changed terms increment its version. A higher price fails if it
    /// requires more collateral than `max_deposit`.
    ///
    /// Authority: the creator. Emits `ListingUpdated`.
    /// Errors: NotCreator, ListingDelisted, PriceBelowMinimum, PriceAboveTiers, InvalidTimeouts, InvalidTags, UriTooLong,
    /// DepositAboveMax, CollateralBelowTier, InvalidPayout.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn update_listing(ctx: Context<UpdateListing>, args: UpdateListingArgs) -> Result<()> {
        update_listing_handler(ctx, args)
    }

    /// Pause or resume a listing.
    ///
    /// Authority: the creator. Emits `ListingStatusChanged`.
    /// Errors: NotCreator, InvalidListingTransition, PriceAboveTiers, CollateralBelowTier.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn set_listing_status(
        ctx: Context<SetListingStatus>,
        args: SetListingStatusArgs,
    ) -> Result<()> {
        set_listing_status_handler(ctx, args)
    }

    /// Change a listing's signing key. Open executions keep their key. `possession` is the new key's proof, as for
    /// `list_agent`. A key that this listing used before can be used again.
    ///
    /// Authority: the creator. Emits `SigningKeyRotated`.
    /// Errors: NotCreator, ListingDelisted, SigningKeyTaken, WeakSigningKey, SignatureInvalid.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn rotate_signing_key(
        ctx: Context<RotateSigningKey>,
        args: RotateSigningKeyArgs,
    ) -> Result<()> {
        rotate_signing_key_handler(ctx, args)
    }

    /// Add to a listing's collateral.
    ///
    /// Authority: the creator. Emits `CollateralToppedUp`.
    /// Errors: NotCreator, ListingDelisted, InvalidAmount, InvalidDepositSource, InsufficientBalance.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn top_up_collateral(
        ctx: Context<TopUpCollateral>,
        args: TopUpCollateralArgs,
    ) -> Result<()> {
        top_up_collateral_handler(ctx, args)
    }

    /// Delist a listing permanently. Its collateral can go back once no dispute window can be open any more.
    ///
    /// Authority: the creator. Emits `AgentDelisted`. Errors: NotCreator, InvalidListingTransition.
    pub fn delist_agent(ctx: Context<DelistAgent>) -> Result<()> {
        delist_agent_handler(ctx)
    }

    /// Return the rest of a delisted listing's collateral to its creator's associated token account. The forfeited part
    /// goes to the treasury; if the guardian has paused the marketplace or the treasury cannot receive, it waits for
    /// `sweep_forfeits`. Awards still owed stay in the vault. If nothing stays, the vault is closed. If no account can
    /// take the vault's rent after a rent increase, or strangers sent tokens to it, call this instruction again later.
    ///
    /// Authority: anyone. Emits `CollateralReturned`.
    /// Errors: CollateralNotReturnable, DisputesOpen, DestinationUnusable, WrongRentSponsor.
    #[access_control(ctx.accounts.validate())]
    pub fn return_collateral(ctx: Context<ReturnCollateral>) -> Result<()> {
        return_collateral_handler(ctx)
    }

    /// Move the forfeited part of a listing's collateral to the treasury: with no dispute open, `longest_span_seconds`
    /// after the last upheld dispute, or from `returnable_at` on if the listing is delisted.
    ///
    /// Authority: anyone. Emits `ForfeitsSwept`.
    /// Errors: TreasuryPaused, NothingForfeited, DisputesOpen, ForfeitsNotSweepable, DestinationUnusable,
    /// WrongRentSponsor.
    #[access_control(ctx.accounts.validate())]
    pub fn sweep_forfeits(ctx: Context<SweepForfeits>) -> Result<()> {
        sweep_forfeits_handler(ctx)
    }

    /// Give an API key a capped right to spend from the signing wallet. The wallet must also approve its `Spender`
    /// address as SPL delegate.
    ///
    /// Authority: the wallet. Emits `GrantCreated`. Errors: GrantLimitZero, GrantExpiryOutOfBounds,
    /// GrantGasOutOfBounds, InvalidKeyId.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn create_grant(ctx: Context<CreateGrant>, args: CreateGrantArgs) -> Result<()> {
        create_grant_handler(ctx, args)
    }

    /// Change a key's limits. Past spending still counts, even if it exceeds the new limits.
    ///
    /// Authority: the wallet. Emits `GrantUpdated`.
    /// Errors: NotGrantWallet, GrantRevoked, GrantLimitZero, GrantExpiryOutOfBounds, GrantGasOutOfBounds.
    pub fn update_grant(ctx: Context<UpdateGrant>, args: UpdateGrantArgs) -> Result<()> {
        update_grant_handler(ctx, args)
    }

    /// Revoke a key's spending right permanently.
    ///
    /// Authority: the wallet or a relay authority. Emits `GrantRevoked`.
    /// Errors: NotGrantAuthority, GrantRevoked.
    #[access_control(ctx.accounts.validate())]
    pub fn revoke_grant(ctx: Context<RevokeGrant>) -> Result<()> {
        revoke_grant_handler(ctx)
    }

    /// End a key's spending right, if it is not revoked yet, and return the rent to the account that paid it.
    ///
    /// Authority: the wallet. Emits `GrantClosed`. Errors: NotGrantWallet, WrongRentSponsor, GrantInUse.
    #[access_control(ctx.accounts.validate())]
    pub fn close_grant(ctx: Context<CloseGrant>) -> Result<()> {
        close_grant_handler(ctx)
    }

    /// Withdraw lamports from the signing wallet's gas balance, the lamports of its `Spender`
    /// address. Anyone can add to it by a plain transfer. `u64::MAX` withdraws everything.
    ///
    /// Authority: the wallet. Emits `GasWithdrawn`. Errors: InvalidAmount, GasBalanceBelowRent.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn withdraw_gas(ctx: Context<WithdrawGas>, args: WithdrawGasArgs) -> Result<()> {
        withdraw_gas_handler(ctx, args)
    }

    /// Fund an execution from the caller's own USDC account. `payer` pays the gas and lends
    /// the rent. The rent goes back to `rent_sponsor`, any account that the payer names.
    ///
    /// Authority: the caller. Emits `ExecutionOpened`.
    /// Errors: OpensPaused, ListingNotActive, PriceAboveMax, ListingVersionMismatch, TimeoutOutOfRange,
    /// OpenTooLate, GasOutOfBounds, WrongNonceHalfHour, WrongExecutionId, InvalidRentSponsor, InvalidSource,
    /// InsufficientBalance, ExposureLimitReached, WrongMint, AccountExists.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn open_execution(ctx: Context<OpenExecution>, args: OpenExecutionArgs) -> Result<()> {
        open_execution_handler(ctx, args)
    }

    /// Fund an execution from a wallet that gave an API key a spending right. The wallet's gas balance pays the fee to
    /// `payer` and the gas into the record. It lends the escrow's rent if `spender_lends_escrow`, and the rent of both
    /// accounts if it is the `rent_sponsor`. `payer` lends the rest, as in `open_execution`.
    ///
    /// Authority: a relay authority, within the grant's caps. Emits `ExecutionOpened`.
    /// Errors: NotRelayAuthority, GrantRevoked, GrantExpired, GrantPerExecutionExceeded, GrantPeriodExceeded,
    /// GrantTotalExceeded, GrantGasExceeded, InsufficientAllowance, GasBalanceTooLow, GasBalanceBelowRent, OpensPaused,
    /// ListingNotActive, PriceAboveMax, ListingVersionMismatch, TimeoutOutOfRange, OpenTooLate,
    /// GasOutOfBounds, WrongNonceHalfHour, WrongExecutionId, InvalidRentSponsor, InvalidSource, InsufficientBalance,
    /// ExposureLimitReached, WrongMint, AccountExists.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn open_execution_with_grant(
        ctx: Context<OpenExecutionWithGrant>,
        args: OpenExecutionWithGrantArgs,
    ) -> Result<()> {
        open_execution_with_grant_handler(ctx, args)
    }

    /// Create a deposit and its vault, so `caller` can pay for an execution by a plain
    /// transfer. The address commits to the terms, the payer and the amounts. `payer`
    /// lends the rent. It goes back to `rent_sponsor`, any account that the payer names.
    ///
    /// Authority: a relay authority; anyone if `quoted_payer` is set and the vault is already paid.
    /// Emits `DepositPrepared`.
    /// Errors: NotRelayAuthority, ServiceFeeOutOfBounds, DepositCallerMismatch,
    /// InvalidRentSponsor, DepositVaultUnsound, WrongMint.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn prepare_deposit(ctx: Context<PrepareDeposit>, args: PrepareDepositArgs) -> Result<()> {
        prepare_deposit_handler(ctx, args)
    }

    /// Fund an execution from a deposit that its caller has paid. The service fee goes to the treasury, the rest
    /// into the escrow. The deposit is closed. `payer` pays the gas and lends the rent, as in `open_execution`.
    ///
    /// Authority: a relay authority, before the deposit expires. Emits `ExecutionOpened`.
    /// Errors: NotRelayAuthority, DepositVaultUnsound, DepositTermsMismatch, DepositExpired, DepositUnfunded,
    /// WrongRentSponsor, OpensPaused, ListingNotActive, PriceAboveMax, ListingVersionMismatch, TimeoutOutOfRange,
    /// OpenTooLate, GasOutOfBounds, WrongNonceHalfHour, WrongExecutionId, InvalidRentSponsor, ExposureLimitReached,
    /// WrongMint, AccountExists.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn open_execution_from_deposit(
        ctx: Context<OpenExecutionFromDeposit>,
        args: OpenExecutionFromDepositArgs,
    ) -> Result<()> {
        open_execution_from_deposit_handler(ctx, args)
    }

    /// Refund a deposit that opened no execution, even while opens are paused. The caller gets everything, unless a relay
    /// authority refunds it. Then the treasury gets the service fee of a paid deposit, and all of one that is not
    /// fully paid if the caller's account cannot receive.
    ///
    /// Authority: a relay authority; anyone once a paid deposit has expired, or a day after an unpaid one was prepared.
    /// Emits `DepositRefunded`.
    /// Errors: DepositVaultUnsound, DepositNotExpired, WrongRefundDestination, RefundDestinationUnusable,
    /// WrongRentSponsor, InvalidRentSponsor.
    #[access_control(ctx.accounts.validate())]
    pub fn refund_deposit(ctx: Context<RefundDeposit>) -> Result<()> {
        refund_deposit_handler(ctx)
    }

    /// Release an escrow: the fee to the treasury, the rest to the listing's payout account or another USDC account of
    /// its creator. `signature` is by the record's signing key, over `sha256:` and the result hash in lower-case hex. The
    /// escrow's rent goes back to the account that lent it.
    ///
    /// Authority: a relay authority, with that signature, before `refund_at`. It takes `gas_lamports` of the gas. The rest
    /// goes back to the gas balance that paid it, or to the rent sponsor if no grant paid.
    /// Emits `ExecutionSettled`.
    /// Errors: NotRelayAuthority, GasAboveRecord, ExecutionNotOpen, SettleWindowClosed, WrongListing, PayoutUnusable,
    /// WrongRentSponsor, SignatureInvalid, WrongAddress.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn settle_execution(
        ctx: Context<SettleExecution>,
        args: SettleExecutionArgs,
    ) -> Result<()> {
        settle_execution_handler(ctx, args)
    }

    /// Refund an escrow to its caller. The price is subtracted from the grant's spend and the listing's exposure.
    ///
    /// Authority: a relay authority, which takes `gas_lamports` of the gas; anyone from `refund_at` on, who takes none.
    /// The rest goes back to the gas balance that paid it, or to the rent sponsor if no grant paid.
    /// Emits `ExecutionRefunded`.
    /// Errors: GasAboveRecord, ExecutionNotOpen, RefundTooEarly, WrongRefundDestination, RefundDestinationUnusable, WrongRentSponsor,
    /// WrongGrant, WrongAddress.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn refund_execution(
        ctx: Context<RefundExecution>,
        args: RefundExecutionArgs,
    ) -> Result<()> {
        refund_execution_handler(ctx, args)
    }

    /// Refund an execution that its caller's associated token account cannot receive, an hour after `refund_at`: the
    /// escrow's balance goes to the account of unclaimed refunds and becomes a leaf of an archive's tree. Everything else
    /// is as in `refund_execution`, which takes the same accounts before the last five.
    ///
    /// Authority: anyone. Emits `ExecutionRefunded` as the data of a call to itself.
    /// Errors: GasAboveRecord, ExecutionNotOpen, MoveTooEarly, WrongRefundDestination, RefundDeliverable,
    /// DestinationUnusable, ArchiveFull, InvalidTree, WrongRentSponsor, WrongGrant, WrongAddress.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn move_unclaimed_refund(
        ctx: Context<MoveUnclaimedRefund>,
        args: RefundExecutionArgs,
    ) -> Result<()> {
        move_unclaimed_refund_handler(ctx, args)
    }

    /// Refund a deposit that its caller's associated token account cannot receive, an hour after anyone could refund it:
    /// as in `refund_deposit`, but the caller's part goes to the account of unclaimed refunds and becomes a leaf of an
    /// archive's tree.
    ///
    /// Authority: anyone. Emits `DepositRefunded` as the data of a call to itself.
    /// Errors: DepositVaultUnsound, MoveTooEarly, WrongRefundDestination, RefundDeliverable, InvalidAmount,
    /// DestinationUnusable, ArchiveFull, InvalidTree, WrongRentSponsor, WrongAddress.
    #[access_control(ctx.accounts.validate())]
    pub fn move_unclaimed_deposit(ctx: Context<MoveUnclaimedDeposit>) -> Result<()> {
        move_unclaimed_deposit_handler(ctx)
    }

    /// Pay an unclaimed refund to any USDC account of its caller, by a proof that an archive's tree has its leaf. `payer`
    /// pays the rent of an account that stays and forbids a second claim.
    ///
    /// Authority: the caller. Emits `RefundClaimed` as the data of a call to itself.
    /// Errors: ArchiveProofInvalid, InvalidTree, RefundAlreadyClaimed, DestinationUnusable, InvalidAmount, WrongAddress,
    /// AccountExists.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn claim_refund(ctx: Context<ClaimRefund>, args: ClaimRefundArgs) -> Result<()> {
        claim_refund_handler(ctx, args)
    }

    /// Close the record of an ended execution and return its rent to the account that lent it:
    /// a refunded one from an hour after its open, even in the transaction of its refund; a paid one that nobody
    /// archived a year after its dispute window.
    ///
    /// Authority: anyone. Emits `ExecutionClosed`. Errors: ExecutionNotEnded, CloseTooEarly, WrongRentSponsor.
    #[access_control(ctx.accounts.validate())]
    pub fn close_execution(ctx: Context<CloseExecution>) -> Result<()> {
        close_execution_handler(ctx)
    }

    /// Dispute a settled execution, once, in its dispute window. `payer` pays rent and bond. Fails if the bond is above
    /// `max_bond`.
    ///
    /// Authority: the execution's caller. Emits `DisputeOpened`.
    /// Errors: NotCaller, ExecutionNotCompleted, DisputeWindowClosed, DisputeExists, BondAboveMax, UriTooLong.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn open_dispute(ctx: Context<OpenDispute>, args: OpenDisputeArgs) -> Result<()> {
        open_dispute_handler(ctx, args)
    }

    /// Dispute a settled execution whose record was archived: the same as `open_dispute`, with a proof that the archive's
    /// tree has the record's leaf.
    ///
    /// Authority: the execution's caller. Emits `DisputeOpened`.
    /// Errors: ArchiveProofInvalid, WrongAddress, InvalidTree, DisputeWindowClosed, DisputeExists, BondAboveMax,
    /// UriTooLong.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn open_dispute_with_proof(
        ctx: Context<OpenDisputeWithProof>,
        args: OpenDisputeWithProofArgs,
    ) -> Result<()> {
        open_dispute_with_proof_handler(ctx, args)
    }

    /// Decide a dispute. Rejected: the bond goes to the creator. Upheld: `amount` of the collateral is slashed, at most
    /// 20 times the price, and the bond goes back. The caller gets up to the price. The rest is forfeited: it stays in
    /// the vault, pays later callers after the remaining collateral, and at last goes to the treasury
    /// (`return_collateral`, `sweep_forfeits`). An active listing is paused if its collateral is then below what its
    /// price requires.
    ///
    /// Authority: the admin. Emits `DisputeResolved`.
    /// Errors: NotAdmin, DisputeNotOpen, WrongListing, InvalidAmount, SlashAboveCollateral, SlashAboveMultiple,
    /// NotCreator, WrongRentSponsor.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn resolve_dispute(ctx: Context<ResolveDispute>, args: ResolveDisputeArgs) -> Result<()> {
        resolve_dispute_handler(ctx, args)
    }

    /// Pay an award that the caller's account could not receive when its dispute was upheld.
    ///
    /// Authority: anyone, to the caller's associated token account; the caller, to any USDC account of its own.
    /// Emits `DisputeAwardClaimed`.
    /// Errors: NothingOwed, WrongDestination, DestinationUnusable, WrongRentSponsor.
    #[access_control(ctx.accounts.validate())]
    pub fn claim_dispute_award(ctx: Context<ClaimDisputeAward>) -> Result<()> {
        claim_dispute_award_handler(ctx)
    }

    /// End a dispute that the admin did not decide for 30 days. The bond goes back to the account that paid it.
    ///
    /// Authority: anyone. Emits `DisputeLapsed`. Errors: DisputeNotOpen, LapseTooEarly, WrongRentSponsor.
    pub fn lapse_dispute(ctx: Context<LapseDispute>) -> Result<()> {
        lapse_dispute_handler(ctx)
    }

    /// Close an ended dispute 30 days after its outcome. Its rent goes back to the account that paid it.
    ///
    /// Authority: anyone. Emits `DisputeClosed`. Errors: DisputeNotEnded, CloseTooEarly, WrongRentSponsor.
    #[access_control(ctx.accounts.validate())]
    pub fn close_dispute(ctx: Context<CloseDispute>) -> Result<()> {
        close_dispute_handler(ctx)
    }

    /// Register the next archive and its tree. The tree is an account of this program. Create it first with the system
    /// program, because a call between programs can allocate at most 10,240 bytes.
    ///
    /// Authority: anyone, once the previous archive is nine tenths full. Emits `ArchiveCreated`.
    /// Errors: ArchiveTooEarly, InvalidTree.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn create_archive(ctx: Context<CreateArchive>, args: CreateArchiveArgs) -> Result<()> {
        create_archive_handler(ctx, args)
    }

    /// Turn ended records into leaves of an archive's tree and return their rent. The remaining accounts are pairs of a
    /// record and its rent sponsor, at most 12 pairs. Records that cannot be archived now are skipped.
    ///
    /// Authority: anyone. Emits `ExecutionsArchived` as the data of a call to itself.
    /// Errors: TooManyRecords, NothingToArchive, ArchiveFull, InvalidTree, WrongAddress.
    #[access_control(ctx.accounts.validate(ctx.remaining_accounts))]
    pub fn archive_executions(ctx: Context<ArchiveExecutions>) -> Result<()> {
        archive_executions_handler(ctx)
    }
}
