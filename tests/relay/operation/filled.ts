/**
 * A ledger and an index of a given size, on the database that DATABASE names. On PostgreSQL each size is filled once
 * and copied.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectPostgres, SCHEMAS } from '../../../app/database/postgres.ts';
import { moveToPostgres } from '../../../app/relay/ledger/moveToPostgres.ts';
import { copyPostgres, freshPostgres, onPostgres } from '../../harness/postgres.ts';
import { fill, type Size } from './fill.ts';

export const SMALL: Size = { executions: 2_000, agents: 200 };
export const LARGE: Size = { executions: 20_000, agents: 2_000 };

const moved = new Map<Size, Promise<string>>();

/** A new copy for the caller: a folder, and on PostgreSQL a database that was analyzed. */
export async function makeFilled(size: Size): Promise<{ folder: string; databaseUrl: string | undefined }> {
  const folder = mkdtempSync(join(tmpdir(), 'filled-'));
  if (!onPostgres) {
    await fill(folder, size);
    return { folder, databaseUrl: undefined };
  }
  const made = moved.get(size) ?? fillPostgres(size);
  moved.set(size, made);
  return { folder, databaseUrl: await copyPostgres(await made) };
}

async function fillPostgres(size: Size): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'filled-'));
  const url = await freshPostgres();
  await fill(folder, size);
  await moveToPostgres(folder, url);
  rmSync(folder, { recursive: true });
  const client = await connectPostgres(url, SCHEMAS.ledger);
  await client.query('VACUUM ANALYZE');
  await client.end();
  return url;
}
