/**
 * The directory of keys that sign calls to creators, for all relays on this ledger. Each relay has its own keys, and
 * private keys never leave its machine. While it runs, it lists its public keys here. A creator can therefore verify a
 * call of any relay with the directory of any other.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Logger } from 'pino';
import { nowMsOf } from '../../database/portable.ts';
import type { KeyDirectory } from '../../sdk/wire/wire.ts';
import { runEvery } from '../waiting.ts';
import type { LedgerTables } from './tables.ts';

/**
 * Longer than a signature is valid and than creators cache a directory, so that a relay's last signatures can be
 * verified.
 */
const LISTED_MS = 15 * 60_000;
const RENEW_MS = 60_000;
/** After reading a directory, a creator may not read it again for an unknown key: for 5 seconds in our own kit. */
const KNOWN_AFTER_MS = 6_000;

/**
 * Lists our own keys among those of the other relays from now on. If other relays already serve creators, it resolves
 * once those creators can know our new key.
 */
export async function shareCallKeys(ledger: Kysely<LedgerTables>, own: KeyDirectory, log: Logger) {
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
  const stop = runEvery(RENEW_MS, list, (error) =>
    log.warn({ error }, 'cannot renew the published keys that sign calls'),
  );

  return {
    /** Our keys come first. If the ledger does not answer, the others are as last read. */
    async read(): Promise<KeyDirectory> {
      try {
        others = othersOf(await readListed());
      } catch (error) {
        log.warn({ error }, 'cannot read the keys of other relays');
      }
      return { keys: [...own.keys, ...others] };
    },
    /** Our keys stay listed for a while, because signed calls may be on their way. */
    end: () => void stop(),
  };
}
