/** The demo creators' process: keys, remembered ports, ports in use, and its end with its parent. */
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadCallKeys } from '../../app/relay/outbound/callKeys.ts';
import { useServers } from '../harness/edge/listen.ts';
import { until, untilFound } from '../harness/edge/until.ts';
import { useFolder } from '../harness/folder.ts';
import { complete, execution, forkCreators, post } from './process.ts';

async function refusesConnections(url: string): Promise<boolean> {
  const error = await post(url, execution('hello')).catch((reason: Error) => reason);
  return error instanceof TypeError && (error.cause as NodeJS.ErrnoException).code === 'ECONNREFUSED';
}

describe('demo creators: process', () => {
  const folder = useFolder('creators');
  const serve = useServers();

  it('creates keys of mode 0600, and keeps keys and ports on the next start', async () => {
    const dataDir = join(folder, 'restarted');
    const first = forkCreators(dataDir);
    const names = ['sandbox-echo', 'sandbox-fails', 'sandbox-offline'];
    const before = await first.start(names.map((name) => ({ name })));
    for (const name of names) {
      const path = join(dataDir, 'keys', `${name}.json`);
      expect(statSync(path).mode & 0o777).to.equal(0o600);
      expect(JSON.parse(readFileSync(path, 'utf8'))).to.have.length(64);
      const { url, port } = before.get(name)!;
      expect(url).to.equal(`http://127.0.0.1:${port}/execute`);
    }
    expect(new Set([...before.values()].map(({ signingKey }) => signingKey)).size).to.equal(3);
    await first.stop();

    const second = forkCreators(dataDir);
    const again = names.map((name) => ({ name, port: before.get(name)!.port, listed: true }));
    expect(await second.start(again)).to.deep.equal(before);
    expect(await complete(before.get('sandbox-echo')!, execution('hello'))).to.equal('hello');
    expect((await post(before.get('sandbox-fails')!.url, execution('hello'))).text).to.contain('"failed"');
    expect(await refusesConnections(before.get('sandbox-offline')!.url)).to.equal(true);
    await second.stop();
  });

  it('names the agent whose port is in use, leaves nothing listening, and starts on the next attempt', async () => {
    const port = Number(new URL(await serve(() => {})).port);
    const creators = forkCreators();
    const echo = { name: 'sandbox-echo', port: 0, signingKeyPath: 'echo.json' };
    const slow = { name: 'sandbox-slow', port, signingKeyPath: 'slow.json' };
    const refused = await creators.ask({ type: 'start', dataDir: creators.dataDir, agents: [echo, slow] });
    expect(refused).to.deep.equal({
      type: 'error',
      name: 'sandbox-slow',
      port,
      code: 'EADDRINUSE',
      message: `sandbox-slow: port ${port} is in use by another program`,
    });
    const agents = await creators.start([echo, { ...slow, port: 0 }]);
    expect(agents.get('sandbox-slow')!.port).to.not.equal(port);
    expect(await complete(agents.get('sandbox-slow')!, execution('hello'))).to.equal('hello');
    await creators.stop();
  });

  it('answers anyone until trust is configured, and then only requests that the marketplace signed', async () => {
    const keys = loadCallKeys(join(folder, 'call-keys.json'));
    const strangers = loadCallKeys(join(folder, 'strangers.json'));
    const directory = await serve((_request, response) => void response.end(JSON.stringify(keys.directory)));
    const creators = forkCreators();
    // One honest agent, and one that misbehaves.
    const names = ['sandbox-echo', 'sandbox-fails'];
    const agents = await creators.start(names.map((name) => ({ name, listed: true })));
    expect(await complete(agents.get('sandbox-echo')!, execution('before'))).to.equal('before');
    await creators.ask({ type: 'trust', directoryUrl: `${directory}/keys` });

    for (const name of names) {
      const { url, signingKey } = agents.get(name)!;
      const send = async (call: object, signer?: typeof keys) => {
        const body = Buffer.from(JSON.stringify(call));
        const headers = signer
          ? await signer.sign({ url, body, purpose: 'execution', signingKey })
          : { 'content-type': 'application/json' };
        return (await fetch(url, { method: 'POST', headers, body })).status;
      };
      expect(await send(execution('unsigned')), name).to.equal(401);
      expect(await send(execution('forged'), strangers), name).to.equal(401);
      expect(await send(execution('signed'), keys), name).to.equal(200);
    }
    await creators.stop();
  });

  it('ends immediately when its parent disconnects, after ignoring SIGINT, and stops a running query', async () => {
    const creators = forkCreators();
    const agents = await creators.start([{ name: 'csv-analyst' }]);
    const { url } = agents.get('csv-analyst')!;
    creators.child.kill('SIGINT');
    const query = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c';
    // Each is stopped after 2 s and two run at a time, so one runs for 20 s.
    const answers = Array.from({ length: 20 }, () =>
      post(url, execution('endless', { csv: 'a\n1\n', query })).catch((reason: Error) => reason),
    );
    const worker = await workerOf(creators.child.pid!);
    creators.child.disconnect();
    const [code, signal] = await once(creators.child, 'exit');
    expect([code, signal]).to.deep.equal([0, null]);
    expect((await Promise.all(answers)).some((answer) => answer instanceof Error)).to.equal(true);
    await gone(worker);
    await creators.stop();
  });
});

const readProcess = (pid: number | string, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // It has ended.
    return '';
  }
};

/** Waits for the process id of the query's worker, a child of this process. */
function workerOf(parent: number): Promise<number> {
  const isChild = new RegExp(`\\) \\S ${parent} `);
  const isWorker = (pid: string) =>
    readProcess(pid, 'cmdline').includes('csvWorker.mjs') && isChild.test(readProcess(pid, 'stat'));
  return untilFound('the worker runs', () => Number(readdirSync('/proc').find(isWorker)) || null);
}

/** Resolves once the process has ended. Zombies count as ended. */
const gone = (pid: number): Promise<void> => until(`${pid} is gone`, () => /^$|\) Z /.test(readProcess(pid, 'stat')));
