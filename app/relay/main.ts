// The relay: opens its ledger, connects to the chain, carries on what a crash left, and then serves the API.
// `npm run relay` runs it alone beside an indexer; `npm start` runs it in one process with one.

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PublicKey } from '@solana/web3.js';
import pino, { type Logger } from 'pino';
import { migrate, openDatabase } from '../../indexer/database.ts';
import { decodeAccount, findConfig, findGrant, revokeGrant } from '../sdk/program.ts';
import { createKeyUse } from './auth.ts';
import { type Chain, createChain, type Observe } from './chain.ts';
import { describeConfig, indexPath, ledgerPath, type RelayConfig, readConfig } from './config.ts';
import type { ChainAccounts, Engine, RelayDeps } from './deps.ts';
import { createDocuments } from './documents.ts';
import { ApiError } from './errors.ts';
import { callCreator, createCreatorPool } from './execution/dispatch.ts';
import { createEngine } from './execution/execute.ts';
import { startRecovery } from './execution/recover.ts';
import { explorerQuery } from './explorer.ts';
import { createHttpServer } from './http.ts';
import { createJournal, type Journal, type LedgerDatabase, type LedgerTables } from './store.ts';

const LEDGER_MIGRATIONS = join(import.meta.dirname, '..', '..', 'migrations', 'ledger');
const AUTHORITY_CHECK_MS = 60_000;
/** Mainnet and the one USDC that is real there. */
const MAINNET_GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const CIRCLE_USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';

export interface RelayOptions {
  config: RelayConfig;
  log: Logger;
  /** Lets a test stand between the engine and its journal, to end the process at a chosen step. */
  wrapJournal?: (journal: Journal) => Journal;
  /** Hears how long each stage of a call takes. */
  observe?: Observe;
}

export interface RunningRelay {
  /** Where the API answers, without a trailing slash. */
  url: string;
  engine: ReturnType<typeof createEngine>;
  stop(): Promise<void>;
}

/** Read Config, and refuse a cluster that does not fit the environment. */
async function readMarketplace(chain: Chain, environment: RelayConfig['environment']) {
  const genesis = await chain.connection.getGenesisHash();
  const { accounts } = await chain.read([findConfig()]);
  const account = accounts[0];
  if (!account) throw new Error('The program has no Config on this cluster; create it first (see README, "Devnet")');
  const config = decodeAccount('Config', account.data);
  const isMainnet = genesis === MAINNET_GENESIS;
  if (environment === 'live' && !(isMainnet && config.usdcMint.toBase58() === CIRCLE_USDC)) {
    throw new Error("ENVIRONMENT=live needs mainnet and Circle's USDC; this cluster is another");
  }
  if (environment === 'test' && isMainnet)
    throw new Error('ENVIRONMENT=test must not run on mainnet; set ENVIRONMENT=live');
  return { genesis, config };
}

function createChainAccounts(chain: Chain, stop: AbortSignal): ChainAccounts {
  return {
    async readGrant(wallet, keyId) {
      const read = await chain.read([findGrant(new PublicKey(wallet), Buffer.from(keyId, 'hex'))]);
      const account = read.accounts[0];
      return { grant: account ? decodeAccount('KeyGrant', account.data) : null, now: read.now };
    },
    async readConfig() {
      const { accounts } = await chain.read([findConfig()]);
      return decodeAccount('Config', accounts[0]!.data);
    },
    async revokeGrant(wallet, keyId) {
      const instruction = revokeGrant({
        authority: chain.authority,
        wallet: new PublicKey(wallet),
        keyId: Buffer.from(keyId, 'hex'),
      });
      const signed = await chain.sign([instruction]);
      const fate = await chain.submit(signed, stop);
      if (fate.kind !== 'confirmed') throw new Error(`the revocation was not confirmed: ${fate.kind}`);
      return signed.signature;
    },
    async isReachable() {
      return chain.connection.getSlot('confirmed').then(
        () => true,
        () => false,
      );
    },
  };
}

/** Lets nothing new in while Config names another relay authority than ours. */
function guardAuthority(chain: Chain, engine: ReturnType<typeof createEngine>, log: Logger) {
  let accepted = true;
  const check = async (): Promise<PublicKey> => {
    const { accounts } = await chain.read([findConfig()]);
    const named = decodeAccount('Config', accounts[0]!.data).relayAuthority;
    accepted = named.equals(chain.authority);
    if (!accepted)
      log.error({ named: named.toBase58() }, 'Config names another relay authority; nothing new is accepted');
    return named;
  };
  const timer = setInterval(
    () => check().catch((error) => log.warn({ error: String(error) }, 'Config could not be read')),
    AUTHORITY_CHECK_MS,
  );
  const guarded: Engine = {
    inFlight: engine.inFlight,
    execute(principal, agent, input) {
      if (accepted) return engine.execute(principal, agent, input);
      throw new ApiError('service_unavailable', 'This relay is not the marketplace’s relay authority any more', {
        retryAfterSeconds: 60,
      });
    },
  };
  return { guarded, check, end: () => clearInterval(timer) };
}

async function listen(server: Server, config: RelayConfig): Promise<string> {
  server.listen(config.port, config.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return config.baseUrl ?? `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
}

/** Start everything; resolves when the API answers. Throws with a message for an operator. */
export async function startRelay(options: RelayOptions): Promise<RunningRelay> {
  const { config, log } = options;
  const index = indexPath(config.dataDir);
  if (!existsSync(index)) throw new Error(`${index} does not exist; start the indexer first (npm run indexer)`);
  const ledger = ledgerPath(config.dataDir);
  const intents = openDatabase<LedgerTables>(ledger, { synchronous: 'full' });
  migrate(intents.sqlite, LEDGER_MIGRATIONS);
  const notes = openDatabase<LedgerTables>(ledger, { synchronous: 'normal' });
  const views = openDatabase<LedgerDatabase>(ledger, { readonly: true, attach: { chain: index } });

  const { rpcUrl, wsUrl } = config;
  const observe = options.observe && { observe: options.observe };
  const chain = createChain({ rpcUrl, wsUrl, authority: config.authority, log, ...observe });
  const marketplace = await readMarketplace(chain, config.environment);
  const creators = createCreatorPool();
  const documents = createDocuments(views.db);
  const journal = createJournal(intents.db, notes.db);
  const engine = createEngine({
    chain,
    journal: options.wrapJournal ? options.wrapJournal(journal) : journal,
    creators,
    usdcMint: marketplace.config.usdcMint,
    endpointOf: async (hash) => (await documents.get(hash))?.metadata.endpoint ?? null,
    log,
    ...observe,
  });
  const authority = guardAuthority(chain, engine, log);
  const named = await authority.check();
  if (!named.equals(chain.authority)) {
    throw new Error(
      `The marketplace's relay authority is ${named}, but RELAY_KEYPAIR is the key of ${chain.authority}`,
    );
  }
  const stopping = new AbortController();
  const keyUse = createKeyUse(notes.db, log);

  let baseUrl = '';
  const deps: RelayDeps = {
    config,
    baseUrl: () => baseUrl,
    explorerQuery: explorerQuery(marketplace.genesis, config.publicRpcUrl),
    ledger: notes.db,
    views: views.db,
    documents,
    keyUse,
    accounts: createChainAccounts(chain, stopping.signal),
    engine: authority.guarded,
    callCreator: (call) => callCreator(creators, { ...call, once: true }),
    now: () => Date.now(),
    log,
  };
  const server = createHttpServer(deps);
  baseUrl = await listen(server, config);
  // Money that an older ledger forgot comes first; then what this one left unfinished.
  await engine.adoptOrphans();
  const endRecovery = startRecovery(engine, log);
  log.info({ url: baseUrl }, 'relay is ready');

  return {
    url: baseUrl,
    engine,
    async stop() {
      server.close();
      server.closeIdleConnections();
      endRecovery();
      authority.end();
      stopping.abort(new Error('stopping'));
      await engine.stop();
      server.closeAllConnections();
      await keyUse.close();
      await Promise.allSettled([creators.destroy(), chain.close()]);
      for (const database of [views, notes, intents]) database.close();
    },
  };
}

async function main(): Promise<void> {
  if (process.argv.includes('--help')) {
    console.log(`npm run relay\n\nServes the API. Settings come from the environment:\n\n${describeConfig()}`);
    return;
  }
  const config = readConfig(process.env);
  const log = pino({ level: config.logLevel });
  const relay = await startRelay({ config, log });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      relay.stop().then(
        () => process.exit(0),
        (error) => {
          log.error({ error: String(error) }, 'could not stop cleanly');
          process.exit(1);
        },
      );
    });
  }
}

// Run only as the entry file; others import startRelay.
if (process.argv[1] && /app[\\/]relay[\\/]main\.ts$/.test(process.argv[1])) {
  main().catch((error: Error) => {
    console.error(error.message);
    process.exit(1);
  });
}
