/** Bytes of accounts on chain; layout.test.ts has their fields. */
export const TOKEN_BYTES = 165;
export const RECORD_BYTES = 295;
export const GRANT_BYTES = 197;
export const DISPUTE_BYTES = 275;
export const DEPOSIT_BYTES = 139;
/** Room for the longest change. */
export const CHANGE_BYTES = 513;
