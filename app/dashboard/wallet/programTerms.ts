/**
 * Constants of the program that everybody can read before the page loads the program's interface, which is large. A
 * test compares them with it.
 */

/** The most that one dispute can take, in prices of the call. */
export const SLASH_MULTIPLE = 20;
/** The highest fee that the program accepts, basis points. */
export const MAX_FEE_BPS = 100;
/** The time after which anybody can end an undecided dispute. */
export const DISPUTE_LAPSE_SECONDS = 2_592_000;
/** The time that an ended dispute stays, with the deposit of its account. */
export const ENDED_DISPUTE_SECONDS = 2_592_000;
/** The time in which a pending change can be applied once it is due. */
export const CHANGE_SECONDS = 604_800;
/** The time that a new guardian waits in addition to the delay of changes. */
export const GUARDIAN_CHANGE_SECONDS = 604_800;

/** Bytes of a listing's accounts that are never closed: the listing, its signing key and its collateral's book. */
export const LISTING_BYTES = [389, 74, 168];
/** Bytes of accounts that are closed at some time: those of executions, of keys and of disputes. */
export const RECORD_BYTES = 295;
export const GRANT_BYTES = 197;
export const DISPUTE_BYTES = 275;
