/** How many event streams a key, a wallet, and strangers can have, and how a stream is closed. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import type { Response as Answer } from 'express';
import { createStreams } from '../../../../app/relay/events/streams.ts';
import { USUAL_STREAMS } from '../../../../app/relay/events/streamWriter.ts';
import { useWorld } from '../../../harness/edge/api.ts';
import { listen } from '../../../harness/edge/listen.ts';
import { newAddress } from '../../../harness/edge/rows.ts';
import { until } from '../../../harness/edge/until.ts';
import { addCaller } from './streams.ts';

describe('limits of event streams', () => {
  const world = useWorld();
  let wallet: string;
  let key: string;
  let listing: string;
  /** Node ends the stream of a response that nothing refers to. */
  let opened: Response[] = [];
  beforeEach(async () => {
    ({ wallet, key, listing } = await addCaller(world));
    opened = [];
  });

  /** Opens the stream of the wallet of a key. */
  async function open(apiKey: string, { signal }: AbortController, headers = {}): Promise<Response> {
    const init = { headers: { authorization: `Bearer ${apiKey}`, ...headers }, signal };
    const response = await fetch(`${world.url}/v1/events`, init);
    opened.push(response);
    return response;
  }
  const openAs = async (caller: string, leaving: AbortController, headers = {}) =>
    open((await world.addKey({ wallet: caller })).apiKey, leaving, headers);
  const openCount = () => opened.filter(({ status }) => status === 200).length;

  it('refuses a stream beyond the limit of the key or of the wallet, until one is closed', async () => {
    const { apiKey: second } = await world.addKey({ wallet });
    const leaving = [1, 2, 3].map(() => new AbortController());
    const refusal = async (apiKey: string) => {
      const refused = await world.get('/v1/events', apiKey);
      expect([refused.outcome, refused.headers.get('retry-after')]).to.deep.equal(['429 rate_limited', '30']);
      return refused.json.error.message;
    };
    const most = (whose: string, count: number) =>
      `This ${whose} has ${count} open event streams, the maximum. Close one. Retry in 30 s.`;
    for (const one of leaving.slice(0, 2)) expect((await open(key, one)).status).to.equal(200);
    expect(await refusal(key)).to.equal(most('API key', 2));
    expect((await open(second, leaving[2]!)).status).to.equal(200);
    expect(await refusal(second)).to.equal(most('wallet', 3));
    leaving[0]!.abort();
    for (let status = 429; status !== 200; ) {
      const again = new AbortController();
      ({ status } = await open(key, again));
      again.abort();
    }
    expect(openCount()).to.equal(4);
    for (const one of leaving) one.abort();
  });

  it('refuses a stranger when strangers use all of their streams, but not a wallet that has paid', async () => {
    const leaving = new AbortController();
    for (const stranger of [1, 2, 3, 4].map(() => newAddress()))
      expect((await openAs(stranger, leaving)).status).to.equal(200);
    const refused = await openAs(wallet, leaving);
    expect(refused.status).to.equal(429);
    const { error } = (await refused.json()) as { error: { message: string } };
    expect(error.message).to.equal(
      'This service has too many open event streams of wallets that have not paid for a call yet. Retry in 30 s.',
    );
    await world.addRecord({ caller: wallet, listing });
    expect((await openAs(wallet, leaving)).status).to.equal(200);
    expect(openCount()).to.equal(5);
    leaving.abort();
  });

  it('takes a stream from the wallet with the most when none is left, until all have equally many', async () => {
    const leaving = new AbortController();
    const openOf = (caller?: string) => openAs(caller!, leaving);
    const [most, two, three, four, five] = [1, 2, 3, 4, 5].map(() => newAddress());
    const held = [await openOf(most), await openOf(most), await openOf(most)];
    const others = [await openOf(two), await openOf(two)];
    await held[0]!.text();
    others.push(await openOf(three));
    await held[1]!.text();
    others.push(await openOf(four));
    await others[0]!.text();
    expect(opened.map(({ status }) => status)).to.deep.equal(Array.from({ length: 7 }, () => 200));
    // Each has one.
    expect((await openOf(five)).status).to.equal(429);
    leaving.abort();
  });

  it('takes a stream of strangers from the network with the most, until all have equally many', async () => {
    const { config } = world.deps;
    world.deps.config = { ...config, trustProxy: 1 };
    const leaving = new AbortController();
    const openFrom = (network: string) => openAs(newAddress(), leaving, { 'x-forwarded-for': network });
    try {
      const held = [];
      for (let wallet = 0; wallet < 4; wallet += 1) held.push(await openFrom('203.0.113.7'));
      expect((await openFrom('203.0.113.7')).status).to.equal(429);
      for (let wallet = 0; wallet < 2; wallet += 1) {
        expect((await openFrom('198.51.100.9')).status).to.equal(200);
        await held[wallet]!.text();
      }
      for (const network of ['203.0.113.7', '198.51.100.9']) expect((await openFrom(network)).status).to.equal(429);
      expect(openCount()).to.equal(6);
    } finally {
      world.deps.config = config;
      leaving.abort();
    }
  });

  it('closes the connection of a reader that takes nothing when another needs its place, and writes nothing more', async () => {
    const { ledger, views, payers } = world.deps;
    const streams = createStreams(
      { ledger, views, payers, feed: world.feed },
      { ...USUAL_STREAMS, untakenBytes: 2 ** 30, heartbeatMs: 5, takeMs: 100, ofStrangers: 2 },
    );
    const responses: ServerResponse[] = [];
    const server = createServer(async (_request, response) => {
      const stream = await streams.ofWallet({ wallet, network: 'a network' }, 'evt_0');
      // More than a connection holds unread.
      response.write(Buffer.alloc(16 * 1024 * 1024));
      stream.write(response as Answer);
      responses.push(response);
    });
    const port = Number(new URL(await listen(server)).port);
    const sockets = [1, 2].map(() => connect(port, '127.0.0.1'));
    for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n');
    await until('both streams are open', async () => responses.length === 2);
    const [first] = responses;
    const closed = once(first!, 'close');
    await streams.ofWallet({ wallet: newAddress(), network: 'a network' }, '');
    await closed;
    expect(first!.writableEnded).to.equal(true);
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
});
