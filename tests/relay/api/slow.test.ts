/**
 * Deliberately slow clients: each is disconnected, costs only a connection until then, and delays nobody. Large requests
 * while the thread of strangers is busy. And many requests at once on one connection: a few are served, and more close
 * the connection and are dropped.
 */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { watchAnswers } from '../../../app/relay/http/drain.ts';
import { createHttpServer } from '../../../app/relay/http/server.ts';
import { inThread, ownWork, refusedRequests } from '../../../app/relay/workers.ts';
import { createApiKey } from '../../../app/sdk/receipt/apiKey.ts';
import { ErrorBody } from '../../../app/sdk/wire/wire.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { listen } from '../../harness/edge/listen.ts';
import { metadataOf, newAddress, newExecutionId } from '../../harness/edge/rows.ts';
import { until } from '../../harness/edge/until.ts';
import * as work from '../operation/threadWork.ts';
import { sessionsOf } from './sessions.ts';

const WORK = new URL('../operation/threadWork.ts', import.meta.url).href;
const PATIENCE = { headersMs: 400, requestMs: 800, takeMs: 400, checkMs: 50 };
const BIG_FILE = 'assets/big.js';
const BIG_RESULT = 'r'.repeat(24 * 1024 * 1024);

type Dropped = { text: string; bytes: number; afterMs: number };

describe('slow clients', () => {
  let server: Server;
  let port: number;
  const world = useWorld();
  before(async () => {
    const dashboardFolder = mkdtempSync(join(tmpdir(), 'page-'));
    mkdirSync(join(dashboardFolder, 'assets'));
    writeFileSync(join(dashboardFolder, 'catalogue.html'), '');
    writeFileSync(join(dashboardFolder, BIG_FILE), BIG_RESULT);
    server = createHttpServer({ ...world.deps, dashboardFolder }, PATIENCE);
    rmSync(dashboardFolder, { recursive: true });
    port = Number(new URL(await listen(server)).port);
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
  });

  /** Lets `behave` use a connection until the server closes it. */
  async function untilDropped(behave: (socket: Socket) => void): Promise<Dropped> {
    const begun = performance.now();
    const socket = connect(port, '127.0.0.1', () => behave(socket));
    let text = '';
    let bytes = 0;
    socket.on('data', (chunk) => {
      bytes += chunk.length;
      if (text.length < 10_000) text += chunk.toString('latin1').slice(0, 10_000);
    });
    socket.on('error', () => undefined);
    await once(socket, 'close');
    return { text, bytes, afterMs: performance.now() - begun };
  }

  /** Writes one byte at a time, endlessly. */
  function drip(socket: Socket, text: string): void {
    let sent = 0;
    const timer = setInterval(() => socket.write(text[sent++ % text.length]!), 40);
    socket.on('close', () => clearInterval(timer));
  }

  function assertRefused({ text, afterMs }: Dropped, patienceMs: number): void {
    expect(text).to.match(/^HTTP\/1\.1 400 Bad Request\r\n/);
    const { error } = ErrorBody.parse(JSON.parse(text.split('\r\n\r\n')[1]!));
    expect(error).to.include({ code: 'invalid_request', message: 'The request did not arrive in time' });
    expect(afterMs).to.be.within(patienceMs, patienceMs + 60_000);
  }

  it('are disconnected when their body never ends', async () => {
    const head =
      'POST /v1/metadata HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n';
    const dropped = await untilDropped((socket) => {
      socket.write(head);
      drip(socket, '{"name":"x"}');
    });
    assertRefused(dropped, 800);
  });

  /** The request of a large result. */
  async function addBigResult(): Promise<string> {
    const row = { wallet: newAddress(), listing: await world.addListing(), state: 'settled' as const };
    const id = await world.addJournal(row);
    return `GET /results/${id}/${await world.addResult(id, BIG_RESULT)} HTTP/1.1\r\nHost: x\r\n`;
  }

  /** Never reads until the server closes the connection. */
  function untilClosed(request: string): Promise<Dropped> {
    const closed = new Promise<void>((resolve) => {
      server.once('connection', (served: Socket) => served.once('close', () => resolve()));
    });
    return untilDropped((socket) => {
      socket.write(`${request}\r\n`);
      socket.pause();
      // Reads the rest from the kernel's buffer at the end, to detect the close.
      void closed.then(() => socket.resume());
    });
  }

  for (const [what, requestOf] of [
    ['the answer', addBigResult],
    ['a file of the page', async () => `GET /${BIG_FILE} HTTP/1.1\r\nHost: x\r\n`],
  ] as const) {
    it(`are disconnected when they never read ${what}`, async () => {
      const dropped = await untilClosed(await requestOf());
      expect(dropped.text).to.match(/^HTTP\/1\.1 200 OK/);
      expect(dropped.bytes).to.be.lessThan(BIG_RESULT.length);
    });
  }

  it('are disconnected when they keep an answered connection open', async () => {
    server.keepAliveTimeout = 300;
    const dropped = await untilDropped((socket) => socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n'));
    expect(dropped.text).to.match(/^HTTP\/1\.1 200 OK/);
  });

  it('may read slowly as long as they read', async () => {
    const request = await addBigResult();
    const { bytes, afterMs } = await untilDropped((socket) => {
      socket.write(`${request}Connection: close\r\n\r\n`);
      socket.on('data', () => {
        socket.pause();
        setTimeout(() => socket.resume(), 2);
      });
    });
    expect(bytes).to.be.greaterThan(BIG_RESULT.length);
    expect(afterMs).to.be.greaterThan(PATIENCE.takeMs);
  });

  it('are disconnected when their headers never end, and two hundred of them delay no other client', async () => {
    const slow = Array.from({ length: 200 }, () =>
      untilDropped((socket) => {
        socket.write('GET / HTTP/1.1\r\n');
        drip(socket, 'X-A: b\r\n');
      }),
    );
    for (let i = 0; i < 5; i += 1) {
      expect((await fetch(`http://127.0.0.1:${port}/health`)).status).to.equal(200);
      expect((await fetch(`http://127.0.0.1:${port}/v1/executions/${newExecutionId()}`)).status).to.equal(401);
    }
    for (const dropped of await Promise.all(slow)) assertRefused(dropped, 400);
  });

  it('wait for a slow agent until its timeout, also after another answer on the same connection', async () => {
    const { apiKey } = await world.addKey();
    const listing = await world.addListing();
    world.state.execute = () =>
      new Promise((resolve) => {
        setTimeout(() => resolve({ kind: 'pending', executionId: newExecutionId() }), 1_500);
      });
    const body = '{"task":"x"}';
    const call = [
      `POST /v1/agents/${listing}/execute HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}`,
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    ].join('\r\n');
    const { text } = await untilDropped((socket) => socket.write(`GET /health HTTP/1.1\r\nHost: x\r\n\r\n${call}`));
    expect(text.match(/HTTP\/1\.1 [0-9]+ \w+/g)).to.deep.equal(['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK']);
    expect(text).to.match(/"status":"pending"}$/);
  });

  describe('a large request', () => {
    before(() => {
      world.state.execute = async () => ({ kind: 'pending', executionId: newExecutionId() });
    });

    /** Holds the thread of strangers while `run` runs, which learns if it is still held. */
    async function whileHeld(run: (isHeld: () => boolean) => Promise<void>): Promise<void> {
      let isBusy = true;
      const cell = new SharedArrayBuffer(4);
      const busy = inThread(WORK, work.hold)(ownWork, cell).finally(() => {
        isBusy = false;
      });
      await run(() => isBusy);
      work.release(cell);
      await busy;
    }

    it('with a live key is read at once, before its wallet has paid, and a description without a key waits', async () => {
      const listing = await world.addListing();
      const { apiKey: key } = await world.addKey();
      const body = { task: 'x'.repeat(25_000), parameters: {}, async: true };
      const execute = () => world.post(`/v1/agents/${listing}/execute`, body, { key });
      // Starts the thread for paid calls, which takes seconds. The other one is held for at most ten.
      expect((await execute()).status).to.equal(200);
      const description = metadataOf({ input_schema: { type: 'object', description: 'words '.repeat(1_000) } });
      await whileHeld(async (isHeld) => {
        const counted = { ...refusedRequests() };
        const refused = world.post('/v1/metadata', description);
        const answer = await execute();
        expect([answer.status, isHeld()], answer.text).to.deep.equal([200, true]);
        const refusal = await refused;
        expect(refusal.outcome, refusal.text).to.equal('503 service_unavailable');
        expect(refusal.headers.get('retry-after')).to.equal('2');
        expect(refusedRequests()).to.deep.equal({ ...counted, strangers: counted.strangers + 1 });
      });
      expect((await world.post('/v1/metadata', description)).status).to.equal(200);
    });

    it('by the signature of a wallet that has paid is checked at once', async () => {
      const wallet = Keypair.generate();
      const caller = wallet.publicKey.toBase58();
      // A schema too long to be compiled outside of threads.
      const text = { type: 'string', pattern: '^[a-z]+$', description: 'words '.repeat(50) };
      const listing = await world.addListing({}, { input_schema: { type: 'object', properties: { text } } });
      await world.addRecord({ caller, listing });
      const parameters = { text: 'words' };
      const { executionId, wallet_signature } = sessionsOf(() => world).openedRecord(
        wallet,
        listing,
        'count',
        parameters,
      );
      Object.assign(world.deps.engine, { start: async () => ({ kind: 'pending', executionId }) });
      const body = { task: 'count', parameters, async: true, wallet_signature };
      await whileHeld(async (isHeld) => {
        const answer = await world.post(`/v1/executions/${executionId}/start`, body);
        expect([answer.status, isHeld()], answer.text).to.deep.equal([200, true]);
      });
    });
  });

  describe('bodies that never end', () => {
    const LENGTH = 1024 * 1024;
    const sockets: Socket[] = [];
    afterEach(() => {
      for (const socket of sockets.splice(0)) socket.destroy();
    });

    /** Sends all but the last byte. The returned function gives the status of the answer. */
    function send(path: string, key?: string): () => string | undefined {
      let text = '';
      const head = [
        `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json`,
        ...(key === undefined ? [] : [`Authorization: Bearer ${key}`]),
        `Content-Length: ${LENGTH}\r\n\r\n`,
      ].join('\r\n');
      const socket = connect(world.port, '127.0.0.1').on('error', () => undefined);
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.write(head);
      socket.write(Buffer.alloc(LENGTH - 1, 'x'));
      sockets.push(socket);
      return () => /^HTTP\/1\.1 ([0-9]+)/.exec(text)?.[1];
    }

    it('are not kept without a valid key', async () => {
      const path = `/v1/agents/${await world.addListing()}/execute`;
      const status = send(path, createApiKey('test'));
      await until('the refusal', async () => status() !== undefined);
      expect(status()).to.equal('401');
    });

    it('of strangers use at most 64 MiB, and no room of a call with a key', async () => {
      const listing = await world.addListing();
      const statuses = Array.from({ length: 68 }, () => send(`/v1/x402/agents/${listing}/execute`));
      const answered = () => statuses.map((status) => status()).filter((status) => status !== undefined);
      // Each lacks a byte, so that a room of 64 MiB has 64 of them.
      await until('four are dropped', async () => answered().length === 4);
      expect(new Set(answered())).to.deep.equal(new Set(['503']));
      world.state.execute = async () => ({ kind: 'pending', executionId: newExecutionId() });
      const { apiKey } = await world.addKey();
      const body = { task: 'x'.repeat(100_000), parameters: {}, async: true };
      const call = await world.post(`/v1/agents/${listing}/execute`, body, { key: apiKey });
      expect(call.status, call.text).to.equal(200);
    });
  });

  describe('pipelined requests', () => {
    let request: string;
    let served = 0;
    before(async () => {
      const { apiKey } = await world.addKey();
      world.deps.findKey = async () => {
        served += 1;
        return undefined;
      };
      request = `GET /v1/executions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`;
    });
    beforeEach(() => {
      served = 0;
    });

    async function open(to = world.port): Promise<Socket> {
      const socket = connect(to, '127.0.0.1');
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      return socket;
    }

    it('are served in order, repeatedly, if they are few', async () => {
      const socket = await open();
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      const answers = () => text.match(/HTTP\/1\.1 401 /g)?.length ?? 0;
      for (let round = 1; round <= 5; round += 1) {
        socket.write(request.repeat(16));
        await until('the answers', async () => answers() === 16 * round);
      }
      expect(served).to.equal(16 * 5);
      socket.destroy();
    });

    it('close the connection if they are many, and are not served', async () => {
      const socket = (await open()).resume();
      socket.write(request.repeat(1_000));
      await until('the end of the connection', () => socket.closed);
      expect(served).to.equal(16);
    });

    it('are forgotten with their connection, so that a relay that stops waits for none of them', async () => {
      const begun: ServerResponse[] = [];
      const server = createServer((_request, response) => void begun.push(response));
      const answered = watchAnswers(server);
      const socket = await open(Number(new URL(await listen(server)).port));
      socket.write(request.repeat(3));
      await until('the requests', async () => begun.length === 3);
      let isIdle = false;
      void answered().then(() => {
        isIdle = true;
      });
      begun[0]!.end();
      await once(begun[0]!, 'close');
      expect(isIdle).to.equal(false);
      socket.destroy();
      await until('nothing is open', async () => isIdle);
      server.close();
    });
  });
});
