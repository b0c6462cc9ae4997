/** GET / and GET /idl.json: the entry points to all other addresses. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { useWorld } from '../../harness/edge/api.ts';

const IDL = join(import.meta.dirname, '..', '..', '..', 'app', 'sdk', 'program', 'idl', 'marketplace.json');
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

describe('GET /', () => {
  const world = useWorld();

  it('lists every address for programs, and every address answers', async () => {
    for (const accept of ['*/*', 'application/json']) {
      const { status, headers, json } = await world.call('/', { headers: { accept } });
      expect(status).to.equal(200);
      expect(headers.get('vary')).to.equal('Accept');
      const { url } = world;
      expect(json).to.deep.equal({ docs: `${url}/docs`, openapi: `${url}/openapi.json`, idl: `${url}/idl.json` });
    }
    const { json } = await world.get('/');
    for (const address of Object.values<string>(json)) expect((await fetch(address)).status).to.equal(200);
  });

  it('may be cached for a while, and is the same for a browser when there is no page', async () => {
    const [json, browser] = [await world.get('/'), await world.call('/', { headers: { accept: BROWSER } })];
    expect(browser.json).to.deep.equal(json.json);
    const again = await world.call('/', { headers: { 'if-none-match': json.headers.get('etag')! } });
    expect([again.status, again.text]).to.deep.equal([304, '']);
  });
});

describe('GET /idl.json', () => {
  const world = useWorld();

  it('returns the IDL of this build byte for byte', async () => {
    const { status, headers, text } = await world.get('/idl.json');
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(headers.get('cache-control')).to.equal('public, max-age=300');
    expect(text).to.equal(readFileSync(IDL, 'utf8'));
  });

  it('is not sent again to a client that has it', async () => {
    const etag = (await world.get('/idl.json')).headers.get('etag')!;
    const { status, text } = await world.call('/idl.json', { headers: { 'if-none-match': etag } });
    expect([status, text]).to.deep.equal([304, '']);
  });
});
