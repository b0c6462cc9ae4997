/** Which relays are alive, on a real ledger, with leases of one second. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { MIGRATIONS, migrate } from '../../../app/database/migrate.ts';
import { openDatabase } from '../../../app/database/open.ts';
import { ledgerPath } from '../../../app/relay/config.ts';
import { createLeases } from '../../../app/relay/ledger/leases.ts';
import type { LedgerTables } from '../../../app/relay/ledger/tables.ts';
import { createLog } from '../../../app/relay/log.ts';
import { until } from '../../harness/edge/until.ts';
import { useFolder } from '../../harness/folder.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const LEASE_MS = 1_000;
/** The longest that this process waits for a renewal without running anything else. */
const BLOCKED_MS = 60_000;
const log = createLog('silent');

describe('leases', () => {
  const folder = useFolder('leases');
  const path = ledgerPath(folder);
  const ledger = openDatabase<LedgerTables>(path);
  migrate(ledger.sqlite, MIGRATIONS.ledger);
  const children: ChildProcess[] = [];
  after(() => {
    for (const child of children) child.kill('SIGKILL');
    ledger.close();
  });
  const leasesOf = (owner: string) => createLeases(ledger.sqlite, path, owner, { leaseMs: LEASE_MS });
  const watcher = leasesOf('watcher');
  const aliveNow = async () => watcher.alive(Date.now());

  /** Starts a process that keeps the lease of `owner`. `then` is a script that can block its event loop. */
  async function startKeeper(owner: string, then = ''): Promise<ChildProcess> {
    const script = `
      import { createLeases } from './app/relay/ledger/leases.ts';
      import { openDatabase } from './app/database/open.ts';
      import { createLog } from './app/relay/log.ts';
      const ledger = openDatabase(${JSON.stringify(path)});
      createLeases(ledger.sqlite, ${JSON.stringify(path)}, ${JSON.stringify(owner)}, { leaseMs: ${LEASE_MS} }).keep(createLog('silent'));
      ${then}
      setInterval(() => {}, 1_000);`;
    const args = ['--import', 'tsx', '--input-type=module', '--eval', script];
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'ignore' });
    children.push(child);
    await until(`${owner} is alive`, async () => (await aliveNow()).includes(owner));
    return child;
  }

  it('end at once with their lock after an orderly shutdown', async () => {
    const end = await leasesOf('ended').keep(log);
    expect(await aliveNow()).to.deep.equal(['ended']);
    await end();
    expect(await aliveNow()).to.deep.equal([]);
    expect(readdirSync(join(folder, 'relays'))).to.deep.equal([]);
  });

  it('stay alive when the event loop is busy for longer than the lease', async () => {
    const end = await leasesOf('busy').keep(log);
    // The thread has started when it renews the lease for the first time.
    const untilMs = () =>
      Number(ledger.sqlite.prepare("SELECT alive_until_ms FROM relays WHERE owner = 'busy'").pluck().get());
    const first = untilMs();
    await until('its thread renews the lease', async () => untilMs() > first);
    const begun = Date.now();
    const bytes = new Int32Array(new SharedArrayBuffer(4));
    // Blocks this thread, so only the other one can renew the lease.
    while (untilMs() < begun + 4 * LEASE_MS && Date.now() < begun + BLOCKED_MS) Atomics.wait(bytes, 0, 0, 100);
    expect(untilMs()).to.be.at.least(begun + 4 * LEASE_MS);
    await end();
  });

  it('are dead at once after a kill, and their lock is removed', async () => {
    const child = await startKeeper('killed');
    child.kill('SIGKILL');
    await until('it is dead', async () => !(await aliveNow()).includes('killed'), LEASE_MS * 20);
    expect(existsSync(join(folder, 'relays', 'killed'))).to.equal(false);
  });

  it('are dead when a stopped process exceeds its lease, and alive again when it continues', async () => {
    const child = await startKeeper('stopped');
    child.kill('SIGSTOP');
    await until('its lease runs out', async () => !(await aliveNow()).includes('stopped'));
    child.kill('SIGCONT');
    await until('it says again that it lives', async () => (await aliveNow()).includes('stopped'));
    child.kill('SIGKILL');
    await until('it is dead', async () => (await aliveNow()).length === 0);
  });

  it('count for nothing when they are longer than allowed, as after a clock that was set back', async () => {
    const end = await leasesOf('future').keep(log);
    ledger.sqlite
      .prepare("UPDATE relays SET alive_until_ms = ? WHERE owner = 'future'")
      .run(BigInt(Date.now() + 60_000));
    expect(await aliveNow()).to.deep.equal([]);
    await end();
  });
});
