/**
 * The directory of keys that sign calls to creators, for all relays on this ledger. Each relay has keys of its own, whose
 * private halves never leave its machine; it lists the public ones here for as long as it lives, so that a creator can
 * verify a call of any relay by the directory that any other serves.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Logger } from 'pino';
import { nowMsOf } from '../../database/portable.ts';
import type { KeyDirectory } from '../../sdk/wire/wire.ts';
import type { LedgerTables } from './tables.ts';

/** Longer than a signature is good for, and than creators keep a directory: what a relay signed last can be verified. */
const LISTED_MS = 15 * 60_000;
const RENEW_MS = 60_000;
/** A creator who has read a directory a moment ago reads none for a key that he does not find: for 5 seconds in our own kit. */
const KNOWN_AFTER_MS = 6_000;

export interface SharedDirectory {
  /** Ours first. Where the ledger does not answer, the others are as they were last read. */
  read(): Promise<KeyDirectory>;
  /** Ours stay listed for a while: what was signed may be on its way. */
  end(): void;
}

/**
 * Lists our own keys among those of the other relays from now on. Where these serve creators already, it resolves once they
 * can know a key of ours that is new.
 */
export async function shareCallKeys(
  ledger: Kysely<LedgerTables>,
  own: KeyDirectory,
  log: Logger,
): Promise<SharedDirectory> {
  const now = nowMsOf(ledger);
  const ours = new Set(own.keys.map(({ kid }) => kid));

  async function list(): Promise<void> {
    const rows = own.keys.map(({ kid, x }) => sql`(${kid}, ${x}, ${now} + ${sql.raw(String(LISTED_MS))})`);
    await sql`INSERT INTO call_keys (kid, x, listed_until_ms) VALUES ${sql.join(rows)}
      ON CONFLICT (kid) DO UPDATE SET listed_until_ms = excluded.listed_until_ms`.execute(ledger);
    await ledger.deleteFrom('call_keys').where('listed_until_ms', '<=', now).execute();
  }
  async function readListed(): Promise<KeyDirectory['keys']> {
    const listed = await ledger
      .selectFrom('call_keys')
      .select(['kid', 'x'])
      .where('listed_until_ms', '>', now)
      .orderBy('kid')
      .execute();
    return listed.map(({ kid, x }) => ({ kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig' }));
  }
  const othersOf = (keys: KeyDirectory['keys']) => keys.filter(({ kid }) => !ours.has(kid));

  const before = await readListed();
  let others = othersOf(before);
  await list();
  const isNew = before.every(({ kid }) => kid !== own.keys[0]?.kid);
  if (others.length > 0 && isNew) await sleep(KNOWN_AFTER_MS);
  const timer = setInterval(() => {
    list().catch((error) => log.warn({ error: String(error) }, 'the keys that sign calls could not be listed again'));
  }, RENEW_MS);
  timer.unref();

  return {
    async read() {
      try {
        others = othersOf(await readListed());
      } catch (error) {
        log.warn({ error: String(error) }, 'the keys of other relays could not be read');
      }
      return { keys: [...own.keys, ...others] };
    },
    end: () => clearInterval(timer),
  };
}
