//! The errors of all instructions, grouped by account. Append-only after launch: a published error code keeps its
//! meaning.

use anchor_lang::prelude::*;

/// The program's errors.
#[error_code]
pub enum MarketplaceError {
    // Config, treasury
    #[msg("Only the program's upgrade authority may create the marketplace")]
    NotUpgradeAuthority,
    #[msg("This account is not the program's own ProgramData account")]
    WrongProgramData,
    #[msg("The settlement mint must belong to the classic Token program and have six decimals")]
    InvalidMint,
    #[msg("The admin must not be the zero key")]
    InvalidAuthority,
    #[msg("There must be 1 to 8 relay authorities, none twice and none the zero key")]
    InvalidRelayAuthorities,
    #[msg("fee_bps must be between 0 and 100")]
    FeeOutOfBounds,
    #[msg("min_price must be between 10000 and 1000000 base units")]
    MinPriceOutOfBounds,
    #[msg("dispute_window_seconds must be between 259200 and 2592000")]
    DisputeWindowOutOfBounds,
    #[msg("refund_grace_seconds must be between 300 and 3600")]
    RefundGraceOutOfBounds,
    #[msg("max_timeout_seconds must be between 60 and 86400")]
    MaxTimeoutOutOfBounds,
    #[msg("record_seconds must be between 3600 and 259200")]
    RecordSecondsOutOfBounds,
    #[msg("dispute_bond_lamports must be at most 1 SOL")]
    BondOutOfBounds,
    #[msg("exposure_multiple must be at most 1000")]
    ExposureMultipleOutOfBounds,
    #[msg("Collateral tiers must be 1 to 4, strictly increasing, with prices from min_price to 10000 USDC and deposits up to 100000 USDC")]
    InvalidTiers,
    #[msg("Only the admin may do this")]
    NotAdmin,
    #[msg("Only the key that the change proposes as admin may accept it")]
    NotNextAdmin,
    #[msg("Only a relay authority may do this")]
    NotRelayAuthority,
    #[msg("This is not the marketplace's settlement mint")]
    WrongMint,
    #[msg("New executions are paused")]
    OpensPaused,

    // AgentListing, SigningKey
    #[msg("Only the listing's creator may do this")]
    NotCreator,
    #[msg("The price is below the marketplace's minimum")]
    PriceBelowMinimum,
    #[msg("The price is above the last collateral tier")]
    PriceAboveTiers,
    #[msg("Timeouts must satisfy 1 <= min_timeout_seconds <= timeout_seconds <= the marketplace's maximum")]
    InvalidTimeouts,
    #[msg("tag_mask must select 1 to 5 of the 10 standard tags")]
    InvalidTags,
    #[msg("metadata_uri must be at most 200 bytes")]
    UriTooLong,
    #[msg("The payout account must be a USDC account owned by the creator's wallet")]
    InvalidPayout,
    #[msg("The signing key must be a canonical Ed25519 public key that is not of small order")]
    WeakSigningKey,
    #[msg("This signing key already belongs to a listing")]
    SigningKeyTaken,
    #[msg("A listing moves only between active and paused, and from either to delisted")]
    InvalidListingTransition,
    #[msg("The listing is delisted")]
    ListingDelisted,
    #[msg("The listing is not active")]
    ListingNotActive,

    // CreatorCollateral
    #[msg("The deposit account must be a USDC account owned by the creator's wallet")]
    InvalidDepositSource,
    #[msg("The listing's collateral is below what its price requires")]
    CollateralBelowTier,
    #[msg("The price requires a deposit above max_deposit")]
    DepositAboveMax,
    #[msg("The listing's exposure limit for this window is reached")]
    ExposureLimitReached,
    #[msg("The collateral vault does not cover its liabilities")]
    CollateralInsolvent,
    #[msg("The collateral goes back once: after delisting, and not before returnable_at")]
    CollateralNotReturnable,
    #[msg("The collateral waits for open disputes")]
    DisputesOpen,
    #[msg("Nothing of this collateral is forfeited")]
    NothingForfeited,
    #[msg("Forfeits go to the treasury from sweepable_at on, or from returnable_at on if the agent is delisted")]
    ForfeitsNotSweepable,

    // KeyGrant, gas balance
    #[msg("A key id must not be all zero")]
    InvalidKeyId,
    #[msg("The USDC limits and the period of a grant must be above zero")]
    GrantLimitZero,
    #[msg("A grant must end in the future, at most a year from now")]
    GrantExpiryOutOfBounds,
    #[msg("max_gas_lamports must be at most 100000")]
    GrantGasOutOfBounds,
    #[msg("Only the grant's wallet may do this")]
    NotGrantWallet,
    #[msg("Only the grant's wallet or a relay authority may revoke it")]
    NotGrantAuthority,
    #[msg("The grant is revoked")]
    GrantRevoked,
    #[msg("The grant has expired")]
    GrantExpired,
    #[msg("The price is above the grant's limit for one execution")]
    GrantPerExecutionExceeded,
    #[msg("The price does not fit what is left of the grant's period")]
    GrantPeriodExceeded,
    #[msg("The price does not fit what is left of the grant")]
    GrantTotalExceeded,
    #[msg("Fee and gas are above what the grant allows for one execution")]
    GrantGasExceeded,
    #[msg("The grant's spend is above its limits")]
    GrantOverspent,
    #[msg("The grant paid for an execution in this very second; close it in the next")]
    GrantInUse,
    #[msg("This is not the grant that paid for the execution")]
    WrongGrant,
    #[msg("The wallet has not delegated enough USDC to its spender address")]
    InsufficientAllowance,
    #[msg("The wallet's gas balance is too low for fee and gas of this open, and for the rent that it lends")]
    GasBalanceTooLow,
    #[msg("The gas balance must end at zero or stay rent-exempt")]
    GasBalanceBelowRent,

    // ExecutionRecord, escrow
    #[msg("The execution id does not follow from the caller and the nonce")]
    WrongExecutionId,
    #[msg("The nonce must begin with the present or the previous half-hour, unix time / 1800, as a little-endian u32")]
    WrongNonceHalfHour,
    #[msg("The price is above max_price")]
    PriceAboveMax,
    #[msg("The listing has changed since listing_version")]
    ListingVersionMismatch,
    #[msg("The timeout is outside what the listing offers")]
    TimeoutOutOfRange,
    #[msg("This open is too late: open_before has passed")]
    OpenTooLate,
    #[msg("gas_lamports must be at most 100000")]
    GasOutOfBounds,
    #[msg("The rent sponsor must be a writable account that is not a program")]
    InvalidRentSponsor,
    #[msg("The paying account must be a USDC account owned by the caller")]
    InvalidSource,
    #[msg("The paying account holds less than the price")]
    InsufficientBalance,
    #[msg("The execution is not open")]
    ExecutionNotOpen,
    #[msg("The deadline refund_at has passed: this execution can only be refunded")]
    SettleWindowClosed,
    #[msg("The Ed25519 signature is not this key's over this message")]
    SignatureInvalid,
    #[msg("This listing is not the one that the execution was opened for")]
    WrongListing,
    #[msg(
        "The payout account must be a USDC account that the listing's creator owns, and not frozen"
    )]
    PayoutUnusable,
    #[msg("Before refund_at only a relay authority may refund")]
    RefundTooEarly,
    #[msg("A refund goes to the caller's associated token account, or to any USDC account of a caller who signs")]
    WrongRefundDestination,
    #[msg("The refund account cannot receive: it is missing, frozen or no longer the caller's")]
    RefundDestinationUnusable,
    #[msg("Rent goes back to the account that lent it")]
    WrongRentSponsor,
    #[msg("The execution has not ended")]
    ExecutionNotEnded,
    #[msg("It is too early: a refunded execution stays an hour after its open, a paid one a year after its window, a dispute 30 days")]
    CloseTooEarly,
    #[msg("The record and its escrow do not agree")]
    RecordUnsound,

    // Dispute
    #[msg("Only the execution's caller may do this")]
    NotCaller,
    #[msg("Only a completed execution can be disputed")]
    ExecutionNotCompleted,
    #[msg("The execution's dispute window has closed")]
    DisputeWindowClosed,
    #[msg("The execution has been disputed before")]
    DisputeExists,
    #[msg("The dispute is not open")]
    DisputeNotOpen,
    #[msg("The bond is above max_bond")]
    BondAboveMax,
    #[msg("The slash is above what is left of the collateral. Forfeits only pay a caller up to the price")]
    SlashAboveCollateral,
    #[msg("The slash is above 20 times the disputed price")]
    SlashAboveMultiple,
    #[msg("The dispute owes nothing")]
    NothingOwed,
    #[msg("A dispute lapses 30 days after it was opened")]
    LapseTooEarly,
    #[msg("The dispute is open, or still owes an award")]
    DisputeNotEnded,
    #[msg("The dispute's amounts do not agree with its outcome")]
    DisputeUnsound,

    // Archive
    #[msg(
        "A tree must be a new account of this program: of the exact size, all zero and rent-exempt"
    )]
    InvalidTree,
    #[msg("The archive before this one is not yet nine tenths full")]
    ArchiveTooEarly,
    #[msg("The archive has no room left")]
    ArchiveFull,
    #[msg("At most 12 records can be archived at a time")]
    TooManyRecords,
    #[msg("None of these records can be archived now")]
    NothingToArchive,
    #[msg("The archive's count is not that of its tree")]
    ArchiveUnsound,
    #[msg("The archive has no leaf with these fields, or the proof is too old: build a new one")]
    ArchiveProofInvalid,

    // Any account
    #[msg("The account to be made exists already")]
    AccountExists,
    #[msg("This account is not at the address that its seeds make")]
    WrongAddress,
    #[msg("The amount must be above zero and no more than there is")]
    InvalidAmount,
    #[msg("An amount is out of range")]
    ArithmeticOverflow,
    #[msg("The receiving account is missing, frozen or no USDC account")]
    DestinationUnusable,
    #[msg("This is not the account that the money belongs to")]
    WrongDestination,

    // Config, PendingChange
    #[msg("Only the guardian or the admin may do this")]
    NotGuardianOrAdmin,
    #[msg("This change widens what a key can do, so it must be proposed and wait for admin_delay_seconds")]
    ChangeMustWait,
    #[msg("The change is not due yet")]
    ChangeNotDue,
    #[msg(
        "The change was not applied within 7 days after it was due. Cancel it and propose it again"
    )]
    ChangeExpired,
    #[msg("admin_delay_seconds can only be raised, to at most 2592000")]
    AdminDelayOutOfBounds,
    #[msg("This key is not a relay authority")]
    UnknownRelayAuthority,

    // Unclaimed refunds
    #[msg("A refund can be moved to the unclaimed ones one hour after anyone can make it")]
    MoveTooEarly,
    #[msg("The caller's associated USDC account can receive this refund")]
    RefundDeliverable,
    #[msg("This refund has been claimed")]
    RefundAlreadyClaimed,

    // Deposit
    #[msg("The service fee must be at most 50000 base units")]
    ServiceFeeOutOfBounds,
    #[msg("The payer that the deposit names is not its caller")]
    DepositCallerMismatch,
    #[msg("The deposit's vault must be a USDC account that the deposit owns, and not frozen")]
    DepositVaultUnsound,
    #[msg("The deposit was prepared for other terms, another payer or another price")]
    DepositTermsMismatch,
    #[msg("The deposit has expired; it can only be refunded")]
    DepositExpired,
    #[msg("The deposit holds less than the price and the service fee")]
    DepositUnfunded,
    #[msg("Only a relay authority may refund a deposit before it expires, or in its first day while it is not paid")]
    DepositNotExpired,

    // Pauses
    #[msg("The guardian has paused withdrawals from the treasury and transfers of forfeits to it")]
    TreasuryPaused,

    // PendingChange
    #[msg("A change holds settings, or an admin, or a guardian. Propose them separately")]
    MixedChange,
    #[msg("All changes proposed up to this second were cancelled: at once, by removing a relay authority, by the guardian's pause or by a new admin. Propose it again")]
    ChangeInvalidated,
    #[msg("The proposed admin must accept this change with accept_admin")]
    AdminMustAccept,
    #[msg("Only the guardian may do this")]
    NotGuardian,

    // ExecutionRecord
    #[msg("gas_lamports must be at most the gas of the record")]
    GasAboveRecord,
}
