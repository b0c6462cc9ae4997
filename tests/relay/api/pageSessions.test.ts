/**
 * Sessions of pages: the signed message, the cookie, its lifetime, and the pages that can use it. And access to procedures
 * by session and page.
 */
import { parseSignInMessageText } from '@solana/wallet-standard-util';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { networkOf } from '../../../app/relay/access/clientAddress.ts';
import type { ProcedureEntry } from '../../../app/sdk/wire/fields.ts';
import { PROCEDURES } from '../../../app/sdk/wire/procedures.ts';
import { ADMIN } from '../../harness/edge/accounts.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { EPOCH, newAddress } from '../../harness/edge/rows.ts';
import { idsOf, postTo, refusedAs, sessionsOf } from './sessions.ts';

const MINUTE_MS = 60_000;
const PUBLIC_URL = 'https://market.example';
const ENTRIES = Object.entries(PROCEDURES) as [string, ProcedureEntry][];
const OF_PAGES = ['auth.signIn', 'auth.signOut'];

describe("a page's session", () => {
  const world = useWorld();
  afterEach(() => {
    world.state.nowMs = EPOCH * 1000;
  });

  const { anonymous, sign, answerOf, signIn, signInByCookie } = sessionsOf(() => world);
  const sessionBy = async (cookie: string) =>
    (await world.call('/trpc/auth.session', { headers: { cookie } })).json.result.data;
  const use = (cookie: string) => world.call('/trpc/keys.list', { headers: { cookie } });
  const soon = (ms: number) => new Date(world.state.nowMs + ms).toISOString();

  describe('the message', () => {
    it('is a Sign In With Solana message with exactly the returned fields', async () => {
      const wallet = Keypair.generate().publicKey.toBase58();
      const { message, sign_in, expires_at } = await anonymous().call('auth.challenge', { wallet });
      const { nonce, ...fields } = sign_in;
      expect(fields).to.deep.equal({
        domain: new URL(world.url).host,
        address: wallet,
        statement: 'Sign in to manage API keys, listings and disputes. This is not a transaction and spends nothing.',
        uri: world.url,
        version: '1',
        chainId: 'localnet',
        issuedAt: soon(0),
        expirationTime: soon(5 * MINUTE_MS),
      });
      expect(nonce).to.match(/^[0-9a-z]{64}$/);
      expect(expires_at).to.equal(fields.expirationTime);
      const unused = { notBefore: undefined, requestId: undefined, resources: undefined };
      expect(parseSignInMessageText(message)).to.deep.equal({ ...sign_in, ...unused });
    });

    it('names the local address under which the page was opened, and no other Host', async () => {
      const wallet = Keypair.generate().publicKey.toBase58();
      const asked = async (host: string) => {
        const answer = await postTo(world, host, '/trpc/auth.challenge', { wallet });
        return answer.json.result.data.sign_in.domain;
      };
      expect(await asked(`localhost:${world.port}`)).to.equal(`localhost:${world.port}`);
      expect(await asked('evil.example')).to.equal(new URL(world.url).host);
    });

    it('rejects: a message with a changed field, a second use, a late use, and another wallet', async () => {
      const wallet = Keypair.generate();
      const address = wallet.publicKey.toBase58();
      const other = Keypair.generate();
      const refuse = async (message: string, signer = wallet, of = wallet) => {
        const answer = { wallet: of.publicKey.toBase58(), message, signature: sign(signer, message) };
        expect(await refusedAs(anonymous().call('auth.verify', answer))).to.equal('401 unauthorized');
      };
      const { message } = await anonymous().call('auth.challenge', { wallet: address });
      for (const [part, changed] of [
        ['127.0.0.1', '127.0.0.2'],
        ['spends nothing', 'spends all'],
        ['Chain ID: localnet', 'Chain ID: mainnet'],
        ['Version: 1', 'Version: 2'],
        ['Issued At: 2', 'Issued At: 1'],
        ['Expiration Time: 2', 'Expiration Time: 9'],
        [message.slice(-50), `${message.slice(-50)}\n`],
      ] as const) {
        expect(message).to.include(part);
        await refuse(message.replace(part, changed));
      }
      await refuse('a.example wants you to sign in with your Solana account:\n');
      await refuse(message, other);
      await refuse(message, other, other);
      await refuse(message, wallet, other);
      await anonymous().call('auth.verify', { wallet: address, message, signature: sign(wallet, message) });
      await refuse(message);
      const late = (await anonymous().call('auth.challenge', { wallet: address })).message;
      world.state.nowMs += 5 * MINUTE_MS;
      await refuse(late);
    });
  });

  describe('the cookie', () => {
    it('is limited to this host, hidden from scripts, and its value appears nowhere else', async () => {
      const keypair = Keypair.generate();
      const wallet = keypair.publicKey.toBase58();
      const { answer, setCookie, cookie } = await signInByCookie(keypair);
      const session = { wallet, is_admin: false, expires_at: soon(15 * MINUTE_MS) };
      expect(answer.json.result.data).to.deep.equal(session);
      // The page also learns if the wallet has ever listed an agent.
      expect(await sessionBy(cookie)).to.include({ ...session, has_listings: false });
      await world.addListing({ creator: wallet, status: 'delisted' });
      expect(await sessionBy(cookie)).to.include({ ...session, has_listings: true });
      const [pair, ...flags] = setCookie.split('; ');
      expect(pair).to.match(/^session=[\w-]{43}$/);
      expect(flags).to.have.members(['Max-Age=43200', 'Path=/', 'HttpOnly', 'SameSite=Strict']);
      expect(answer.text).to.not.include(cookie.slice('session='.length));
      for (const [name] of answer.headers) expect(name).to.not.match(/^access-control/);
    });

    it('has the __Host- prefix and Secure when the service uses https', async () => {
      const { baseUrl } = world.deps;
      world.deps.baseUrl = () => PUBLIC_URL;
      const { setCookie, cookie } = await signInByCookie(Keypair.generate());
      expect(setCookie.split('; ')).to.include.members(['Secure', 'HttpOnly', 'SameSite=Strict', 'Path=/']);
      expect(cookie).to.match(/^__Host-session=[\w-]{43}$/);
      expect((await use(cookie)).status).to.equal(200);
      // A neighbouring host could plant a cookie without the prefix.
      expect((await use(cookie.replace('__Host-', ''))).status).to.equal(401);
      world.deps.baseUrl = baseUrl;
    });

    it('lasts 15 minutes from its last use, which a request for its state is not, and 12 hours at most', async () => {
      const { cookie: unused } = await signInByCookie(Keypair.generate());
      world.state.nowMs += 14 * MINUTE_MS;
      expect((await sessionBy(unused)).expires_at).to.equal(soon(MINUTE_MS));
      world.state.nowMs += MINUTE_MS;
      expect((await use(unused)).status).to.equal(401);
      const begunMs = world.state.nowMs;
      const { cookie } = await signInByCookie(Keypair.generate());
      for (let used = 14; used < 12 * 60; used += 14) {
        world.state.nowMs = begunMs + used * MINUTE_MS;
        expect((await use(cookie)).status, `after ${used} minutes`).to.equal(200);
      }
      expect((await sessionBy(cookie)).expires_at).to.equal(new Date(begunMs + 12 * 60 * MINUTE_MS).toISOString());
      world.state.nowMs = begunMs + 12 * 60 * MINUTE_MS;
      expect((await use(cookie)).status).to.equal(401);
      const nobody = { wallet: null, is_admin: false, expires_at: null, usdc_account: null, has_listings: false };
      expect(await sessionBy(cookie)).to.deep.equal(nobody);
    });

    it('ends with auth.signOut, which also deletes it in the browser, unless it ends a token sent with it', async () => {
      const wallet = Keypair.generate();
      const { cookie } = await signInByCookie(wallet);
      const { token } = await signIn(wallet);
      // A token needs no page.
      const end = () => world.post('/trpc/auth.signOut', '', { key: token, headers: { cookie } });
      for (const signed_out of [true, false]) expect((await end()).json.result.data).to.deep.equal({ signed_out });
      expect((await world.get('/trpc/keys.list', token)).status).to.equal(401);
      expect((await use(cookie)).status).to.equal(200);
      const signOut = () => world.post('/trpc/auth.signOut', '', { headers: { cookie, origin: world.url } });
      const first = await signOut();
      expect(first.json.result.data).to.deep.equal({ signed_out: true });
      expect(first.headers.get('set-cookie')).to.match(/^session=; Max-Age=0;/);
      expect((await use(cookie)).status).to.equal(401);
      expect((await signOut()).json.result.data).to.deep.equal({ signed_out: false });
    });

    it('is ignored next to a token, and neither is accepted in place of the other', async () => {
      const [one, other] = [Keypair.generate(), Keypair.generate()];
      const { cookie } = await signInByCookie(one);
      const { token } = await signIn(other);
      const ask = async (authorization: string) =>
        (await world.call('/trpc/auth.session', { headers: { cookie, authorization } })).json.result.data.wallet;
      expect(await ask(`Bearer ${token}`)).to.equal(other.publicKey.toBase58());
      expect(await ask('Bearer x')).to.equal(null);
      expect(await sessionBy(`session=${token}`)).to.deep.include({ wallet: null });
      expect((await world.get('/trpc/keys.list', cookie.slice('session='.length))).status).to.equal(401);
    });

    it("recognises the admin's session from the index when the node does not answer", async () => {
      const { answer, cookie } = await signInByCookie(ADMIN);
      expect(answer.json.result.data.is_admin).to.equal(true);
      await world.addConfig(ADMIN.publicKey.toBase58(), [ADMIN.publicKey.toBase58()]);
      world.state.chainAnswers = false;
      world.state.nowMs += 2_000;
      expect(await sessionBy(cookie)).to.deep.include({ is_admin: true });
      const { cookie: others } = await signInByCookie(Keypair.generate());
      expect(await sessionBy(others)).to.deep.include({ is_admin: false });
      world.state.chainAnswers = true;
      world.state.nowMs += 2_000;
    });
  });

  it('is counted for the address that the trusted proxy reports', async () => {
    const { config } = world.deps;
    world.deps.config = { ...config, trustProxy: 1 };
    const answer = await answerOf(Keypair.generate());
    const from = '2001:db8:1:2::9';
    await world.post('/trpc/auth.verify', answer, { headers: { 'x-forwarded-for': from } });
    world.deps.config = config;
    const rows = world.ledger.selectFrom('sessions').select('network').where('wallet', '=', answer.wallet);
    expect(await rows.execute()).to.deep.equal([{ network: networkOf(from) }]);
  });

  it("reads the wallet's own executions at /v1, by cookie and by token, and never pays", async () => {
    const wallet = Keypair.generate();
    const listing = await world.addListing();
    const row = { wallet: wallet.publicKey.toBase58(), listing, settled_at: BigInt(EPOCH + 3) };
    const own = await world.addJournal({ ...row, state: 'settled' });
    await world.addResult(own, 'Rome');
    const others = await world.addJournal({ ...row, wallet: newAddress(), state: 'settled' });
    const { cookie } = await signInByCookie(wallet);
    const { token } = await signIn(wallet);
    for (const headers of [{ cookie }, { authorization: `Bearer ${token}` }] as Record<string, string>[]) {
      const list = await world.call('/v1/executions', { headers });
      expect(idsOf(list.json.executions)).to.deep.equal([own]);
      for (const [name] of list.headers) expect(name).to.not.match(/^access-control/);
      expect(list.headers.get('cache-control')).to.equal('no-store');
      const { json } = await world.call(`/v1/executions/${own}`, { headers });
      expect(json).to.include({ status: 'completed', result: 'Rome' });
      const refused = await world.call(`/v1/executions/${others}`, { headers });
      expect(refused.outcome).to.equal('404 execution_not_found');
    }
    const headers = { cookie, origin: world.url };
    const paid = await world.post(`/v1/agents/${listing}/execute`, { task: 'x' }, { headers });
    expect(paid.outcome).to.equal('401 unauthorized');
    expect(world.state.executed).to.deep.equal([]);
  });

  // Covers every procedure of the contract, including future ones.
  describe('access to procedures', () => {
    const tokens: Record<'stranger' | 'admin' | 'expired', string> = { stranger: '', admin: '', expired: '' };
    const cookies: Record<'stranger' | 'admin' | 'expired', string> = { stranger: '', admin: '', expired: '' };
    let apiKey: string;
    before(async () => {
      ({ apiKey } = await world.addKey());
      world.state.nowMs = (EPOCH - 15 * 60) * 1000;
      tokens.expired = (await signIn(ADMIN)).token;
      cookies.expired = (await signInByCookie(ADMIN)).cookie;
      world.state.nowMs = EPOCH * 1000;
      const stranger = Keypair.generate();
      tokens.stranger = (await signIn(stranger)).token;
      tokens.admin = (await signIn(ADMIN)).token;
      cookies.stranger = (await signInByCookie(stranger)).cookie;
      cookies.admin = (await signInByCookie(ADMIN)).cookie;
    });

    /** Returns status and code. The input is empty, so that no call changes anything. */
    async function call([name, { kind }]: [string, ProcedureEntry], headers: Record<string, string>) {
      const path = `/trpc/${name}`;
      const answer = await (kind === 'query' ? world.call(path, { headers }) : world.post(path, {}, { headers }));
      return [answer.status, answer.json.error?.data.code ?? 'ok'];
    }

    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    /** The headers of a request from a page of the service. */
    const from = (cookie: string) => ({ cookie, origin: world.url, 'sec-fetch-site': 'same-origin' });
    const isTurnedAway = ([status]: unknown[]) => status === 401 || status === 403;

    for (const entry of ENTRIES) {
      const [name, { kind, access }] = entry;
      // Procedures for pages check the origin, whatever else is sent.
      const ownPage = (): Record<string, string> => (OF_PAGES.includes(name) ? { origin: world.url } : {});
      const who = access === 'admin' ? 'admin' : 'stranger';
      describe(`${name} (${access})`, () => {
        it('turns away sessions that are missing, unknown, ended or of another wallet, if it needs one', async () => {
          if (access === 'public') {
            expect(isTurnedAway(await call(entry, ownPage()))).to.equal(false);
            return;
          }
          const ended = [bearer(tokens.expired), from(cookies.expired)];
          const unknown = [bearer(apiKey), from('session=x'), from(`other=${cookies.stranger}`)];
          for (const headers of [{}, ...unknown, ...ended])
            expect(await call(entry, headers)).to.deep.equal([401, 'unauthorized']);
          if (access !== 'admin') return;
          for (const headers of [bearer(tokens.stranger), from(cookies.stranger)])
            expect(await call(entry, headers)).to.deep.equal([403, 'not_admin']);
        });

        it('accepts the right session as token and as cookie', async () => {
          // Signing out would end the session that the other tests use.
          if (name === 'auth.signOut') return;
          expect(isTurnedAway(await call(entry, { ...bearer(tokens[who]), ...ownPage() }))).to.equal(false);
          expect(isTurnedAway(await call(entry, from(cookies[who])))).to.equal(false);
        });

        it('takes no cookie from a page of another origin, and a token from any', async () => {
          const cookie = cookies[who];
          const read = await world.call(`/trpc/${name}`, { headers: { cookie, origin: 'https://evil.example' } });
          for (const [header] of read.headers) expect(header).to.not.match(/^access-control/);
          if (kind === 'query') return;
          const foreign: Record<string, string>[] = [
            { cookie },
            { cookie, origin: 'https://evil.example' },
            { cookie, origin: 'null' },
            { cookie, origin: `http://127.0.0.1:${world.port + 1}` },
            { cookie, origin: `https://127.0.0.1:${world.port}` },
            { cookie, origin: world.url, 'sec-fetch-site': 'cross-site' },
          ];
          // All of them for one procedure: the rule is the same for all.
          for (const headers of name === 'keys.update' ? foreign : foreign.slice(0, 2))
            expect(await call(entry, headers), JSON.stringify(headers)).to.deep.equal([403, 'foreign_origin']);
          if (OF_PAGES.includes(name)) return;
          const headers = { ...bearer(tokens[who]), origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
          expect(isTurnedAway(await call(entry, headers))).to.equal(false);
        });
      });
    }

    for (const name of OF_PAGES) {
      it(`rejects: ${name} from a foreign page or a program, without any cookie`, async () => {
        const entry = [name, PROCEDURES[name as 'auth.signIn']] as [string, ProcedureEntry];
        const sent: Record<string, string>[] = [{}, { origin: 'https://evil.example' }];
        // The holder of a token can end its session.
        if (name !== 'auth.signOut') sent.push(bearer(tokens.stranger));
        for (const headers of sent) expect(await call(entry, headers)).to.deep.equal([403, 'foreign_origin']);
      });
    }

    it('accepts a page under another name of this computer, and none under another name', async () => {
      for (const [host, expected] of [
        [`localhost:${world.port}`, [400, 'invalid_request']],
        ['evil.example', [403, 'foreign_origin']],
      ] as const) {
        const headers = { cookie: cookies.stranger, origin: `http://${host}` };
        const { status, json } = await postTo(world, host, '/trpc/keys.update', {}, headers);
        expect([status, json.error.data.code], host).to.deep.equal(expected);
      }
    });
  });
});
