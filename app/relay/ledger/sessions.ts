/** The tables of sessions, and of challenges that were used for one. */
import { randomBytes } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { countRows } from '../../database/portable.ts';
import { mayGo } from './displacing.ts';
import type { LedgerTables } from './tables.ts';

type Ledger = Kysely<LedgerTables>;

/** Most sessions of a wallet. The ones that end first are evicted. */
const MAX_OF_WALLET = 20;
/** Most sessions of unknown wallets, which are free to create. */
const MAX_OF_STRANGERS = 10_000;
const SECRET_BYTES = 32;

/** A secret that all relays on this ledger share under this name. The first relay that asks makes it. */
export async function readSecret(ledger: Ledger, name: string): Promise<Buffer> {
  await ledger
    .insertInto('secrets')
    .values({ name, bytes: randomBytes(SECRET_BYTES) })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  const row = await ledger.selectFrom('secrets').select('bytes').where('name', '=', name).executeTakeFirstOrThrow();
  return row.bytes;
}

/** Marks the challenge as used. Returns true if nobody has answered it before, at any relay. */
export async function useChallenge(
  ledger: Ledger,
  { digest, expiresMs }: { digest: string; expiresMs: number },
  nowMs: number,
): Promise<boolean> {
  await ledger.deleteFrom('used_challenges').where('expires_ms', '<=', BigInt(nowMs)).execute();
  const used = await ledger
    .insertInto('used_challenges')
    .values({ digest, expires_ms: BigInt(expiresMs) })
    .onConflict((conflict) => conflict.column('digest').doNothing())
    .returning('digest')
    .execute();
  return used.length === 1;
}

/** Adds a session. Drops expired sessions, and those beyond the limits. */
export async function insertSession(ledger: Ledger, session: LedgerTables['sessions'], nowMs: number): Promise<void> {
  await ledger.deleteFrom('sessions').where('expires_ms', '<=', BigInt(nowMs)).execute();
  await ledger.insertInto('sessions').values(session).execute();
  const { wallet } = session;
  await sql`DELETE FROM sessions WHERE wallet = ${wallet} AND digest NOT IN (
    SELECT digest FROM sessions WHERE wallet = ${wallet} ORDER BY expires_ms DESC, digest
    LIMIT ${sql.raw(String(MAX_OF_WALLET))})`.execute(ledger);
  if (session.is_known === 1n) return;
  const ofStrangers = sql`is_known = 0`;
  const surplus =
    (await countRows(ledger, ledger.selectFrom('sessions').select('digest').where('is_known', '=', 0n))) -
    MAX_OF_STRANGERS;
  if (surplus <= 0) return;
  await sql`DELETE FROM sessions WHERE digest IN (SELECT digest FROM sessions
    WHERE ${mayGo('sessions', ofStrangers)} ORDER BY expires_ms LIMIT ${surplus})`.execute(ledger);
}

/** The session of this digest, unless it has expired. */
export function readSession(ledger: Ledger, kind: LedgerTables['sessions']['kind'], digest: string, nowMs: number) {
  return ledger
    .selectFrom('sessions')
    .select(['wallet', 'expires_ms', 'ends_ms'])
    .where('digest', '=', digest)
    .where('kind', '=', kind)
    .where('expires_ms', '>', BigInt(nowMs))
    .executeTakeFirst();
}

/** Does nothing if the session was ended meanwhile. */
export async function prolongSession(
  ledger: Ledger,
  digest: string,
  expiresMs: bigint,
  isKnown: bigint,
): Promise<void> {
  await ledger
    .updateTable('sessions')
    .set({ expires_ms: expiresMs, is_known: isKnown })
    .where('digest', '=', digest)
    .where('expires_ms', '<', expiresMs)
    .execute();
}

/** Returns true if there was one. */
export async function deleteSession(
  ledger: Ledger,
  kind: LedgerTables['sessions']['kind'],
  digest: string,
): Promise<boolean> {
  const ended = await ledger
    .deleteFrom('sessions')
    .where('digest', '=', digest)
    .where('kind', '=', kind)
    .returning('digest')
    .execute();
  return ended.length === 1;
}
