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
  const ownPage = (name: string): Record<string, string> => (OF_PAGES.includes(name) ? { origin: world.url } : {});
  const isTurnedAway = ([status]: unknown[]) => status === 401 || status === 403;

  it('is tested for procedures of every access kind', () => {
    const kinds = new Set(ENTRIES.map(([, { kind, access }]) => `${access} ${kind}`));
    expect([...kinds].sort()).to.deep.equal(
      ['admin mutation', 'admin query', 'public mutation', 'public query', 'session mutation', 'session query'].sort(),
    );
  });

  for (const entry of ENTRIES) {
    const [name, { kind, access }] = entry;
    describe(`${name} (${access})`, () => {
      if (access === 'public') {
        it('is open to every client', async () => {
          expect(isTurnedAway(await call(entry, ownPage(name)))).to.equal(false);
        });
      } else {
        it('rejects: a missing, unknown or ended session', async () => {
          const sent = [
            {},
            bearer('x'),
            bearer(tokens.expired),
            bearer((await world.addKey()).apiKey),
            from('session=x'),
            from(cookies.expired),
            from(`other=${cookies.stranger}`),
          ];
          for (const headers of sent) expect(await call(entry, headers)).to.deep.equal([401, 'unauthorized']);
        });
      }

      if (access === 'admin') {
        it("rejects: every wallet but the admin's", async () => {
          for (const headers of [bearer(tokens.stranger), from(cookies.stranger)]) {
            expect(await call(entry, headers)).to.deep.equal([403, 'not_admin']);
          }
        });
      }
      it('accepts the right session as token and as cookie', async () => {
        const who = access === 'admin' ? 'admin' : 'stranger';
        // Signing out would end the session that the other tests use.
        if (name === 'auth.signOut') return;
        // Procedures for pages check the origin, whatever else is sent.
        const byToken = { ...bearer(tokens[who]), ...ownPage(name) };
        expect(isTurnedAway(await call(entry, byToken))).to.equal(false);
        expect(isTurnedAway(await call(entry, from(cookies[who])))).to.equal(false);
      });

      if (kind === 'mutation') {
        it('rejects: a cookie from a page of another or unknown origin', async () => {
          const cookie = access === 'admin' ? cookies.admin : cookies.stranger;
          const foreign: Record<string, string>[] = [
            { cookie },
            { cookie, origin: 'https://evil.example' },
            { cookie, origin: 'null' },
            { cookie, origin: `http://127.0.0.1:${world.port + 1}` },
            { cookie, origin: `https://127.0.0.1:${world.port}` },
            { cookie, origin: world.url, 'sec-fetch-site': 'cross-site' },
          ];
          for (const headers of foreign) {
            expect(await call(entry, headers), JSON.stringify(headers)).to.deep.equal([403, 'foreign_origin']);
          }
        });

        it('accepts a program with a token from any origin', async () => {
          if (OF_PAGES.includes(name)) return;
          const token = access === 'admin' ? tokens.admin : tokens.stranger;
          const headers = { ...bearer(token), origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
          expect(isTurnedAway(await call(entry, headers))).to.equal(false);
        });
      }

      it('does not let another origin read it with a cookie', async () => {
        const headers = { cookie: cookies.admin, origin: 'https://evil.example' };
        const answer = await world.call(`/trpc/${name}`, { headers });
        for (const [header] of answer.headers) expect(header).to.not.match(/^access-control/);
      });
    });
  }

  for (const name of OF_PAGES) {
    it(`rejects: ${name} from a foreign page or a program, without any cookie`, async () => {
      const entry = [name, PROCEDURES[name as 'auth.signIn']] as [string, ProcedureEntry];
      const sent: Record<string, string>[] = [{}, { origin: 'https://evil.example' }];
      // The holder of a token can end its session.
      if (name !== 'auth.signOut') sent.push(bearer(tokens.stranger));
      for (const headers of sent) {
        expect(await call(entry, headers)).to.deep.equal([403, 'foreign_origin']);
      }
    });
  }

  it('accepts a page that was opened under another name of this computer', async () => {
    const host = `localhost:${world.port}`;
    const headers = { cookie: cookies.stranger, origin: `http://${host}` };
    const { status, json } = await postTo(world, host, '/trpc/keys.update', {}, headers);
    expect([status, json.error.data.code]).to.deep.equal([400, 'invalid_request']);
  });

  it('rejects: a page under a name that does not belong to this computer', async () => {
    const headers = { cookie: cookies.stranger, origin: 'http://evil.example' };
    const { status, json } = await postTo(world, 'evil.example', '/trpc/keys.update', {}, headers);
    expect([status, json.error.data.code]).to.deep.equal([403, 'foreign_origin']);
  });
});
