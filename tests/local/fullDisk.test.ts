/**
 * `npm start` with its folder, databases and log on a disk that fills up. No process ends. Calls are refused or paid
 * exactly. Everything continues once there is room. relay/operation/storage.test.ts has the log lines that are dropped.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { until } from '../harness/edge/until.ts';
import { type Answer, createVisitor, type Visitor } from '../journey/visitor.ts';
import { cleanUp, newDirectory, type Start, startNetwork, untilGone } from './start.ts';

const DISK = '96m';
const PRICE = 10_000n;
const SLOW_PRICE = 20_000n;
/** Calls in progress at the creator when the disk fills up. */
const UNDER_WAY = 4;
const SLOW_SECONDS = 5;
/** SQLite reuses free room in its files. At most this many calls fit into it. */
const MOST_CALLS = 2_000;

describe('npm start on a disk that fills up', function () {
  this.timeout(900_000);
  let directory: string;
  let isMounted = false;
  let start: Start;
  let visitor: Visitor;

  before(async function () {
    directory = newDirectory();
    const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', directory], { encoding: 'utf8' });
    isMounted = mount.status === 0;
    if (!isMounted) {
      console.log(`  a disk of its own cannot be mounted here: skipped (${mount.stderr || mount.error})`);
      this.skip();
    }
    start = startNetwork(directory);
    visitor = createVisitor(await start.ready, directory);
  });
  after(async () => {
    if (start) {
      start.signalGroup('SIGINT');
      await untilGone(start);
    }
    // The last files of a process are closed shortly after its end.
    if (isMounted) await until('the disk is free', () => spawnSync('umount', [directory]).status === 0);
    cleanUp();
  });

  const log = () => join(directory, 'marketplace.log');
  const ballast = () => join(directory, 'ballast');
  /** Writes until not one more block fits. */
  function fill(): void {
    for (const size of [1 << 20, 4_096]) {
      try {
        for (;;) appendFileSync(ballast(), Buffer.alloc(size));
      } catch (error) {
        expect((error as NodeJS.ErrnoException).code).to.equal('ENOSPC');
      }
    }
  }
  const execute = (task: string) => visitor.execute('sandbox-echo', { task });
  /** For a call that the full disk stops after it was accepted: it ends only once there is room. */
  const executeLater = (task: string) => visitor.execute('sandbox-echo', { task, async: true });

  it('keeps every process, every payment and its log', async () => {
    expect((await execute('before')).status).to.equal(200);
    const processes = start.processes().toSorted();
    const before = await visitor.balances();
    const parameters = { seconds: SLOW_SECONDS };
    const running = await Promise.all(
      Array.from({ length: UNDER_WAY }, (_, n) =>
        visitor.execute('sandbox-slow', { task: `slow ${n}`, parameters, async: true }),
      ),
    );
    const { wallet } = visitor.demo.callers[0]!;
    const inEscrow = before[wallet]! - BigInt(UNDER_WAY) * SLOW_PRICE;
    await until('the slow calls are under way', async () => (await visitor.balances())[wallet] === inEscrow);
    fill();

    const accepted: Answer[] = [];
    let answer = await executeLater('on a full disk');
    for (; answer.body.execution_id; answer = await executeLater('on a full disk')) {
      accepted.push(answer);
      expect(accepted).to.have.length.below(MOST_CALLS);
    }
    const { status, body } = answer;
    expect([status, body.error.code], JSON.stringify(body)).to.deep.equal([503, 'service_unavailable']);
    const written = statSync(log()).size;
    expect(start.processes().toSorted()).to.deep.equal(processes);
    expect(start.child.exitCode).to.equal(null);

    rmSync(ballast());
    await until('calls are taken again', async () => (await visitor.send('/ready', null)).status === 200);
    const completed = ({ body }: Answer) => body.status === 'completed';
    for (const call of [...running, ...accepted])
      await visitor.sendUntil(`/v1/executions/${call.body.execution_id}`, 0, completed);
    await until('a call is paid for', async () => (await execute('with room again')).status === 200);
    const paid = BigInt(accepted.length + 1) * PRICE;
    const paidSlow = BigInt(UNDER_WAY) * SLOW_PRICE;
    const total = paid + paidSlow;
    const fee = total / 100n;
    const creators = new Map([[visitor.agent('sandbox-echo').creator, paid]]);
    const slow = visitor.agent('sandbox-slow').creator;
    creators.set(slow, (creators.get(slow) ?? 0n) + paidSlow);
    const expected = { ...before, [wallet]: before[wallet]! - total, treasury: before.treasury! + fee };
    for (const [creator, earned] of creators) expected[creator] = before[creator]! + earned - earned / 100n;
    expect(await visitor.balances()).to.deep.equal(expected);
    await until('the log is written again', async () => statSync(log()).size > written);
    for (const line of readFileSync(log(), 'utf8').trimEnd().split('\n')) JSON.parse(line);
  });
});
