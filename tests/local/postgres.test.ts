/**
 * `npm start -- --postgres` keeps the promises of `npm start` on its own PostgreSQL. The database's folder survives
 * Ctrl-C and `kill -9`, and is never mixed with SQLite's files of the same chain.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { claimForChain } from '../../app/local/dataDirectory.ts';
import type { DemoFile } from '../../app/local/demoFile.ts';
import { administer, postgresFolder, startPostgres } from '../../app/local/postgres.ts';
import { createClient } from '../../app/sdk/client/client.ts';
import { Refusal } from '../../app/sdk/wallet/refusal.ts';
import { untilFound } from '../harness/edge/until.ts';
import { startNode, type TestNode } from '../harness/node/node.ts';
import { cleanUp, newDirectory, type Start, startNetwork, untilGone } from './start.ts';

describe('npm start -- --postgres', () => {
  const dataDir = newDirectory();
  let node: TestNode;
  let start: Start;
  let demo: DemoFile;

  const startHere = (...args: string[]): Start =>
    startNetwork(dataDir, {
      args: ['--postgres', ...args],
      env: { SOLANA_RPC_URL: node.rpcUrl, SOLANA_WS_URL: node.wsUrl },
    });
  const agentId = (name: string): string => demo.agents.find((agent) => agent.name === name)?.agent_id ?? '';
  const api = () => createClient({ baseUrl: demo.base_url, apiKey: demo.callers[0]?.api_key ?? '' });
  const count = (table: string) =>
    administer({ url: () => demo.database_url! }, `SELECT count(*)::int AS n FROM ${table}`);

  before(async () => {
    node = await startNode({ deploy: false });
    start = startHere();
    demo = await start.ready;
  });
  after(async () => {
    cleanUp();
    await node.stop();
  });

  it('answers the pasted curl from a database in its folder, without SQLite files', async () => {
    const [execute = ''] = start.output().match(/(?<=^ {2})curl .*$/m) ?? [];
    const answer = JSON.parse(execFileSync('sh', ['-c', execute], { cwd: '/', encoding: 'utf8' }));
    expect(answer.status, JSON.stringify(answer)).to.equal('completed');
    expect(new URL(demo.database_url!).searchParams.get('host')).to.equal(join(dataDir, 'postgres'));
    expect(await count('ledger.executions')).to.deep.equal([{ n: 1 }]);
    expect(await count('chain.listings')).to.deep.equal([{ n: demo.agents.length }]);
    for (const name of ['ledger.db', 'index.db']) expect(existsSync(join(dataDir, name)), name).to.equal(false);
  });

  it('leaves nothing that blocks the next start after a kill', async () => {
    const slow = { task: 'finish later', parameters: { seconds: 3 }, async: true };
    const { execution_id } = await api().request('executeAgent', { agent_id: agentId('sandbox-slow'), body: slow });
    process.kill(Number(readFileSync(join(dataDir, 'lock.pid'), 'utf8')), 'SIGKILL');
    await start.exited;
    await untilGone(start);

    const before = { ...demo, base_url: '' };
    start = startHere('--json');
    demo = await start.ready;
    expect({ ...demo, base_url: '' }).to.deep.equal(before);
    while (!start.stdout().endsWith('\n')) await delay(10);
    expect(JSON.parse(start.stdout())).to.deep.equal(demo);
    const record = await untilFound('it has ended', async () => {
      const read = await api().request('getExecution', { execution_id });
      return read.completed_at === null ? null : read;
    });
    expect(record).to.include({ status: 'completed', result: 'finish later', cost_usdc: 0.02 });
    expect(await count('ledger.executions')).to.deep.equal([{ n: 2 }]);
  });

  it('stops completely on Ctrl-C, refuses its chain without --postgres, and keeps its records beside those of a new one', async () => {
    start.signalGroup('SIGINT');
    await untilGone(start);
    expect(await start.exited).to.equal(0);
    const database = new URL(demo.database_url!).pathname.slice(1);
    const claim = (genesisHash: string, onPostgres: boolean) =>
      claimForChain(dataDir, { genesisHash, hasMarketplace: true, onPostgres });
    const own = await node.connection.getGenesisHash();
    const here = `${dataDir} has the records of this chain in`;
    expect(() => claim(own, false)).to.throw(
      Refusal,
      `${here} its PostgreSQL, database ${database}. Start with --postgres`,
    );
    expect(claim('another', false)).to.deep.equal({
      old: `stay in its PostgreSQL, database ${database}`,
      database: null,
    });
    expect(() => claim('another', true)).to.throw(Refusal, `${here} SQLite files. Start without --postgres`);
    const server = await startPostgres({ folder: join(dataDir, 'postgres') });
    const kept = await administer(
      { url: () => server.url(database) },
      'SELECT count(*)::int AS n FROM ledger.executions',
    );
    await server.stop();
    expect(kept).to.deep.equal([{ n: 2 }]);
  });

  it('names what to install when PostgreSQL is missing or differs from the version of the data', async () => {
    expect(() => postgresFolder(undefined, [])).to.throw(Refusal, 'apt-get install postgresql;');
    const folder = join(newDirectory(), 'postgres');
    mkdirSync(folder);
    writeFileSync(join(folder, 'PG_VERSION'), '9\n');
    const error = await startPostgres({ folder }).catch((thrown) => thrown);
    expect(error).to.be.instanceOf(Refusal);
    expect(error.message).to.include('PostgreSQL 9, which is not installed').and.include('postgresql-9');
  });

  it('refuses a folder whose name is too long for a socket, before it creates anything', async () => {
    const folder = join(newDirectory(), 'x'.repeat(100));
    const error = await startPostgres({ folder }).catch((thrown) => thrown);
    expect(error.message).to.include('too long for a socket path (at most 107 bytes)');
    expect(existsSync(folder)).to.equal(false);
  });
});
