/** What it costs to find out whose an API key is, among many of them: hash, checksum, one statement on two files. */
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { openDatabase } from '../../app/database/open.ts';
import { authenticate, createKeyUse } from '../../app/relay/access/auth.ts';
import { indexPath, ledgerPath } from '../../app/relay/config.ts';
import { createKeyReader } from '../../app/relay/ledger/apiKeys.ts';
import type { LedgerDatabase, LedgerTables } from '../../app/relay/ledger/tables.ts';
import { createApiKey } from '../../app/sdk/receipt/apiKey.ts';
import { createMarket, keyRow } from './market.ts';
import { type Percentiles, percentiles } from './percentiles.ts';

/** Keys that are registered beside the one that is used. */
export const OTHER_KEYS = 10_000;
const INSERTED_AT_ONCE = 500;

/** Milliseconds of one check; a tenth as many come before, unmeasured. */
export async function benchKeyCheck(checks: number): Promise<Percentiles> {
  const dataDir = mkdtempSync(join(tmpdir(), 'marketplace-bench-'));
  try {
    const { world, apiKey } = await createMarket(dataDir, 'http://127.0.0.1:9/execute');
    const ledger = openDatabase<LedgerTables>(ledgerPath(dataDir));
    for (let made = 0; made < OTHER_KEYS; made += INSERTED_AT_ONCE) {
      const rows = Array.from({ length: INSERTED_AT_ONCE }, () => keyRow(world, createApiKey('test')));
      await ledger.db.insertInto('api_keys').values(rows).execute();
    }
    const views = openDatabase<LedgerDatabase>(ledgerPath(dataDir), {
      readonly: true,
      attach: { chain: indexPath(dataDir) },
    });
    const keyUse = createKeyUse(ledger.db, pino({ level: 'silent' }));
    const unused = () => Promise.reject(new Error('the index knows the grant'));
    const deps = {
      config: {
        environment: 'test' as const,
        trustProxy: 0,
        publicRate: { perSecond: 0, burst: 0 },
        publicRpcUrl: '',
        allowPrivateEndpoints: true,
        egressIps: [] as string[],
        metricsToken: null,
      },
      findKey: createKeyReader(views),
      accounts: {
        readGrant: unused,
        readExecution: unused,
        readConfig: unused,
        revokeGrant: unused,
        isReachable: unused,
      },
      keyUse,
      now: () => Date.now(),
    };
    const request = { headers: { authorization: `Bearer ${apiKey}` } } as IncomingMessage;
    const times: number[] = [];
    for (let check = -checks / 10; check < checks; check += 1) {
      const begun = performance.now();
      await authenticate(deps, request, 'execute');
      if (check >= 0) times.push(performance.now() - begun);
    }
    await keyUse.close();
    views.close();
    ledger.close();
    return percentiles(times);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}
