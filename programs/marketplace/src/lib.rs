//! Escrow for paid executions of AI agents.
//!
//! A creator lists an agent with a price, a signing key and collateral (`list_agent`). A caller's price
//! moves into an escrow account of its own (`open_execution`, or `open_execution_with_grant` for an API key
//! whose wallet gave it a capped right with `create_grant`). A caller without SOL pays into a deposit, which
//! becomes such an escrow or goes back (`prepare_deposit`, `open_execution_from_deposit`, `refund_deposit`).
//! The price leaves the escrow in one of two ways only:
//! to creator and marketplace, in a transaction that carries the creator's Ed25519 signature over the
//! result's hash (`settle_execution`), or back to the caller (`refund_execution`), which from `refund_at` on
//! anyone can trigger; where the caller's account cannot receive, the escrow account itself becomes the caller's in
//! the end (`hand_over_refund`, `close_escrow`). The `ExecutionRecord` stays as proof of what was asked, answered and paid. Within its
//! dispute window the caller can dispute it (`open_dispute`); the admin's answer may take from the creator's
//! collateral (`resolve_dispute`), which goes back when the listing is gone and every window has closed
//! (`delist_agent`, `return_collateral`). When nothing can change a record any more, it becomes a leaf of a Merkle
//! tree and its rent goes back (`create_archive`, `archive_executions`); anyone proves it by the tree's root.
//!
//! Who is served pays: an open parks lamports in the record for the relay that will end it, from the wallet's tank,
//! which is its `Spender` address; all rent goes back to who lent it, in the end with the record itself, which
//! becomes a leaf of an archive (`archive_executions`).
//!
//! Each instruction names its errors. All can also end with ArithmeticOverflow, or with an error that ends in Unsound,
//! Insolvent or Overspent: then an account breaks its own rules, and nothing may change.
//!
//! `state/` holds the accounts and their transitions, `instructions/` who may cause them, `signature.rs` the
//! verifier of signatures, `events.rs` what indexers hear.

use anchor_lang::prelude::*;

#[macro_use]
pub mod guard;

pub mod addresses;
pub mod calls;
pub mod constants;
pub mod creation;
pub mod errors;
pub mod events;
pub mod instructions;
pub mod packing;
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

/// The instructions, in the order in which a marketplace meets them.
#[program]
pub mod marketplace {
    use super::*;

    /// Create the marketplace: settings, settlement mint and treasury, all for ever or within fixed bounds.
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

    /// Change settings at once; what is absent stays. Executions that are open keep what they were opened with. Where
    /// `admin_delay_seconds` is not 0, another fee, bond, minimum price or other tiers, a shorter dispute window, and a
    /// higher or no exposure limit must be proposed instead.
    ///
    /// Authority: the admin. Emits `ConfigUpdated`.
    /// Errors: NotAdmin, ChangeMustWait, the OutOfBounds errors, InvalidTiers.
    pub fn update_config(ctx: Context<UpdateConfig>, args: SettingsChange) -> Result<()> {
        update_config_handler(ctx, args)
    }

    /// Announce a change that anyone can apply `admin_delay_seconds` later. Several can wait.
    ///
    /// Authority: the admin. Emits `ChangeProposed`.
    /// Errors: NotAdmin, the OutOfBounds errors, InvalidTiers, InvalidRelayAuthorities, AccountExists.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn propose_change(ctx: Context<ProposeChange>, args: ProposeChangeArgs) -> Result<()> {
        propose_change_handler(ctx, args)
    }

    /// Let a change take effect that is due. Its rent goes back to who paid it.
    ///
    /// Authority: anyone. Emits `ChangeApplied`.
    /// Errors: ChangeNotDue, WrongRentSponsor, the OutOfBounds errors, InvalidTiers, InvalidRelayAuthorities.
    #[access_control(ctx.accounts.validate())]
    pub fn apply_change(ctx: Context<ApplyChange>) -> Result<()> {
        apply_change_handler(ctx)
    }

    /// Drop a change that waits. Its rent goes back to who paid it.
    ///
    /// Authority: the admin or the guardian. Emits `ChangeCancelled`. Errors: NotGuardianOrAdmin, WrongRentSponsor.
    #[access_control(ctx.accounts.validate())]
    pub fn cancel_change(ctx: Context<CancelChange>) -> Result<()> {
        cancel_change_handler(ctx)
    }

    /// Stop every new execution at once; only the admin resumes, by `update_config`.
    ///
    /// Authority: the admin or the guardian. Emits `ConfigUpdated`. Errors: NotGuardianOrAdmin.
    #[access_control(ctx.accounts.validate())]
    pub fn pause_opens(ctx: Context<PauseOpens>) -> Result<()> {
        pause_opens_handler(ctx)
    }

    /// Name who may become admin, or with the zero key nobody. Where `admin_delay_seconds` is not 0, only nobody: others
    /// are proposed by `propose_change`.
    ///
    /// Authority: the admin. Emits `AdminProposed`. Errors: NotAdmin, ChangeMustWait.
    pub fn propose_admin(ctx: Context<ProposeAdmin>, args: ProposeAdminArgs) -> Result<()> {
        propose_admin_handler(ctx, args)
    }

    /// Become admin.
    ///
    /// Authority: the proposed admin. Emits `AdminChanged`. Errors: NotPendingAdmin.
    pub fn accept_admin(ctx: Context<AcceptAdmin>) -> Result<()> {
        accept_admin_handler(ctx)
    }

    /// Say which keys have the relay's part, at once; they replace those before. Where `admin_delay_seconds` is not 0,
    /// none that is new: those are added by `propose_change`.
    ///
    /// Authority: the admin. Emits `RelayAuthoritiesChanged`. Errors: NotAdmin, ChangeMustWait, InvalidRelayAuthorities.
    pub fn set_relay_authorities(
        ctx: Context<SetRelayAuthorities>,
        args: SetRelayAuthoritiesArgs,
    ) -> Result<()> {
        set_relay_authorities_handler(ctx, args)
    }

    /// Take the relay's part from one key at once, even from the last.
    ///
    /// Authority: the admin or the guardian. Emits `RelayAuthoritiesChanged`.
    /// Errors: NotGuardianOrAdmin, UnknownRelayAuthority.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn remove_relay_authority(
        ctx: Context<RemoveRelayAuthority>,
        args: RemoveRelayAuthorityArgs,
    ) -> Result<()> {
        remove_relay_authority_handler(ctx, args)
    }

    /// Take collected fees out.
    ///
    /// Authority: the admin. Emits `TreasuryWithdrawn`. Errors: NotAdmin, InvalidAmount, DestinationUnusable.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn withdraw_treasury(
        ctx: Context<WithdrawTreasury>,
        args: WithdrawTreasuryArgs,
    ) -> Result<()> {
        withdraw_treasury_handler(ctx, args)
    }

    /// Give or take a creator's verification badge.
    ///
    /// Authority: the admin. Emits `CreatorVerificationChanged`. Errors: NotAdmin, AccountExists.
    pub fn set_creator_verified(
        ctx: Context<SetCreatorVerified>,
        args: SetCreatorVerifiedArgs,
    ) -> Result<()> {
        set_creator_verified_handler(ctx, args)
    }

    /// List an agent and deposit its collateral. `possession` is the signing key's Ed25519 signature over
    /// `agent-marketplace:register:v1:` and the listing's 32 bytes. It fails if the deposit is above `max_deposit`.
    ///
    /// Authority: the creator. Emits `AgentListed`.
    /// Errors: PriceBelowMinimum, PriceAboveTiers, InvalidTimeouts, InvalidTags, UriTooLong, InvalidPayout, WrongMint,
    /// InvalidDepositSource, DepositAboveMax, InsufficientBalance, WeakSigningKey, SignatureInvalid, SigningKeyTaken,
    /// AccountExists.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn list_agent(ctx: Context<ListAgent>, args: ListAgentArgs) -> Result<()> {
        list_agent_handler(ctx, args)
    }

    /// Change a listing's terms or payout account; new terms raise its version. A higher price fails if it needs more
    /// collateral than `max_deposit`.
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

    /// Sign with another key from now on; open executions keep theirs. `possession` is the new key's proof, as for
    /// `list_agent`. A key that this listing used before may come back.
    ///
    /// Authority: the creator. Emits `SigningKeyRotated`.
    /// Errors: NotCreator, ListingDelisted, SigningKeyTaken, WeakSigningKey, SignatureInvalid, AccountExists.
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

    /// Take a listing off for good. Its collateral can go back once every window that could be open has closed.
    ///
    /// Authority: the creator. Emits `AgentDelisted`. Errors: NotCreator, InvalidListingTransition.
    pub fn delist_agent(ctx: Context<DelistAgent>) -> Result<()> {
        delist_agent_handler(ctx)
    }

    /// Send what is left of a delisted listing's collateral to its creator's associated token account. Awards
    /// that are still owed stay in the vault; without any it is closed, or, where a rise of the rent has left nobody able
    /// to take its rent, by the same instruction later.
    ///
    /// Authority: anyone. Emits `CollateralReturned`.
    /// Errors: CollateralNotReturnable, DisputesOpen, DestinationUnusable, WrongRentSponsor.
    #[access_control(ctx.accounts.validate())]
    pub fn return_collateral(ctx: Context<ReturnCollateral>) -> Result<()> {
        return_collateral_handler(ctx)
    }

    /// Give an API key a capped right to spend from the signing wallet. It works only together with an SPL
    /// approval of the wallet's `Spender` address.
    ///
    /// Authority: the wallet. Emits `GrantCreated`. Errors: GrantLimitZero, GrantExpiryOutOfBounds,
    /// GrantGasOutOfBounds, InvalidKeyId, AccountExists.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn create_grant(ctx: Context<CreateGrant>, args: CreateGrantArgs) -> Result<()> {
        create_grant_handler(ctx, args)
    }

    /// Change a key's limits; what is spent stays spent, even where it is above them.
    ///
    /// Authority: the wallet. Emits `GrantUpdated`.
    /// Errors: NotGrantWallet, GrantRevoked, GrantLimitZero, GrantExpiryOutOfBounds, GrantGasOutOfBounds.
    pub fn update_grant(ctx: Context<UpdateGrant>, args: UpdateGrantArgs) -> Result<()> {
        update_grant_handler(ctx, args)
    }

    /// End a key's right for good.
    ///
    /// Authority: the wallet or a relay authority. Emits `GrantRevoked`.
    /// Errors: NotGrantAuthority, GrantRevoked.
    #[access_control(ctx.accounts.validate())]
    pub fn revoke_grant(ctx: Context<RevokeGrant>) -> Result<()> {
        revoke_grant_handler(ctx)
    }

    /// End a key's right, if it still was one, and give the account's rent back to who paid it.
    ///
    /// Authority: the wallet. Emits `GrantClosed`. Errors: NotGrantWallet, WrongRentSponsor, GrantInUse.
    #[access_control(ctx.accounts.validate())]
    pub fn close_grant(ctx: Context<CloseGrant>) -> Result<()> {
        close_grant_handler(ctx)
    }

    /// Take lamports out of the signing wallet's tank, its `Spender` address, which anyone fills by plain transfers;
    /// `u64::MAX` takes all.
    ///
    /// Authority: the wallet. Emits `GasWithdrawn`. Errors: InvalidAmount, TankBelowRent.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn withdraw_gas(ctx: Context<WithdrawGas>, args: WithdrawGasArgs) -> Result<()> {
        withdraw_gas_handler(ctx, args)
    }

    /// Fund an execution from the caller's own USDC account. `payer` lends the rent, to be returned to any
    /// `rent_sponsor` that it names, and gives the gas.
    ///
    /// Authority: the caller. Emits `ExecutionOpened`.
    /// Errors: OpensPaused, ListingNotActive, PriceAboveMax, ListingVersionMismatch, TimeoutOutOfRange,
    /// OpenTooLate, GasOutOfBounds, WrongNonceDay, WrongExecutionId, InvalidRentSponsor, InvalidSource,
    /// InsufficientBalance, ExposureLimitReached, WrongListing, WrongMint, AccountExists, WrongAddress.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn open_execution(ctx: Context<OpenExecution>, args: OpenExecutionArgs) -> Result<()> {
        open_execution_handler(ctx, args)
    }

    /// Fund an execution from a wallet that granted an API key the right to. The wallet's tank gives the gas; the
    /// rent is lent by the tank where it is the `rent_sponsor`, else by `payer`, as in `open_execution`.
    ///
    /// Authority: a relay authority, within the grant's caps. Emits `ExecutionOpened`.
    /// Errors: NotRelayAuthority, GrantRevoked, GrantExpired, GrantPerExecutionExceeded, GrantPeriodExceeded,
    /// GrantTotalExceeded, GrantGasExceeded, GrantLamportsExceeded, InsufficientAllowance, TankTooLow, TankBelowRent,
    /// OpensPaused, ListingNotActive, PriceAboveMax, ListingVersionMismatch, TimeoutOutOfRange, OpenTooLate,
    /// GasOutOfBounds, WrongNonceDay, WrongExecutionId, InvalidRentSponsor, InvalidSource, InsufficientBalance,
    /// ExposureLimitReached, WrongListing, WrongMint, AccountExists, WrongAddress.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn open_execution_with_grant(
        ctx: Context<OpenExecutionWithGrant>,
        args: OpenExecutionArgs,
    ) -> Result<()> {
        open_execution_with_grant_handler(ctx, args)
    }

    /// Make a deposit and its vault, so that `caller` can pay an execution by a plain transfer; the address commits to
    /// what is bought, for whom and for how much. `payer` lends the rent, to be returned to any `rent_sponsor` that it
    /// names.
    ///
    /// Authority: a relay authority; anyone where the payer is named and the vault is paid already.
    /// Emits `DepositPrepared`.
    /// Errors: NotRelayAuthority, ServiceFeeOutOfBounds, DepositCallerMismatch, WrongAddress, AccountExists,
    /// InvalidRentSponsor, DepositVaultUnsound, WrongMint.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn prepare_deposit(ctx: Context<PrepareDeposit>, args: PrepareDepositArgs) -> Result<()> {
        prepare_deposit_handler(ctx, args)
    }

    /// Fund an execution from a deposit that its caller has paid: the service fee to the treasury, all else into the
    /// escrow. The deposit ends. `payer` lends the rent and gives the gas, as in `open_execution`.
    ///
    /// Authority: a relay authority, before the deposit expires. Emits `ExecutionOpened`.
    /// Errors: NotRelayAuthority, DepositVaultUnsound, DepositTermsMismatch, DepositExpired, DepositUnfunded,
    /// WrongRentSponsor, OpensPaused, ListingNotActive, PriceAboveMax, ListingVersionMismatch, TimeoutOutOfRange,
    /// OpenTooLate, GasOutOfBounds, WrongNonceDay, WrongExecutionId, InvalidRentSponsor, ExposureLimitReached,
    /// WrongListing, WrongMint, AccountExists, WrongAddress.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn open_execution_from_deposit(
        ctx: Context<OpenExecutionFromDeposit>,
        args: OpenExecutionFromDepositArgs,
    ) -> Result<()> {
        open_execution_from_deposit_handler(ctx, args)
    }

    /// Send a deposit that opened no execution back to its caller, whether opens are paused or not. A relay authority
    /// sends the service fee of a paid one to the treasury; where anyone else does it, the caller gets everything.
    ///
    /// Authority: a relay authority; anyone once a paid one has expired, or a day after one that is not paid was prepared.
    /// Emits `DepositRefunded`.
    /// Errors: DepositVaultUnsound, DepositNotExpired, WrongRefundDestination, RefundDestinationUnusable,
    /// WrongRentSponsor, InvalidRentSponsor, WrongAddress.
    #[access_control(ctx.accounts.validate())]
    pub fn refund_deposit(ctx: Context<RefundDeposit>) -> Result<()> {
        refund_deposit_handler(ctx)
    }

    /// Release an escrow: the fee to the treasury, the rest to the listing's payout account or any other USDC account
    /// of its creator. `signature` is the record's signing key's over `sha256:` and the result hash in lower-case hex.
    ///
    /// Authority: a relay authority, which gets the gas, and that signature, before `refund_at`.
    /// Emits `ExecutionSettled`.
    /// Errors: NotRelayAuthority, ExecutionNotOpen, SettleWindowClosed, WrongListing, PayoutUnusable,
    /// WrongRentSponsor, SignatureInvalid, WrongAddress.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn settle_execution(
        ctx: Context<SettleExecution>,
        args: SettleExecutionArgs,
    ) -> Result<()> {
        settle_execution_handler(ctx, args)
    }

    /// Send an escrow back to its caller. The grant gets its spend back, the listing its exposure.
    ///
    /// Authority: a relay authority, which gets the gas; anyone from `refund_at` on, and then the gas goes back to the
    /// tank that gave it, or to the rent sponsor where a wallet opened the execution.
    /// Emits `ExecutionRefunded`.
    /// Errors: ExecutionNotOpen, RefundTooEarly, WrongRefundDestination, RefundDestinationUnusable,
    /// WrongListing, WrongRentSponsor, WrongGrant, WrongAddress.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn refund_execution(
        ctx: Context<RefundExecution>,
        args: RefundExecutionArgs,
    ) -> Result<()> {
        refund_execution_handler(ctx, args)
    }

    /// End a refund that the caller's associated token account cannot receive, 7 days after `refund_at`: the escrow
    /// account itself becomes the caller's, with all that it holds; the right to close it stays with the program. The
    /// record ends as by `refund_execution`, whose accounts it takes.
    ///
    /// Authority: anyone. Emits `ExecutionRefunded`, whose `handed_over` is true.
    /// Errors: ExecutionNotOpen, HandOverTooEarly, WrongRefundDestination, RefundDeliverable, WrongListing,
    /// WrongRentSponsor, WrongGrant, WrongAddress.
    #[access_control(ctx.accounts.validate_hand_over())]
    pub fn hand_over_refund(ctx: Context<RefundExecution>) -> Result<()> {
        hand_over_refund_handler(ctx)
    }

    /// Close an escrow account that was handed over and that its caller has emptied; its rent goes to who lent it.
    ///
    /// Authority: anyone. Emits `EscrowClosed`. Errors: EscrowNotHandedOver, WrongRentSponsor, EscrowNotEmpty.
    #[access_control(ctx.accounts.validate())]
    pub fn close_escrow(ctx: Context<CloseEscrow>) -> Result<()> {
        close_escrow_handler(ctx)
    }

    /// Give the rent of an ended execution back to who lent it: three days after a refund, and where nobody archived
    /// a paid one, a year after its dispute window.
    ///
    /// Authority: anyone. Emits `ExecutionClosed`. Errors: ExecutionNotEnded, CloseTooEarly, WrongRentSponsor.
    #[access_control(ctx.accounts.validate())]
    pub fn close_execution(ctx: Context<CloseExecution>) -> Result<()> {
        close_execution_handler(ctx)
    }

    /// Dispute a settled execution, once, within its window. `payer` pays rent and bond; it fails if the bond is above
    /// `max_bond`.
    ///
    /// Authority: the execution's caller. Emits `DisputeOpened`.
    /// Errors: NotCaller, ExecutionNotCompleted, DisputeWindowClosed, DisputeExists, BondAboveMax, UriTooLong,
    /// AccountExists.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn open_dispute(ctx: Context<OpenDispute>, args: OpenDisputeArgs) -> Result<()> {
        open_dispute_handler(ctx, args)
    }

    /// Answer a dispute. Rejected: the bond goes to the creator. Upheld: `amount` of the collateral is slashed, at most
    /// 20 times the price: to the caller up to the price, the rest to the treasury; the bond goes back; an active
    /// listing whose collateral is then below what its price requires is paused.
    ///
    /// Authority: the admin. Emits `DisputeResolved`.
    /// Errors: NotAdmin, DisputeNotOpen, WrongListing, InvalidAmount, SlashAboveCollateral, SlashAboveMultiple,
    /// OtherDisputesStarved, NotCreator, WrongRentSponsor.
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

    /// End a dispute that the admin left unanswered for 30 days; the bond goes back.
    ///
    /// Authority: anyone. Emits `DisputeLapsed`. Errors: DisputeNotOpen, LapseTooEarly, WrongRentSponsor.
    pub fn lapse_dispute(ctx: Context<LapseDispute>) -> Result<()> {
        lapse_dispute_handler(ctx)
    }

    /// Give the rent of an ended dispute back to who paid it, 30 days after its outcome.
    ///
    /// Authority: anyone. Emits `DisputeClosed`. Errors: DisputeNotEnded, CloseTooEarly, WrongRentSponsor.
    #[access_control(ctx.accounts.validate())]
    pub fn close_dispute(ctx: Context<CloseDispute>) -> Result<()> {
        close_dispute_handler(ctx)
    }

    /// Register the next archive and its tree: an account of this program, made before by the system program,
    /// because a call between programs can make 10,240 bytes only.
    ///
    /// Authority: anyone; the index before must be nine tenths full. Emits `ArchiveCreated`.
    /// Errors: ArchiveTooEarly, InvalidTree, AccountExists.
    #[access_control(ctx.accounts.validate(&args))]
    pub fn create_archive(ctx: Context<CreateArchive>, args: CreateArchiveArgs) -> Result<()> {
        create_archive_handler(ctx, args)
    }

    /// Turn ended records into leaves of an archive's tree and give their rent back to who paid it. The remaining
    /// accounts are pairs of a record and its rent sponsor, at most 12; what cannot be archived now is skipped.
    ///
    /// Authority: anyone. Sends `ExecutionsArchived` as the data of a call to itself.
    /// Errors: TooManyRecords, NothingToArchive, ArchiveFull, InvalidTree, WrongAddress.
    #[access_control(ctx.accounts.validate(ctx.remaining_accounts))]
    pub fn archive_executions(ctx: Context<ArchiveExecutions>) -> Result<()> {
        archive_executions_handler(ctx)
    }
}
