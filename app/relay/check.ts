/**
 * `npm run relay -- check`: what a relay with these settings would meet at its start, without starting one. For a
 * deployment script, before it replaces the running relay. It only reads.
 */
import { existsSync, statSync } from 'node:fs';
import type { Connection } from '@solana/web3.js';
import type { Command } from 'commander';
import { sql } from 'kysely';
import { attachedIndex, isBehind, lagOf, readProgress } from '../../indexer/queries/read.ts';
import { type Applied, type Pending, pendingOf } from '../database/migrate.ts';
import { SCHEMAS } from '../database/postgres.ts';
import { freeBytes } from '../process/disk.ts';
import { CLOCK_ADDRESS, decodeClock } from '../sdk/program/clock.ts';
import { relayAuthoritiesOf } from '../sdk/program/program.ts';
import { formatSol } from '../sdk/wire/sol.ts';
import { createClock, describeSkew } from '../solana/clock.ts';
import { FAST, readFinality, SLOW } from '../solana/finality.ts';
import { connectForReading, createRpcFetch, type RpcFetch } from '../solana/rpc.ts';
import { readMarketplace } from './chain/cluster.ts';
import type { RelayConfig } from './config.ts';
import { indexPath, ledgerPath, NoSchema, openViews } from './ledger/open.ts';
import { MAX_SKEW_MS, OLD_MS } from './operation/chainWatch.ts';

/** Every method that relay and indexer call, as docs/operating.md lists them. */
const METHODS = [
  'getBalance',
  'getBlockHeight',
  'getEpochInfo',
  'getGenesisHash',
  'getLatestBlockhash',
  'getMinimumBalanceForRentExemption',
  'getMultipleAccounts',
  'getProgramAccounts',
  'getRecentPrioritizationFees',
  'getSignatureStatuses',
  'getSignaturesForAddress',
  'getSlot',
  'getTransaction',
  'isBlockhashValid',
  'sendTransaction',
  'simulateTransaction',
];
/** JSON-RPC's code for a method that does not exist, and statuses of a gateway that does not pass one on. */
const NO_METHOD = -32_601;
const NOT_PASSED = [403, 404, 405];
const TIMEOUT_MS = 10_000;

const EXIT_FAILED = 1;

export interface Finding {
  /** What was checked. */
  check: string;
  ok: boolean;
  /** What was found, and what to do if it is not ok. Never a secret. */
  detail: string;
}

const good = (check: string, detail: string): Finding => ({ check, ok: true, detail });
const bad = (check: string, detail: string): Finding => ({ check, ok: false, detail });

/** Makes all checks; one that fails ends none of the others. */
async function checkRelay(config: RelayConfig): Promise<Finding[]> {
  const clock = createClock(() => Date.now());
  const ask = createRpcFetch();
  let hasAnswer = false;
  const send = clock.watch(async (url, init) => {
    const answer = await ask(url, init);
    hasAnswer = true;
    return answer;
  });
  const nodes = [config.rpcUrl, ...config.moreNodes.map(({ rpcUrl }) => rpcUrl)];
  const connection = connectForReading(nodes.join(','), new AbortController().signal, TIMEOUT_MS);
  const findings: Finding[] = [good('settings', 'every setting is valid')];
  const attempt = async (check: string, make: () => Promise<Finding[]>) => {
    findings.push(...(await make().catch((error: Error) => [bad(check, error.message)])));
  };
  for (const url of nodes) await attempt('node', () => checkNode(url, send));
  await attempt('finality', () => checkFinality(nodes, config));
  findings.push(hasAnswer ? clockFinding(clock.aheadMs()) : bad('clock', 'no node has shown its clock'));
  await attempt('lag', () => checkLag(connection, clock.aheadMs()));
  await attempt('authority', () => checkAuthority(config, connection));
  await attempt('fees', () => checkFees(config, connection));
  await attempt('database', () => checkDatabase(config));
  await attempt('disk', () => checkDisk(config));
  return findings;
}

/** Calls each method without parameters. A node that has it refuses the call, and nothing is sent. */
async function checkNode(url: string, send: RpcFetch): Promise<Finding[]> {
  const { host } = new URL(url);
  const lacking: string[] = [];
  let version = 'unknown';
  for (const method of ['getVersion', ...METHODS]) {
    const answer = await send(url, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error: Error) => {
      throw new Error(`${host} does not answer ${method}: ${error.message.replaceAll(url, host)}`);
    });
    if (NOT_PASSED.includes(answer.status)) lacking.push(method);
    else if (answer.status === 429) return [bad('node', `${host} limits the rate of calls (429)`)];
    else {
      const { error, result } = JSON.parse(await answer.text()) as {
        error?: { code?: number };
        result?: { 'solana-core'?: string };
      };
      if (error?.code === NO_METHOD) lacking.push(method);
      if (method === 'getVersion') version = result?.['solana-core'] ?? version;
    }
  }
  const lacks = lacking.filter((method) => METHODS.includes(method));
  if (lacks.length > 0) return [bad('node', `${host} lacks ${lacks.join(', ')}`)];
  return [good('node', `${host}, version ${version}, has every method`)];
}

async function checkFinality(nodes: string[], { x402 }: RelayConfig): Promise<Finding[]> {
  const { isFast, ms } = await readFinality(nodes, () => undefined);
  if (isFast) return [good('finality', `the cluster has Alpenglow: a block is final after ${ms} ms`)];
  const words = `the cluster has no Alpenglow: a block is final after ${ms / 1_000} s`;
  if (!x402) return [good('finality', words)];
  return [bad('finality', `${words}, so payments by x402 stay off. Remove X402_FEE_PAYER_KEYPAIR`)];
}

function clockFinding(aheadMs: number): Finding {
  if (Math.abs(aheadMs) > MAX_SKEW_MS)
    return bad('clock', `the clock of this machine is ${describeSkew(aheadMs)} the nodes’. Set it by NTP`);
  return good('clock', 'the clock of this machine agrees with the nodes’');
}

async function checkLag(connection: Connection, aheadMs: number): Promise<Finding[]> {
  const account = await connection.getAccountInfo(CLOCK_ADDRESS, 'finalized');
  if (!account) return [bad('lag', 'the node does not show the clock of the chain')];
  const ageMs = Date.now() - aheadMs - Number(decodeClock(account.data)) * 1_000;
  const words = `the newest final block is ${Math.max(0, Math.round(ageMs / 1_000))} s old`;
  return [ageMs > OLD_MS + 2 * FAST.ms + SLOW.ms ? bad('lag', `${words}: check the node`) : good('lag', words)];
}

async function checkAuthority(config: RelayConfig, connection: Connection): Promise<Finding[]> {
  const read = async (keys: Parameters<Connection['getMultipleAccountsInfo']>[0]) => ({
    accounts: await connection.getMultipleAccountsInfo(keys, 'finalized'),
  });
  const marketplace = await readMarketplace({ connection, read }, config.environment);
  const named = relayAuthoritiesOf(marketplace.config).map(String);
  const authority = config.authority.publicKey.toBase58();
  const findings: Finding[] = [];
  if (named.includes(authority)) findings.push(good('authority', `${authority} is a relay authority`));
  else
    findings.push(
      bad(
        'authority',
        `${authority} is not among the relay authorities: ${named.join(', ')}. Add it with \`npm run cli -- admin propose-change --add-relay-authority ${authority}\`. It counts once the change is applied: \`admin changes\` shows when`,
      ),
    );
  const feePayer = config.x402?.feePayer.publicKey.toBase58();
  if (feePayer && named.includes(feePayer))
    findings.push(bad('authority', 'X402_FEE_PAYER_KEYPAIR is the key of a relay authority. Create a separate key'));
  return findings;
}

async function checkFees({ authority, runway, x402 }: RelayConfig, connection: Connection): Promise<Finding[]> {
  const finding = (whose: string, lamports: number, least: number) => {
    const words = `the ${whose} has ${formatSol(BigInt(lamports))} SOL`;
    if (lamports >= least) return good('fees', words);
    return bad('fees', `${words} and needs ${formatSol(BigInt(least))}`);
  };
  const findings = [
    finding('relay authority', await connection.getBalance(authority.publicKey, 'finalized'), runway.minLamports),
  ];
  if (x402) {
    const balance = await connection.getBalance(x402.feePayer.publicKey, 'finalized');
    findings.push(finding('fee payer of x402 payments', balance, x402.minLamports));
  }
  return findings;
}

async function checkDatabase({ dataDir, databaseUrl }: RelayConfig): Promise<Finding[]> {
  const [ledger, index] = [ledgerPath(dataDir), indexPath(dataDir)];
  if (databaseUrl === null && !existsSync(index))
    return [bad('database', `${index} does not exist. Start the indexer first, or set DATA_DIR to its folder`)];
  if (databaseUrl === null && !existsSync(ledger))
    return [good('database', `${ledger} does not exist yet; the relay creates it`)];
  const views = await openViews({ dataDir, databaseUrl }).catch((error: unknown) => {
    if (error instanceof NoSchema && error.schema === SCHEMAS.ledger) return null;
    throw error;
  });
  if (!views) return [good('database', 'the database has no ledger yet; the relay creates it')];
  try {
    const pending: Pending[] = [];
    for (const [of, table] of [
      ['ledger', 'migrations'],
      ['index', 'chain.migrations'],
    ] as const) {
      const { rows } = await sql<Applied>`SELECT * FROM ${sql.table(table)} ORDER BY number`.execute(views.db);
      pending.push(...pendingOf(rows, of, databaseUrl === null ? 'sqlite' : 'pg', `the ${of}`));
    }
    const lagMs = lagOf(await readProgress(attachedIndex(views.db)), Date.now());
    const changes = describePending(pending);
    if (!isBehind(lagMs))
      return [good('database', `ledger and index can be read; the index is ${lagMs} ms old${changes}`)];
    const words = lagMs === null ? 'is still being filled' : `is ${Math.round(lagMs / 1_000)} s old`;
    return [bad('database', `the index ${words}: check the indexer${changes}`)];
  } finally {
    await views.close();
  }
}

/** Which migrations relay and indexer apply at their start, and if there is a way back without a restore. */
function describePending(pending: Pending[]): string {
  if (pending.length === 0) return '';
  const names = pending.map(({ name }) => name).join(', ');
  const back = pending.every(({ olderRun }) => olderRun === 1n)
    ? 'still runs on them afterwards'
    : 'cannot run on them afterwards, so make a backup first';
  return `. The start changes them by ${names}: the release before ${back}`;
}

async function checkDisk({ dataDir, minFreeBytes, databaseUrl }: RelayConfig): Promise<Finding[]> {
  if (!existsSync(dataDir)) return [good('disk', `${dataDir} does not exist yet; it is created at the start`)];
  if (databaseUrl === null && (statSync(dataDir).mode & 0o007) !== 0)
    return [bad('disk', `${dataDir} is open to all users of this machine: chmod 700 ${dataDir}`)];
  const free = await freeBytes(dataDir);
  const words = `${Math.floor(free / 2 ** 20)} MiB are free for ${dataDir}`;
  return [free < minFreeBytes ? bad('disk', `${words}, less than MIN_FREE_BYTES`) : good('disk', words)];
}

/** `read` is called when the command runs; it throws for a wrong setting or key file. */
export function addCheckCommand(program: Command, read: () => RelayConfig): void {
  program
    .command('check')
    .description(
      'Checks settings, keys, nodes, authority, SOL, clock, database and disk, without starting. Reads only; a relay can be running.',
    )
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExit code 0: a relay can start and take calls; 1: it cannot, and the lines say why.')
    .action(async ({ json }: { json?: true }) => {
      let findings: Finding[];
      try {
        findings = await checkRelay(read());
      } catch (error) {
        findings = (error as Error).message.split('\n').map((line) => bad('settings', line));
      }
      const ok = findings.every((finding) => finding.ok);
      const lines = findings.map(
        (finding) => `${finding.ok ? 'ok  ' : 'FAIL'}  ${finding.check.padEnd(9)}  ${finding.detail}`,
      );
      console.log(json ? JSON.stringify({ ok, findings }) : lines.join('\n'));
      process.exitCode = ok ? 0 : EXIT_FAILED;
    });
}
