/** Settings of what is stored: the databases, results and backups. */
import { join } from 'node:path';
import { z } from 'zod';
import { databaseUrl } from '../../database/postgres.ts';
import type { ObjectSettings } from '../outbound/resultObjects.ts';
import { whole } from './numbers.ts';

export const storageSettings = {
  DATA_DIR: z.string().default('.local').describe('folder of ledger.db and index.db'),
  DATABASE_URL: databaseUrl.describe(
    'URL of a PostgreSQL database to use instead of ledger.db and index.db; the same for relays and indexers',
  ),
  MIN_FREE_BYTES: whole(0)
    .default(256 * 1_024 * 1_024)
    .describe(
      'new executions are refused if the file system of DATA_DIR has less free space; 0, and always with DATABASE_URL: only after a write failed for lack of space',
    ),
  RESULT_RETENTION_DAYS: whole(7, 36_500)
    .default(30)
    .describe(
      'how long results are kept; disputed ones at least until the dispute ends. Their hashes are kept permanently',
    ),
  S3_ENDPOINT: z
    .url()
    .optional()
    .describe('URL of an S3-compatible storage for results of 64 KiB or more; needs all of S3_*'),
  S3_BUCKET: z.string().min(1).optional().describe('bucket, which must exist'),
  S3_REGION: z.string().min(1).default('us-east-1').describe('region for the signatures of requests'),
  S3_ACCESS_KEY_ID: z.string().min(1).optional().describe('access key id'),
  S3_SECRET_ACCESS_KEY: z.string().min(1).optional().describe('secret access key'),
  BACKUP_DIR: z.string().min(1).optional().describe('folder of backups of the ledger (default: DATA_DIR/backups)'),
  BACKUP_KEEP: whole(1).default(7).describe('number of the newest backups kept in BACKUP_DIR'),
  BACKUP_COMMAND: z
    .string()
    .min(1)
    .optional()
    .describe('shell command after each backup, to copy BACKUP_DIR to another machine; $BACKUP_FILE is the new backup'),
};

type StorageEnv = z.output<z.ZodObject<typeof storageSettings>>;

/** Throws if some of S3_* are missing. */
export function readStorage(env: StorageEnv) {
  return {
    dataDir: env.DATA_DIR,
    /** Null: SQLite files in `dataDir`. */
    databaseUrl: env.DATABASE_URL ?? null,
    minFreeBytes: env.MIN_FREE_BYTES,
    results: {
      /** Days that a result is kept after its verification. */
      retentionDays: env.RESULT_RETENTION_DAYS,
      /** Null: all results stay in the ledger. */
      objects: readObjectSettings(env),
    },
    /** May not exist. */
    backupDir: backupDirOf(env),
  };
}

export const backupDirOf = ({ BACKUP_DIR, DATA_DIR }: Pick<StorageEnv, 'BACKUP_DIR' | 'DATA_DIR'>): string =>
  BACKUP_DIR ?? join(DATA_DIR, 'backups');

function readObjectSettings(env: StorageEnv): ObjectSettings | null {
  const { S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = env;
  const given = { S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY };
  const names = Object.keys(given) as (keyof typeof given)[];
  const missing = names.filter((name) => given[name] === undefined);
  if (missing.length === names.length) return null;
  if (missing.length > 0) {
    const isSet = names.find((name) => given[name] !== undefined);
    throw new Error(`${isSet} is set, so these are needed too: ${missing.join(', ')}`);
  }
  return {
    endpoint: S3_ENDPOINT!,
    bucket: S3_BUCKET!,
    region: env.S3_REGION,
    accessKeyId: S3_ACCESS_KEY_ID!,
    secretAccessKey: S3_SECRET_ACCESS_KEY!,
  };
}
