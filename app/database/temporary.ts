/** Recognizes temporary faults of a database, after which a retry may succeed. */

/**
 * Prefixes of SQLSTATE: lost connections, conflicts, lack of resources, locks, shutdowns, a standby, a transaction that
 * was idle for too long.
 */
const STATES = ['08', '40001', '40P01', '53', '55P03', '57014', '57P0', '58030', '25006', '25P03'];
const CONNECTION = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT)$/;
const SQLITE = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|NOMEM)/;
/** The driver's messages without a code. */
const MESSAGES =
  /connection terminated|timeout exceeded when trying to connect|not queryable|query read timeout|connection timeout|^timeout expired$/i;

/**
 * The database was busy, full or unreachable, or resolved a conflict; the statement is not at fault. If the connection
 * was lost, it is unknown if the statement was executed.
 */
export function isTemporary(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  if (typeof code !== 'string') return MESSAGES.test(error.message);
  if (CONNECTION.test(code)) return typeof syscall === 'string';
  return SQLITE.test(code) || (code.length === 5 && STATES.some((state) => code.startsWith(state)));
}

/** True if a write that failed with this error may still have been executed. SQLite undoes a failed write. */
export function isUndecided(error: unknown): boolean {
  return isTemporary(error) && !SQLITE.test(String((error as { code?: unknown }).code));
}

/** True if there was no space for the write: SQLite's file, the file system, or PostgreSQL's disk_full. */
export function isFull(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === 'SQLITE_FULL' || code === 'ENOSPC' || code === '53100';
}

/** The message of an error. SQLite's and the system's do not say which disk is full, or what follows. */
export function messageOf(error: unknown, place: string): string {
  const message = error instanceof Error ? error.message : String(error);
  return isFull(error)
    ? `no space is left on the disk of ${place}. Free or add space; nothing is lost (${message})`
    : message;
}
