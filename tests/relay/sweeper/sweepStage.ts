/** Shared by the tests of the sweeper: a market on a real node, its index, and sweepers on one ledger. */
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { type Kysely, sql } from 'kysely';
import pino from 'pino';
import type { OpenDatabase } from '../../../app/database/open.ts';
import { forkSource } from '../../../app/process/typescript.ts';
import { archiveOf } from '../../../app/relay/calls/archived.ts';
import { readConfig } from '../../../app/relay/config.ts';
import { noteLender } from '../../../app/relay/ledger/lenders.ts';
import { openLedger, openViews } from '../../../app/relay/ledger/open.ts';
import type { LedgerDatabase } from '../../../app/relay/ledger/tables.ts';
import { type RunningRelay, startRelay } from '../../../app/relay/start.ts';
import { constants, decodeAccount, findArchive, findExecution } from '../../../app/sdk/program/program.ts';
import { formatUuid } from '../../../app/sdk/receipt/receipt.ts';
import { readTokens } from '../../../app/sdk/wallet/connection.ts';
import type { ExecutionArchive } from '../../../app/sdk/wire/wire.ts';
import type { ArchiveLeafRow } from '../../../indexer/queries/tables.ts';
import { until } from '../../harness/edge/until.ts';
import { onPostgres } from '../../harness/postgres.ts';
import { IndexerBench } from '../../indexer/harness.ts';
import { type OpenedExecution, startMarket } from '../../indexer/market.ts';
import { runSweeper, type SweeperOptions } from './runSweeper.ts';

const compression = createRequire(import.meta.url)(
  '@solana/spl-account-compression',
) as typeof import('@solana/spl-account-compression');

const FEE_LAMPORTS = 5_000;
/** Offset after discriminator, version, bump, index and tree. */
const ARCHIVE_COUNT_OFFSET = 8 + 1 + 1 + 2 + 32;

export type Stage = Awaited<ReturnType<typeof startStage>>;

export async function startStage() {
  const market = await startMarket();
  await market.list();
  const bench = new IndexerBench(market);
  const { connection } = market.node;
  const folder = join(bench.folder, 'stage');
  const keypair = join(folder, 'authority.json');
  mkdirSync(folder);
  writeFileSync(keypair, JSON.stringify([...market.relay.secretKey]), { mode: 0o600 });
  const indexer = await bench.start('stage');
  const databaseUrl = onPostgres ? bench.path('stage') : null;
  let views: OpenDatabase<LedgerDatabase> | null = null;
  /** Those that run here, and those in their own process. */
  const running = new Set<{ end(): Promise<void> }>();
  /** Number of leaves that must exist by now. */
  let leaves = 0;

  /** Starts a relay on the stage's files, in this process. `environment` are further settings. */
  function relayHere(environment: NodeJS.ProcessEnv): Promise<RunningRelay> {
    const config = readConfig({
      SOLANA_RPC_URL: market.node.rpcUrl,
      SOLANA_WS_URL: market.node.wsUrl,
      RELAY_KEYPAIR: keypair,
      DATA_DIR: folder,
      PORT: '0',
      ...environment,
    });
    return startRelay({ config, log: pino({ level: process.env.TEST_LOG ?? 'silent' }) });
  }

  const optionsOf = (changes: Partial<SweeperOptions>): SweeperOptions => {
    const { rpcUrl, wsUrl } = market.node;
    const place = { dataDir: folder, databaseUrl };
    return { ...place, rpcUrl, wsUrl, keypair, usdcMint: market.usdcMint.toBase58(), ...changes };
  };

  /** Starts a sweeper. It ends with the test at the latest. */
  async function sweep(changes: Partial<SweeperOptions> = {}) {
    const { figures, end } = await runSweeper(optionsOf(changes));
    const sweeper = {
      figures,
      async end(): Promise<void> {
        if (running.delete(sweeper)) await end();
      },
    };
    running.add(sweeper);
    return sweeper;
  }

  /** Starts one in its own process, to be killed. */
  async function sweepApart(changes: Partial<SweeperOptions> = {}) {
    const file = join(import.meta.dirname, 'sweeperProcess.ts');
    const child = forkSource(file, [JSON.stringify(optionsOf(changes))], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const gone = once(child, 'exit').then(() => undefined);
    await Promise.race([once(child, 'message'), gone]);
    const sweeper = {
      gone,
      async end(): Promise<void> {
        running.delete(sweeper);
        child.kill('SIGKILL');
        await gone;
      },
    };
    running.add(sweeper);
    return sweeper;
  }

  /** Runs a query over index and ledger, as the relay reads both. */
  async function poll<Result>(read: (views: Kysely<LedgerDatabase>) => Promise<Result>): Promise<Result> {
    views ??= await openViews({ dataDir: folder, databaseUrl });
    return read(views.db);
  }

  /** Opens and settles executions of the caller. */
  const settled = (count: number): Promise<OpenedExecution[]> =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const opened = await market.open();
        await market.settle(opened);
        return opened;
      }),
    );
  /**
   * Moves the clock to where everything that has ended can be archived or closed. The index shows all of it by then, so
   * that one sweep includes it.
   */
  async function pass(seconds: number = constants.recordSecondsMin): Promise<void> {
    await bench.catchUp(indexer);
    await market.node.timeTravel((await market.node.now()) + seconds + 60);
  }
  const lamports = async (address: PublicKey): Promise<number> => connection.getBalance(address, 'confirmed');
  const recordsOf = (executions: OpenedExecution[]) =>
    connection.getMultipleAccountsInfo(
      executions.map(({ executionId }) => findExecution(executionId)),
      'confirmed',
    );
  /** Lamports of these executions' records. */
  const rentOf = async (executions: OpenedExecution[]): Promise<number> =>
    (await recordsOf(executions)).reduce((sum, account) => sum + account!.lamports, 0);
  const recordsLeft = async (executions: OpenedExecution[]): Promise<number> =>
    (await recordsOf(executions)).filter((account) => account !== null).length;

  /** Waits until the index has so many more leaves, with nodes for all of them. */
  async function followed(more: number): Promise<void> {
    leaves += more;
    await until(`${leaves} leaves, all proven`, () =>
      poll(async (views) => {
        const counts = await sql<{ found: bigint }>`SELECT (SELECT count(*) FROM chain.archive_leaves)
          + (SELECT count(*) FROM chain.unclaimed_refunds) AS found`.execute(views);
        const { found } = counts.rows[0]!;
        const trees = await views.selectFrom('archive_trees').selectAll().execute();
        const built = trees.reduce((sum, tree) => sum + (tree.is_proven === 1n ? tree.leaf_count : 0n), 0n);
        return found === BigInt(leaves) && built === found;
      }),
    );
  }

  /** Settled executions that can be archived, and the balances before. */
  async function ripe(count: number) {
    const executions = await settled(count);
    await pass();
    const rent = await rentOf(executions);
    const [caller, relay] = [await lamports(market.caller.publicKey), await lamports(market.relay.publicKey)];
    return {
      executions,
      /** Expects that all are archived, their rent is the caller's, and the relay paid so many transactions. */
      async requireSwept(transactions: number): Promise<void> {
        await followed(count);
        expect(await recordsLeft(executions)).to.equal(0);
        expect(await lamports(market.caller.publicKey)).to.equal(caller + rent);
        expect(await lamports(market.relay.publicKey)).to.equal(relay - transactions * FEE_LAMPORTS);
      },
    };
  }

  return {
    ...market,
    connection,
    indexer,
    folder,
    relayHere,
    sweep,
    sweepApart,
    poll,
    settled,
    pass,
    lamports,
    rentOf,
    recordsLeft,
    followed,
    ripe,
    /** Number of leaves that must exist by now. */
    expectedLeaves: () => leaves,
    archiveRead: ({ executionId }: OpenedExecution): Promise<ExecutionArchive | null> =>
      poll((views) => archiveOf({ views }, formatUuid(executionId))),
    /**
     * Verifies a proof with the SPL package alone: the fields give the leaf, and leaf and proof give the account's
     * root.
     */
    async proveBySpl(archive: ExecutionArchive): Promise<void> {
      const account = await connection.getAccountInfo(new PublicKey(archive.tree), 'confirmed');
      const tree = compression.ConcurrentMerkleTreeAccount.fromBuffer(Buffer.from(account!.data));
      expect(tree.getMaxDepth()).to.equal(20);
      const fields = Buffer.from(archive.fields, 'base64');
      const address = new PublicKey(archive.record).toBuffer();
      const head = Buffer.concat([Buffer.from('agent-marketplace:archive:v1'), address, fields.subarray(0, 102)]);
      const rest = Buffer.from(compression.hash(fields.subarray(102), Buffer.alloc(0)));
      const leaf = Buffer.from(compression.hash(head, rest));
      expect(leaf.toString('hex')).to.equal(archive.leaf);
      const proof = archive.proof.map((node) => Buffer.from(node, 'hex'));
      const root = tree.getCurrentRoot();
      expect(compression.MerkleTree.verify(root, { leafIndex: archive.leaf_index, leaf, root, proof })).to.equal(true);
      const wrong = Buffer.from(leaf);
      wrong[0]! ^= 1;
      const forged = { leafIndex: archive.leaf_index, leaf: wrong, root, proof };
      expect(compression.MerkleTree.verify(root, forged)).to.equal(false);
    },
    tokens: (address: PublicKey) => readTokens(connection, address),
    leaves: (): Promise<ArchiveLeafRow[]> =>
      poll((views) => views.selectFrom('chain.archive_leaves').selectAll().orderBy('leaf_index').execute()),
    /** Overwrites the leaf count of an archive and its tree. */
    async setLeafCount(index: number, count: number): Promise<void> {
      const address = findArchive(index);
      const account = await connection.getAccountInfo(address, 'confirmed');
      const { tree } = decodeAccount('Archive', account!.data);
      const data = Buffer.from(account!.data);
      data.writeUInt32LE(count, ARCHIVE_COUNT_OFFSET);
      const treeData = Buffer.from((await connection.getAccountInfo(tree, 'confirmed'))!.data);
      treeData.writeUInt32LE(count, 44_280 - 8);
      for (const [key, bytes] of [[address, data] as const, [tree, treeData] as const]) {
        await market.node.rpc('surfnet_setAccount', [key.toBase58(), { data: bytes.toString('hex') }]);
      }
    },
    /** Notes in the ledger that rent lent by this deployment returns to this address. */
    async noteLender(address: PublicKey): Promise<void> {
      const opened = await openLedger({ dataDir: folder, databaseUrl });
      await noteLender(opened.ledger.db, address.toBase58());
      await opened.close();
    },
    /** True if a sweeper leads. */
    isLed: () => poll(async (tables) => (await tables.selectFrom('leaderships').selectAll().execute()).length > 0),
    /** Signatures of the transactions whose outcome no sweeper knows. */
    pending: () =>
      poll(async (tables) => {
        const rows = await tables.selectFrom('sweeper_transactions').select('signature').execute();
        return rows.map(({ signature }) => signature);
      }),
    /** Ends the sweepers that still run. */
    async endSweepers(): Promise<void> {
      for (const sweeper of running) await sweeper.end();
    },
    async stop(): Promise<void> {
      for (const sweeper of running) await sweeper.end();
      await views?.close();
      await bench.close();
      await market.node.stop();
    },
  };
}
