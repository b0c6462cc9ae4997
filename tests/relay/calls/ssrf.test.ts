/**
 * Endpoints that must not lead the relay to internal addresses. Every vector is tried as a listing's endpoint and as a
 * call, whatever the listing's check decides. A spy on all sockets of this process and servers on loopback show that
 * nothing connects. A public name does connect, which proves that the spy works.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { isIP, Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { type CreatorPool, callCreator, createCreatorPool } from '../../../app/relay/outbound/dispatch.ts';
import { createResolve, findEndpointFault, isPublicAddress } from '../../../app/relay/outbound/egress.ts';
import { AgentMetadata } from '../../../app/sdk/wire/metadata.ts';
import { listen, serve } from '../../harness/edge/listen.ts';
import { type Records, startNameServer } from '../../harness/edge/nameServer.ts';

const CERTIFICATES = join(import.meta.dirname, '..', '..', 'harness', 'edge', 'certificates');
/** Public addresses that are never reached: the spy ends these connections. */
const PUBLIC = '93.184.215.14';
const PUBLIC6 = '2606:2800:21f:cb07:6820:80da:af6b:8b2c';

/** For calls that never connect: long enough for a first attempt. */
const SHORT_MS = 1_000;
/** Hosts as an attacker writes them. The port is that of a server which no test may reach. */
const HOSTS: Record<string, string> = {
  'IPv4 loopback in every spelling': `127.0.0.1 2130706433 0x7f000001 0177.0.0.1 127.0.0.1. １２７.0.0.1
    agents.example.com@127.0.0.1`,
  'this host and this network': '0.0.0.0 0 0.1.2.3',
  'private and shared IPv4': '10.0.0.1 172.16.0.1 172.31.255.255 192.168.0.1 100.64.0.1 100.127.255.255',
  'other special IPv4': '192.0.0.1 192.0.2.1 198.18.0.1 192.88.99.1 224.0.0.1 240.0.0.1 255.255.255.255',
  'metadata services': `169.254.169.254 169.254.170.2 100.100.100.200 168.63.129.16 192.0.0.192
    [fd00:ec2::254] [fd20:ce::254]`,
  'IPv6 loopback, link-local, unique-local, multicast': `[::1] [::] [fe80::1] [fc00::1] [fec0::1] [ff02::1] [100::1]
    [2001:db8::1] [5f00::1]`,
  'IPv4 inside IPv6': `[::ffff:127.0.0.1] [::ffff:0:127.0.0.1] [::127.0.0.1] [64:ff9b::127.0.0.1]
    [64:ff9b:1::a9fe:a9fe] [2002:7f00:1::1] [2001:0:4136:e378:8000:63bf:3fff:fdd2]`,
  'names without a dot inside, or with one at the end': `localhost LOCALHOST localhost. ⓛocalhost metadata
    loopback.test.example.`,
};

/** Valid names that resolve to internal addresses. */
const ZONE: Record<string, Records> = {
  'loopback.test.example': { A: ['127.0.0.1'] },
  'loopback6.test.example': { AAAA: ['::1'] },
  'metadata.google.internal': { A: ['169.254.169.254'] },
  '127.0.0.1.nip.example': { A: ['127.0.0.1'] },
  'mixed.test.example': { A: [PUBLIC, '10.0.0.1'] },
  'mixed6.test.example': { A: [PUBLIC], AAAA: ['fd00::1'] },
  'mapped.test.example': { AAAA: ['::ffff:127.0.0.1'] },
  'nat64.test.example': { AAAA: ['64:ff9b::7f00:1'] },
  'zero.test.example': { A: ['0.0.0.0'] },
  'alias.test.example': { CNAME: 'inside.test.example' },
  'chain.test.example': { CNAME: 'alias.test.example' },
  'inside.test.example': { A: ['192.168.1.1'] },
  'private-then-public.test.example': { A: [['127.0.0.1'], [PUBLIC]] },
  'public.test.example': { A: [PUBLIC], AAAA: [PUBLIC6] },
  'rebinding.test.example': { A: [[PUBLIC], ['127.0.0.1']] },
  'empty.test.example': {},
};

describe('calls to creators: addresses', () => {
  let names: Awaited<ReturnType<typeof startNameServer>>;
  let pool: CreatorPool;
  let victims: Server[];
  let port: number;
  let hits: number;
  /** Addresses that sockets of this process tried to connect to. */
  let attempts: string[];
  /** True to end sockets to public addresses before they connect. */
  let holdBack: boolean;
  const connect = Socket.prototype.connect;

  before(async () => {
    names = await startNameServer(ZONE);
    const count: RequestListener = (_request, response) => void response.end('{}');
    victims = [createServer(count), createServer(count)];
    for (const server of victims) server.on('connection', () => (hits += 1));
    port = Number(new URL(await listen(victims[0]!)).port);
    victims[1]!.listen(port, '::1');
    await once(victims[1]!, 'listening');
  });
  after(() => {
    names.close();
    for (const server of victims) server.close();
  });

  beforeEach(() => {
    hits = 0;
    attempts = [];
    holdBack = false;
    Socket.prototype.connect = function (this: Socket, ...given: unknown[]) {
      this.on('connectionAttempt', (address) => attempts.push(address));
      if (!holdBack) return connect.apply(this, given as never);
      const [options] = (Array.isArray(given[0]) ? given[0] : given) as [{ host: string; lookup: LookupAll }];
      options.lookup(options.host, { all: true }, (error, found) => {
        for (const { address } of found || []) attempts.push(address);
        this.destroy(error ?? Object.assign(new Error('held back'), { code: 'EHELD' }));
      });
      return this;
    } as typeof connect;
    const resolve = createResolve([names.address]);
    pool = createCreatorPool({ allowPrivate: false, sign: async () => ({}), resolve });
  });
  afterEach(async () => {
    Socket.prototype.connect = connect;
    await pool.destroy();
  });
  type LookupAll = (
    host: string,
    options: { all: true },
    done: (error: Error | null, found: { address: string }[]) => void,
  ) => void;

  const call = (endpoint: string, options: { timeoutMs?: number; pool?: CreatorPool } = {}) =>
    callCreator(options.pool ?? pool, {
      endpoint,
      request: {
        execution_id: '00000000-0000-8000-8000-000000000001',
        task: 'x',
        parameters: '{}',
        user_pubkey: '11111111111111111111111111111111',
        timeout_seconds: 1,
      },
      signingKey: 'x',
      deadlineMs: performance.now() + (options.timeoutMs ?? 60_000),
    });

  async function assertRefused(endpoint: string): Promise<void> {
    const answer = await call(endpoint);
    expect(answer.kind, JSON.stringify(answer)).to.equal('failed');
    expect((answer as { message: string }).message).to.match(/^The creator's server cannot be called: /);
    expect(attempts).to.deep.equal([]);
    expect(hits).to.equal(0);
  }

  /** True if a listing may name this endpoint. */
  function isListable(endpoint: string): boolean {
    const parsed = AgentMetadata.shape.endpoint.safeParse(endpoint);
    return parsed.success && findEndpointFault(endpoint) === null;
  }

  it('connect for a public name to its own addresses only, as the spy records', async () => {
    holdBack = true;
    expect(await call('https://public.test.example/execute', { timeoutMs: SHORT_MS })).to.include({
      kind: 'timeout',
      message: 'The agent did not respond within 1 seconds; last problem: EHELD',
    });
    expect(attempts.slice(0, 2)).to.deep.equal([PUBLIC, PUBLIC6]);
    expect(new Set(attempts).size).to.equal(2);
    expect(isListable('https://public.test.example/execute')).to.equal(true);
    expect(isListable(`https://${PUBLIC}/execute`)).to.equal(true);
    expect(isListable(`https://[${PUBLIC6}]:8443/execute`)).to.equal(true);
  });

  it('reach this computer when local networks are allowed, as the spy records', async () => {
    const local = createCreatorPool({ allowPrivate: true, sign: async () => ({}) });
    expect(await call(`http://127.0.0.1:${port}/execute`, { pool: local })).to.deep.equal({
      kind: 'body',
      body: [Buffer.from('{}')],
    });
    expect(attempts).to.deep.equal(['127.0.0.1']);
    expect(hits).to.equal(1);
    await local.destroy();
  });

  for (const [family, list] of Object.entries(HOSTS)) {
    describe(family, () => {
      for (const host of list.split(/\s+/)) {
        it(host, async () => {
          const endpoint = `https://${host}:${port}/execute`;
          expect(isListable(endpoint)).to.equal(false);
          await assertRefused(endpoint);
        });
      }
    });
  }

  describe('names that lead inside', () => {
    const public_ = ['public.test.example', 'rebinding.test.example', 'empty.test.example'];
    for (const name of Object.keys(ZONE).filter((entry) => !public_.includes(entry))) {
      it(name, () => assertRefused(`https://${name}:${port}/execute`));
    }
  });

  it('resolve and check the name again for each connection', async () => {
    holdBack = true;
    const answer = await call(`https://rebinding.test.example:${port}/execute`);
    expect(answer.kind).to.equal('failed');
    expect((answer as { message: string }).message).to.match(/resolves to an address that is not public/);
    // The first connection used the address that was checked, without a second lookup. The second connection was
    // refused.
    expect(names.questions('rebinding.test.example', 'A')).to.equal(2);
    expect(attempts).to.deep.equal([PUBLIC]);
    expect(hits).to.equal(0);
  });

  const without = { 'empty.test.example': 'ENODATA', 'nowhere.test.example': 'ENOTFOUND' };
  for (const [name, code] of Object.entries(without)) {
    it(`fail for a name without addresses: ${name}`, async () => {
      const answer = await call(`https://${name}/execute`, { timeoutMs: SHORT_MS });
      const message = `The agent did not respond within 1 seconds; last problem: the host name has no address (${code})`;
      expect(answer).to.include({ kind: 'timeout', message });
      expect(attempts).to.deep.equal([]);
    });
  }

  describe('schemes and ports', () => {
    const endpoints = [
      'http://public.test.example/execute',
      `http://127.0.0.1:9/execute`,
      'https://public.test.example:22/execute',
      'https://public.test.example:1023/execute',
      'file:///etc/passwd/execute',
      'unix:/var/run/docker.sock/execute',
      'ws://public.test.example/execute',
    ];
    for (const endpoint of endpoints) {
      it(endpoint, async () => {
        expect(isListable(endpoint)).to.equal(false);
        await assertRefused(endpoint);
      });
    }
  });

  describe('redirects', () => {
    for (const status of [300, 302, 308]) {
      it(`with status ${status} end the call as a failure and are not followed`, async () => {
        const { url, close } = await serve((_request, response) => {
          response.writeHead(status, { location: `http://127.0.0.1:${port}/execute` }).end();
        });
        const local = createCreatorPool({ allowPrivate: true, sign: async () => ({}) });
        expect(await call(`${url}/execute`, { pool: local })).to.deep.include({
          kind: 'failed',
          message: `The creator's server answered with status ${status}${status === 300 ? '' : ', a redirect, which is not followed'}`,
        });
        expect(attempts).to.have.length(1);
        expect(hits).to.equal(0);
        await local.destroy();
        close();
      });
    }
  });

  it('send nothing to a server whose certificate nobody trusts', async () => {
    const pem = (kind: string) => readFileSync(join(CERTIFICATES, `stranger.${kind}.pem`));
    let requests = 0;
    const server = createTlsServer({ cert: pem('cert'), key: pem('key') }, () => (requests += 1));
    const url = (await listen(server)).replace('http:', 'https:');
    const local = createCreatorPool({ allowPrivate: true, sign: async () => ({}) });
    expect(await call(`${url}/execute`, { pool: local, timeoutMs: SHORT_MS })).to.include({
      kind: 'timeout',
      message:
        'The agent did not respond within 1 seconds; last problem: the TLS certificate is not signed by a known authority (DEPTH_ZERO_SELF_SIGNED_CERT)',
    });
    expect(requests).to.equal(0);
    await local.destroy();
    server.close();
  });

  it('ignore a proxy named by the environment', async () => {
    const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'https_proxy'];
    for (const name of names) process.env[name] = `http://127.0.0.1:${port}`;
    holdBack = true;
    await call('https://public.test.example/execute', { timeoutMs: SHORT_MS });
    for (const name of names) delete process.env[name];
    expect(new Set(attempts)).to.deep.equal(new Set([PUBLIC, PUBLIC6]));
  });

  it('distinguish public addresses from all others', () => {
    for (const address of [PUBLIC, PUBLIC6, '1.1.1.1', '2a00::1', '172.32.0.1', '100.128.0.1', '169.253.0.1']) {
      expect(isPublicAddress(address), address).to.equal(true);
    }
    for (const address of ['', 'localhost', 'fe80::1%eth0', '::1', '127.0.0.1', '168.63.129.16', '3fff::1']) {
      expect(isPublicAddress(address), address).to.equal(false);
      expect(isIP(address) === 0 || !isPublicAddress(address)).to.equal(true);
    }
  });
});
