/**
 * The directory of keys that sign calls to creators, for all relays on this ledger. Each relay has keys of its own, whose
 * private halves never leave its machine; it lists the public ones here for as long as it lives, so that a creator can
 * verify a call of any relay by the directory that any other serves.
 */
import { type Kysely, sql } from 'kysely';
import type { Logger } from 'pino';
import { nowMsOf } from '../../database/portable.ts';
import type { KeyDirectory } from '../../sdk/wire/wire.ts';
import type { LedgerTables } from './tables.ts';

/** Longer than a signature is good for, and than creators keep a directory: what a relay signed last can be verified. */
const LISTED_MS = 15 * 60_000;
const RENEW_MS = 60_000;

export interface SharedDirectory {
  /** Ours first. Where the ledger does not answer, the others are as they were last read. */
  read(): Promise<KeyDirectory>;
  /** Ours stay listed for a while: what was signed may be on its way. */
  end(): void;
}

/** Lists our own keys among those of the other relays from now on. */
export async function shareCallKeys(ledger: Kysely<LedgerTables>, own: KeyDirectory, log: Logger): Promise<SharedDirectory> {
  const now = nowMsOf(ledger);
  const ours = new Set(own.keys.map(({ kid }) => kid));
  let others: KeyDirectory['keys'] = [];

  async function list(): Promise<void> {
    const rows = own.keys.map(({ kid, x }) => sql`(${kid}, ${x}, ${now} + ${sql.raw(String(LISTED_MS))})`);
    await sql`INSERT INTO call_keys (kid, x, listed_until_ms) VALUES ${sql.join(rows)}
      ON CONFLICT (kid) DO UPDATE SET listed_until_ms = excluded.listed_until_ms`.execute(ledger);
    await ledger.deleteFrom('call_keys').where('listed_until_ms', '<=', now).execute();
  }
  await list();
  const timer = setInterval(() => {
    list().catch((error) => log.warn({ error: String(error) }, 'the keys that sign calls could not be listed again'));
  }, RENEW_MS);
  timer.unref();

  return {
    async read() {
      try {
        const listed = await ledger
          .selectFrom('call_keys')
          .select(['kid', 'x'])
          .where('listed_until_ms', '>', now)
          .orderBy('kid')
          .execute();
        others = listed
          .filter(({ kid }) => !ours.has(kid))
          .map(({ kid, x }) => ({ kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig' }));
      } catch (error) {
        log.warn({ error: String(error) }, 'the keys of other relays could not be read');
      }
      return { keys: [...own.keys, ...others] };
    },
    end: () => clearInterval(timer),
  };
}
