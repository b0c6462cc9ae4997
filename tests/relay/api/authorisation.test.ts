/** Access to procedures by session and page. Covers every procedure of the contract, including future ones. */
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import type { ProcedureEntry } from '../../../app/sdk/wire/fields.ts';
import { PROCEDURES } from '../../../app/sdk/wire/procedures.ts';
import { ADMIN } from '../../harness/edge/accounts.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { EPOCH } from '../../harness/edge/rows.ts';
import { postTo, sessionsOf } from './sessions.ts';

const ENTRIES = Object.entries(PROCEDURES) as [string, ProcedureEntry][];
const OF_PAGES = ['auth.signIn', 'auth.signOut'];

describe('access to procedures', () => {
  const tokens: Record<'stranger' | 'admin' | 'expired', string> = { stranger: '', admin: '', expired: '' };
  const cookies: Record<'stranger' | 'admin' | 'expired', string> = { stranger: '', admin: '', expired: '' };
  const world = useWorld();
  before(async () => {
    const { signIn, signInByCookie } = sessionsOf(() => world);
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
        const unknown = [bearer('x'), bearer((await world.addKey()).apiKey), from('session=x')];
        for (const headers of [{}, ...unknown, ...ended, from(`other=${cookies.stranger}`)])
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
        for (const headers of foreign)
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
