/** Which faults of a database pass by themselves, so that the same may be tried again. */

/**
 * By the first letters of SQLSTATE: lost connections, conflicts, too little of something, locks, shutdowns, a standby, a
 * transaction that stood still for too long.
 */
const STATES = ['08', '40001', '40P01', '53', '55P03', '57014', '57P0', '58030', '25006', '25P03'];
const CONNECTION = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT)$/;
const SQLITE = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|NOMEM)/;
/** What the driver says without a code. */
const MESSAGES =
  /connection terminated|timeout exceeded when trying to connect|not queryable|query read timeout|connection timeout|^timeout expired$/i;

/**
 * The database was busy, full, away, or had to choose between two: no fault of the statement's. What a statement has done
 * whose connection was lost is not known.
 */
export function isTemporary(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  if (typeof code !== 'string') return MESSAGES.test(error.message);
  if (CONNECTION.test(code)) return typeof syscall === 'string';
  return SQLITE.test(code) || (code.length === 5 && STATES.some((state) => code.startsWith(state)));
}

/** Whether a write that failed so may have been done all the same. SQLite takes back what it could not do. */
export function isUndecided(error: unknown): boolean {
  return isTemporary(error) && !SQLITE.test(String((error as { code?: unknown }).code));
}

/** Whether there was no room for the write: SQLite's file, the file system, or PostgreSQL's disk_full. */
export function isFull(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === 'SQLITE_FULL' || code === 'ENOSPC' || code === '53100';
}
