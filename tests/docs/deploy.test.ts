/**
 * The files of deploy/, checked by the programs that read them. Caddy runs its file in front of two servers, and
 * systemd checks the units. Every setting, path and port must be one that the relay and the indexer have.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { parse } from 'yaml';
import { describeConfig as describeRelay, readConfig as readRelay } from '../../app/relay/config.ts';
import { describeConfig as describeIndexer, readConfig as readIndexer } from '../../indexer/config.ts';
import { PROGRAM_BYTES, PROGRAM_DATA_HEADER } from '../../scripts/deploy/loader.ts';
import { serve, useServers } from '../harness/edge/listen.ts';
import { until } from '../harness/edge/until.ts';
import { useFolder } from '../harness/folder.ts';
import { freePort } from '../harness/freePort.ts';
import { ROOT } from './markdown.ts';

const DEPLOY = join(ROOT, 'deploy');
const read = (name: string): string => readFileSync(join(DEPLOY, name), 'utf8');
const settingsOf = (help: string): string[] => [...help.matchAll(/^ {2}([A-Z_0-9]+) /gm)].map((match) => match[1]!);
const SETTINGS = new Set([...settingsOf(describeRelay()), ...settingsOf(describeIndexer())]);

/** The `NAME=value` lines of an environment file, also those that are commented out. */
function variablesOf(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/^#? ?([A-Z_0-9]+)=(.*)$/gm)].map((match) => [match[1]!, match[2]!]));
}

describe('deploy/', () => {
  const folder = useFolder('marketplace-deploy');

  it('marketplace.env.example has existing settings with accepted values', () => {
    const keypair = join(folder, 'relay.json');
    writeFileSync(keypair, JSON.stringify([...Keypair.generate().secretKey]));
    const given = variablesOf(read('marketplace.env.example'));
    expect(Object.keys(given).filter((name) => !SETTINGS.has(name))).to.deep.equal([]);
    const relay = readRelay({ ...given, RELAY_KEYPAIR: keypair });
    expect(relay).to.deep.include({ trustProxy: 1, shutdownSeconds: 60, egressIps: ['203.0.113.10'] });
    expect(() => readRelay({ ...given, RELAY_KEYPAIR: keypair, LEAVE_SECONDS: '60' })).to.throw(/less than SHUTDOWN_/);
    // The relay refuses new calls only after the proxy has noticed that it leaves.
    const seconds = (name: string) => Number(new RegExp(`^\\s+${name} (\\d+)s$`, 'm').exec(read('Caddyfile'))?.[1]);
    expect(relay.leaveSeconds).to.be.greaterThan(seconds('health_interval') + seconds('health_timeout'));
    expect(readIndexer(given).rpcUrl).to.equal(relay.rpcUrl);
  });

  it('docs/devnet.md has the size of the committed program and its price', () => {
    const { size } = statSync(join(ROOT, 'programs/marketplace/artifact/marketplace.so'));
    // Rent at 6,960 lamports a byte; the chain adds 128 bytes to each account.
    const rentOf = (bytes: number) => (128 + bytes) * 6_960;
    const sol = (rentOf(PROGRAM_DATA_HEADER + size) + rentOf(PROGRAM_BYTES)) / 1e9;
    const row = `| the program, ${size.toLocaleString('en-US')} bytes | ${sol.toFixed(2)} |`;
    expect(readFileSync(join(ROOT, 'docs/devnet.md'), 'utf8')).to.include(row);
  });

  it('systemd accepts the units, which time out later than the relay and the proxy', () => {
    const files = (readdirSync(join(DEPLOY, 'systemd'), { recursive: true }) as string[]).filter((name) =>
      /\.\w+$/.test(name),
    );
    const names = files.filter((name) => !name.endsWith('.d') && !name.endsWith('.conf'));
    expect(names).to.have.members([
      'marketplace-backup.service',
      'marketplace-backup.timer',
      'marketplace-indexer.service',
      'marketplace-relay@.service',
      'marketplace-relay-health@.service',
      'marketplace-relay-health@.timer',
    ]);
    const units = names.map((name) => {
      const path = join(folder, name.replace('@.', '@1.'));
      const text = read(`systemd/${name}`);
      const [, script] = /^ExecStart=\/usr\/bin\/node (?:--\S+ )?scripts\/run\.mjs (\S+)/m.exec(text) ?? [];
      if (text.includes('/usr/bin/node')) expect(script && existsSync(join(ROOT, script)), name).to.equal(true);
      for (const variable of text.matchAll(/\$\{([A-Z_]+)\}/g)) expect(SETTINGS).to.include(variable[1]);
      writeFileSync(path, text.replace('/usr/bin/node', process.execPath));
      return path;
    });
    // Debian's own units, with our drop-in files appended.
    for (const [unit, from] of [
      ['caddy.service', '/lib/systemd/system/caddy.service'],
      ['postgresql@15-main.service', '/lib/systemd/system/postgresql@.service'],
    ] as const) {
      if (!existsSync(from)) continue;
      const ours = read(`systemd/${unit.replace('15-main', '')}.d/marketplace.conf`);
      const path = join(folder, unit);
      writeFileSync(path, `${readFileSync(from, 'utf8')}\n${ours}`);
      units.push(path);
    }
    // The exit code is 0 for a warning too, but the warning names the unit.
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...units], { encoding: 'utf8' });
    expect(stderr.split('\n').filter((line) => line.includes(folder) || line.includes('marketplace'))).to.deep.equal(
      [],
    );
    const seconds = (name: string, setting: string) =>
      Number(new RegExp(`^\\s*${setting}[= ](\\d+)s?$`, 'm').exec(read(name))?.[1]);
    const shutdown = variablesOf(read('marketplace.env.example')).SHUTDOWN_SECONDS;
    expect(seconds('systemd/marketplace-relay@.service', 'TimeoutStopSec')).to.be.greaterThan(Number(shutdown));
    expect(seconds('systemd/caddy.service.d/marketplace.conf', 'TimeoutStopSec')).to.be.greaterThan(
      seconds('Caddyfile', 'grace_period'),
    );
  });

  it('compose.yaml has two relays and an indexer with a standby, with existing scripts and settings', () => {
    const { services, secrets, volumes } = parse(read('compose.yaml'), { merge: true });
    expect(Object.keys(services)).to.have.members(
      'postgres indexer indexer-standby relay-1 relay-2 backup proxy'.split(' '),
    );
    for (const name of Object.keys(services)) expect(services[name].healthcheck, name).to.have.property('test');
    for (const name of ['relay-1', 'relay-2', 'indexer', 'indexer-standby', 'backup']) {
      const service = services[name];
      const command: string[] = service.command ?? ['node', 'scripts/run.mjs', 'app/relay/main.ts'];
      const paths = command.join(' ').match(/\S+\.(?:ts|mjs)\b/g)!;
      expect(paths.filter((path) => !existsSync(join(ROOT, path)))).to.deep.equal([]);
      expect(Object.keys(service.environment).filter((variable) => !SETTINGS.has(variable))).to.deep.equal([]);
      expect(service.environment.DATABASE_URL).to.include('@postgres:5432/');
      for (const volume of service.volumes) expect(volumes).to.have.property(volume.split(':')[0]);
      for (const { source } of service.secrets ?? []) expect(secrets).to.have.property(source);
    }
    // The proxy in another container could not reach the address in marketplace.env.
    for (const name of ['relay-1', 'relay-2']) expect(services[name].environment.HOST).to.equal('0.0.0.0');
    // No container is killed before its shutdown is over. Settings and keypairs are outside of the checkout.
    const grace = (name: string) => Number(/^(\d+)s$/.exec(services[name].stop_grace_period)?.[1]);
    const { SHUTDOWN_SECONDS } = variablesOf(read('marketplace.env.example'));
    expect(grace('relay-1')).to.be.greaterThan(Number(SHUTDOWN_SECONDS));
    expect(grace('proxy')).to.be.greaterThan(Number(/grace_period (\d+)s/.exec(read('Caddyfile'))?.[1]));
    expect(grace('indexer')).to.equal(
      Number(/TimeoutStopSec=(\d+)/.exec(read('systemd/marketplace-indexer.service'))?.[1]),
    );
    for (const { file } of Object.values<{ file: string }>(secrets)) expect(file).to.match(/^\/etc\/marketplace\//);
    expect(services['relay-1'].secrets[0].source).to.not.equal(services['relay-2'].secrets[0].source);
    for (const [, path] of read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)) {
      for (const source of path!.split(' ')) expect(existsSync(join(ROOT, source)), source).to.equal(true);
    }
  });

  it('compose.yaml kills a relay that does not answer, but not one that does not listen', async () => {
    const { services } = parse(read('compose.yaml'), { merge: true });
    // In a container this kills all processes. Here it exits with code 9 instead.
    const script = (services['relay-1'].healthcheck.test[3] as string).replace(
      "process.kill(-1, 'SIGKILL')",
      'process.exit(9)',
    );
    expect(script).to.include('process.exit(9)').and.include('40_000').and.not.include('kill');
    expect(services['relay-1'].init).to.equal(true);
    let answer: (response: ServerResponse) => void = (response) => response.end();
    const { url, close } = await serve((_, response) => answer(response));
    const check = async (limitMs = '40_000') => {
      const here = script.replace('8787', new URL(url).port).replace('40_000', limitMs);
      return (await once(spawn('node', ['-e', here], { stdio: 'ignore' }), 'exit'))[0];
    };
    expect(await check()).to.equal(0);
    answer = (response) => response.writeHead(500).end();
    expect(await check()).to.equal(1);
    answer = () => {};
    expect(await check('2_000')).to.equal(9);
    close();
    expect(await check()).to.equal(1);
  });

  describe('Caddyfile', () => {
    interface Behind {
      url: string;
      ready: boolean;
      calls: string[];
      forwarded: (string | undefined)[];
      answer?: (request: IncomingMessage, response: ServerResponse) => void;
    }
    const start = useServers();
    const relays: Behind[] = [];
    let caddy: ChildProcess;
    let url: string;

    async function relay(): Promise<Behind> {
      const behind: Behind = { url: '', ready: true, calls: [], forwarded: [] };
      behind.url = await start((request, response) => {
        if (request.url === '/ready') return response.writeHead(behind.ready ? 200 : 503).end();
        behind.calls.push(`${request.method} ${request.url}`);
        behind.forwarded.push(request.headers['x-forwarded-for'] as string | undefined);
        request.resume();
        request.on('end', () => (behind.answer ? behind.answer(request, response) : response.end('answered')));
      });
      relays.push(behind);
      return behind;
    }
    const addressOf = (behind: Behind) => new URL(behind.url).host;

    before(async () => {
      const addresses = [addressOf(await relay()), addressOf(await relay())];
      url = `http://127.0.0.1:${await freePort()}`;
      caddy = spawn('caddy', ['run', '--config', join(DEPLOY, 'Caddyfile'), '--adapter', 'caddyfile'], {
        stdio: 'ignore',
        env: {
          ...process.env,
          DOMAIN: url,
          RELAYS: addresses.join(' '),
          CADDY_ADMIN: `127.0.0.1:${await freePort()}`,
          XDG_DATA_HOME: folder,
          XDG_CONFIG_HOME: folder,
        },
      });
      await until('Caddy answers', () =>
        fetch(url).then(
          ({ ok }) => ok,
          () => false,
        ),
      );
    });
    beforeEach(() => {
      for (const behind of relays) Object.assign(behind, { ready: true, calls: [], forwarded: [], answer: undefined });
    });
    after(async () => {
      caddy.kill('SIGTERM');
      await once(caddy, 'exit');
    });

    it('forwards the client address, but not the metrics', async () => {
      // An address that the caller invents is not forwarded.
      const headers = { 'x-forwarded-for': '203.0.113.1' };
      expect(await (await fetch(`${url}/v1/agents`, { headers })).text()).to.equal('answered');
      expect(relays.flatMap(({ forwarded }) => forwarded)).to.deep.equal(['127.0.0.1']);
      expect((await fetch(`${url}/metrics`)).status).to.equal(404);
      expect(relays.flatMap(({ calls }) => calls).filter((call) => call.includes('metrics'))).to.deep.equal([]);
    });

    it('skips a relay that is not ready, and uses it again later', async () => {
      relays[0]!.ready = false;
      const served = () => relays.map(({ calls }) => calls.length);
      await until('it is skipped', async () => {
        const [before] = served();
        for (let call = 0; call < 4; call += 1) await fetch(url);
        return served()[0] === before;
      });
      relays[0]!.ready = true;
      await until('it is used again', async () => {
        const [before] = served();
        for (let call = 0; call < 4; call += 1) await fetch(url);
        return served()[0]! > before!;
      });
    });

    it('never sends a paid call twice when its relay dies', async () => {
      for (const behind of relays) behind.answer = (request) => void request.socket.destroy();
      const answer = await fetch(`${url}/v1/agents/x/execute`, { method: 'POST', body: '{}' });
      expect(answer.status).to.equal(502);
      expect(relays.flatMap(({ calls }) => calls)).to.deep.equal(['POST /v1/agents/x/execute']);
    });

    it('waits for a slow answer', async () => {
      for (const behind of relays) behind.answer = (_, response) => void setTimeout(() => response.end('late'), 3_000);
      expect(await (await fetch(`${url}/v1/agents/x/execute`, { method: 'POST', body: '{}' })).text()).to.equal('late');
    });
  });
});
