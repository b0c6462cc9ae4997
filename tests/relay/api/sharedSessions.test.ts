/** Sessions of several relays on one ledger: their use, their end, and how many there are of strangers. */
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { chunks } from '../../../app/process/chunks.ts';
import { createSessions, type Sessions } from '../../../app/relay/access/sessions.ts';
import { insertSession } from '../../../app/relay/ledger/sessions.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { sessionsOf } from './sessions.ts';

describe('sessions of two relays on one ledger', () => {
  const wallet = Keypair.generate();
  const address = wallet.publicKey.toBase58();
  const world = useWorld();
  beforeEach(async () => {
    await world.ledger.deleteFrom('sessions').execute();
    await world.ledger.deleteFrom('used_challenges').execute();
  });
  const { sign } = sessionsOf(() => world);
  const stored = () => world.ledger.selectFrom('sessions').selectAll().execute();

  /** The session of another wallet. */
  const row = (digest: string, network: string, is_known: bigint, expiresMs: number) => {
    const times = { expires_ms: BigInt(expiresMs), ends_ms: BigInt(world.state.nowMs + 900_000) };
    return { digest, kind: 'token' as const, wallet: digest, network, is_known, ...times };
  };
  async function insert(rows: ReturnType<typeof row>[]): Promise<void> {
    for (const part of chunks(rows, 1_000)) await world.ledger.insertInto('sessions').values(part).execute();
  }

  /** Another relay, or this one after a restart: it has no session in memory. */
  const neighbour = () => createSessions(world.deps);
  async function answerTo(sessions: Sessions) {
    const { message } = await sessions.challenge(address, world.url);
    return { wallet: address, message, signature: sign(wallet, message) };
  }
  const refused = (promise: Promise<unknown>) =>
    promise.then(
      () => expect.fail('it was taken'),
      (error) => expect(error).to.include({ code: 'unauthorized' }),
    );

  it('accept a challenge of one relay at the other, once', async () => {
    const answer = await answerTo(world.deps.sessions as Sessions);
    const { token } = await neighbour().verify(answer);
    expect(await world.deps.sessions.ofToken(token)).to.include({ wallet: address });
    await refused((world.deps.sessions as Sessions).verify(answer));
    await refused(neighbour().signIn(answer));
  });

  it('end at both relays at once', async () => {
    const { cookie } = await neighbour().signIn(await answerTo(neighbour()));
    expect(await world.deps.sessions.use(cookie)).to.include({ wallet: address });
    expect(await neighbour().end(cookie)).to.equal(true);
    expect(await world.deps.sessions.use(cookie)).to.equal(null);
    expect(await neighbour().end(cookie)).to.equal(false);
  });

  it('are stored without token and cookie', async () => {
    const sessions = neighbour();
    const { token } = await sessions.verify(await answerTo(sessions));
    const { cookie } = await sessions.signIn(await answerTo(sessions));
    const text = (await stored()).map(({ digest, wallet }) => `${digest} ${wallet}`).join();
    expect(text).not.to.include(token).and.not.to.include(cookie);
  });

  it('record their use once a minute at most', async () => {
    const sessions = neighbour();
    const { cookie } = await sessions.signIn(await answerTo(sessions));
    const expires = async () => (await stored())[0]!.expires_ms;
    const before = await expires();
    world.state.nowMs += 59_000;
    await sessions.use(cookie);
    expect(await expires()).to.equal(before);
    world.state.nowMs += 1_000;
    await sessions.use(cookie);
    expect(await expires()).to.equal(before + 60_000n);
  });

  it('of strangers evict each other, first those of the address with the most, and never evict others', async () => {
    const strangers = 10_000;
    const future = world.state.nowMs + 600_000;
    // They all expire later than the sessions of the test.
    const of = (n: number) => (n < 6_000 ? 'most' : 'fewer');
    const flood = Array.from({ length: strangers - 1 }, (_, n) => row(`stranger ${n}`, of(n), 0n, future));
    await insert([...flood, row('known', 'most', 1n, future)]);
    const first = await neighbour().verify(await answerTo(neighbour()), 'single');
    expect(await stored()).to.have.length(strangers + 1);
    const second = await neighbour().verify(await answerTo(neighbour()), 'single');
    const left = await stored();
    expect(left).to.have.length(strangers + 1);
    const countOf = (network: string) => left.filter((one) => one.network === network && one.is_known === 0n).length;
    expect([countOf('most'), countOf('fewer'), countOf('single')]).to.deep.equal([5_999, 3_999, 2]);
    expect(left.filter((one) => one.digest === 'known')).to.have.length(1);
    for (const { token } of [first, second]) expect(await neighbour().ofToken(token)).to.include({ wallet: address });
  });

  it('of a newcomer stay, however many addresses sign in once, or a few times each', async () => {
    const now = world.state.nowMs;
    const flood = Array.from({ length: 10_000 }, (_, n) => {
      // Six times from the first 50 addresses, then once from each.
      const network = n < 300 ? `network ${n % 50}` : `network ${n}`;
      return row(`stranger ${n}`, network, 0n, now + 100_000 + n);
    });
    await insert(flood);
    const mine = [];
    for (let device = 0; device < 2; device += 1)
      mine.push(await neighbour().verify(await answerTo(neighbour()), 'a newcomer'));
    for (let n = 0; n < 60; n += 1)
      await insertSession(world.ledger, row(`late ${n}`, `late ${n}`, 0n, now + 900_000), now);
    for (const { token } of mine) expect(await neighbour().ofToken(token)).to.include({ wallet: address });
    const left = new Set((await stored()).map(({ digest }) => digest));
    expect(left.size).to.equal(10_000);
    // The addresses with six lose one each, then the oldest sessions of all go.
    const gone = flood.filter(({ digest }) => !left.has(digest)).map(({ digest }) => digest);
    expect(gone).to.deep.equal(flood.slice(0, 62).map(({ digest }) => digest));
  });

  it('of wallets that have paid, of creators and of the admin do not count as strangers', async () => {
    const signIn = async () => {
      await world.ledger.deleteFrom('sessions').execute();
      await neighbour().verify(await answerTo(neighbour()), 'a network');
      return Number((await stored())[0]!.is_known);
    };
    const caller = address;
    expect(await signIn()).to.equal(0);
    const listing = await world.addListing();
    await world.addRecord({ caller, listing, status: 'refunded', result_hash: null });
    expect(await signIn()).to.equal(0);
    const own = await world.addListing({ creator: address });
    expect(await signIn()).to.equal(1);
    await world.index.deleteFrom('listings').where('listing', '=', own).execute();
    expect(await signIn()).to.equal(0);
    await world.addConfig(address, []);
    expect(await signIn()).to.equal(1);
    await world.index.deleteFrom('configs').execute();
    expect(await signIn()).to.equal(0);
    await world.addRecord({ caller, listing });
    expect(await signIn()).to.equal(1);
  });

  it('are limited to twenty per wallet; the first to expire is replaced, and expired ones are deleted', async () => {
    const sessions = neighbour();
    const { cookie: first } = await sessions.signIn(await answerTo(sessions));
    for (let n = 0; n < 20; n += 1) {
      world.state.nowMs += 1;
      await sessions.signIn(await answerTo(sessions));
    }
    expect((await stored()).length).to.equal(20);
    expect(await sessions.peek(first)).to.equal(null);
    world.state.nowMs += 16 * 60_000;
    await sessions.signIn(await answerTo(sessions));
    expect((await stored()).length).to.equal(1);
    expect(await world.ledger.selectFrom('used_challenges').select('digest').execute()).to.have.length(1);
  });
});
