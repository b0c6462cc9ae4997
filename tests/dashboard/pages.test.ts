/** Which addresses belong to the page, and the headers and encodings of its files. */
import { request } from 'node:http';
import { brotliDecompressSync } from 'node:zlib';
import { expect } from 'chai';
import { DOCS_POLICY } from '../../app/relay/http/routes/service.ts';
import { EDGE_CONFIG, startWorld, type World } from '../harness/edge/api.ts';
import { until } from '../harness/edge/until.ts';
import { addressOf, ROUTES } from './routes.ts';
import { BUILT_PAGE, buildPage, useSite } from './site.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const WALLETS = '/development-wallets.json';
/** Less than the age at which the page reads its data again. */
const FRESH_MS = 4_000;

interface Plain {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** A request with arbitrary headers, some of which `fetch` would not send. */
function ask(url: string, headers: Record<string, string> = {}): Promise<Plain> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
      response.on('error', reject);
    });
    sent.on('error', reject).end();
  });
}

describe('the addresses of the page', function () {
  this.timeout(600_000);
  const site = useSite();
  const get = (path: string, headers: Record<string, string> = { accept: BROWSER }) =>
    ask(site.baseUrl + path, headers);

  it('are as many as the views', () => {
    expect(ROUTES).to.include.members(['/', '/agents/$agentId', '/verify', '/admin', '/admin/disputes/$executionId']);
    expect(ROUTES).to.have.length.greaterThan(11);
  });

  for (const route of ROUTES) {
    it(`${route}: returns the page with its policy when it is opened directly`, async () => {
      const address = addressOf(route, site.visitor.agent('csv-analyst').agent_id);
      const { status, headers, body } = await get(address);
      expect([status, headers['content-type']]).to.deep.equal([200, 'text/html; charset=utf-8']);
      expect(headers['x-content-type-options']).to.equal('nosniff');
      expect(headers['referrer-policy']).to.equal('no-referrer');
      expect(headers['cross-origin-opener-policy']).to.equal('same-origin');
      expect(headers['cache-control']).to.equal('no-store');
      const policy = String(headers['content-security-policy']);
      expect(policy).to.match(/^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[^']+'; /);
      expect(policy).to.include("frame-ancestors 'none'").and.include("base-uri 'none'");
      expect(policy).to.not.match(/unsafe|\*(?!(;|$| ))[^:]/);
      const nodes = route === '/verify' ? 'https: http://127.0.0.1:* http://localhost:*' : site.visitor.demo.rpc_url;
      expect(policy).to.include(`connect-src 'self' ${nodes};`);
      // The page contains no inline script and no inline style.
      expect(body.toString()).to.not.match(/<script(?![^>]*\bsrc=)|<style|<[^>]*\s(on\w+|style)=/);
    });
  }

  it('return a document with its view rendered and the list of its requests', async () => {
    const bodyOf = async (path: string) => (await get(path)).body.toString();
    const asks = (html: string) =>
      [...html.matchAll(/<link rel="preload" as="fetch"[^>]* href="([^"]+)"/g)].map(([, path]) => path);
    const shared = ['/trpc/auth.session', '/trpc/config.get'];
    const front = await bodyOf('/');
    expect(front).to.include('Pick an agent');
    expect(asks(front)).to.deep.equal([...shared, '/v1/agents?limit=24&sort=best']);
    expect(asks(await bodyOf('/?q=csv'))).to.deep.equal(shared);

    const { agent_id, name } = site.visitor.agent('csv-analyst');
    const agent = await bodyOf(`/agents/${agent_id}`);
    expect(agent).to.match(/What it does<\/h2><div[^>]*><p[^>]*>You send a table as CSV text/);
    expect(agent)
      .to.include(`<title>TEST · ${name} · Agent Marketplace</title>`)
      .and.match(new RegExp(`<h1[^>]*>.*${name}</span></h1>`));
    const example = `/trpc/agents.example?input=${encodeURIComponent(JSON.stringify({ agent_id }))}`;
    expect(asks(agent)).to.deep.equal([...shared, `/v1/agents/${agent_id}`, example]);
    for (const path of ['/agents/__AGENT_NAME__', '/agents/%3Cscript%3E', '/agents/11111111111111111111111111111111']) {
      const unknown = await bodyOf(path);
      expect(asks(unknown), path).to.deep.equal(shared);
      expect(unknown, path)
        .to.include('<title>TEST · Agent Marketplace</title>')
        .and.not.match(/__[A-Z]|%3C/);
    }
  });

  it('preload the data of a document, so that the page makes each request only once', () =>
    site.visit({}, async (page) => {
      let asked: string[] = [];
      page.on('request', (request) => void asked.push(new URL(request.url()).pathname + new URL(request.url()).search));
      const { agent_id } = site.visitor.agent('csv-analyst');
      const views = [
        { path: '/', shown: page.getByRole('heading', { name: 'csv-analyst' }), data: '/v1/agents?limit=24&sort=best' },
        {
          path: `/agents/${agent_id}`,
          shown: page.getByRole('tab', { name: 'Overview' }),
          data: `/v1/agents/${agent_id}`,
        },
      ];
      for (const { path, shown, data } of views) {
        await until('the page loads before its data are old', async () => {
          asked = [];
          const begun = performance.now();
          await page.goto(path);
          await shown.waitFor();
          return performance.now() - begun < FRESH_MS;
        });
        for (const one of ['/trpc/auth.session', '/trpc/config.get', data])
          expect(
            asked.filter((other) => other === one),
            `${one} of ${path}`,
          ).to.have.length(1);
      }
    }));

  it('send documents in Brotli to clients that accept it, with the same content for others', async () => {
    const small = await get('/keys', { accept: BROWSER, 'accept-encoding': 'br' });
    const plain = await get('/keys');
    expect([small.headers['content-encoding'], plain.headers['content-encoding']]).to.deep.equal(['br', undefined]);
    const withoutNonce = (body: Buffer) => body.toString().replace(/style-nonce" content="[^"]+"/, '');
    expect(withoutNonce(brotliDecompressSync(small.body))).to.equal(withoutNonce(plain.body));
  });

  it('reload a tab of an earlier build whose files are gone', () =>
    site.visit({ expected: /dynamically imported module/ }, async (page) => {
      await page.goto(`/agents/${site.visitor.agent('csv-analyst').agent_id}`);
      const code = page.getByRole('tab', { name: 'Code' });
      await code.waitFor();
      await page.route('**/assets/code-*.js', (route) => route.fulfill({ status: 404, body: 'gone' }), { times: 1 });
      const reloaded = page.waitForEvent('domcontentloaded');
      await code.click();
      await reloaded;
      await page.getByRole('region', { name: 'TypeScript that calls csv-analyst' }).waitFor();
    }));

  it('send a new nonce with each answer', async () => {
    const nonceOf = ({ headers }: Plain) => /'nonce-([^']+)'/.exec(String(headers['content-security-policy']))?.[1];
    const [first, second] = [await get('/'), await get('/')];
    expect(nonceOf(first)).to.match(/^[A-Za-z0-9+/]{22}==$/);
    expect(nonceOf(first)).to.not.equal(nonceOf(second));
    expect(first.body.toString()).to.include(nonceOf(first)!);
  });

  it('return 404 for an address without a view: the page to a browser, JSON to programs and below the API', async () => {
    const unknown = ['/nothing', '/agents', '/agents/a/b', '/disputes/a/b', '/admin/disputes', '/keys/'];
    for (const path of unknown) {
      const { status, headers, body } = await get(path);
      expect([path, status, headers['content-type']]).to.deep.equal([path, 404, 'text/html; charset=utf-8']);
      expect(headers['content-security-policy']).to.match(/^default-src 'none'; script-src 'self'/);
      expect(body.toString()).to.include('This page does not exist');
    }
    await site.visit({}, async (page) => {
      await page.goto('/disputes/a/b');
      await page.getByText('The link may be wrong').waitFor();
      await page.getByRole('main').getByRole('link', { name: 'Browse agents' }).click();
      await page.getByRole('heading', { name: 'AI agents that you pay per call' }).waitFor();
    });
    const programs = ['/v1/nothing', '/assets/no.js', ...unknown];
    for (const path of programs) {
      const isApi = !unknown.includes(path);
      const { status, headers, body } = await get(path, { accept: isApi ? BROWSER : '*/*' });
      expect([path, status, headers['content-type']]).to.deep.equal([path, 404, 'application/json; charset=utf-8']);
      expect(JSON.parse(body.toString()).error.code).to.equal('not_found');
    }
  });

  it('return JSON at / for programs, and the API and its guide for everybody', async () => {
    for (const accept of ['*/*', 'application/json']) {
      const { status, body, headers } = await get('/', { accept });
      expect([status, headers.vary]).to.deep.equal([200, 'Accept']);
      expect(JSON.parse(body.toString())).to.have.keys('docs', 'openapi', 'idl');
    }
    const agents = await get('/v1/agents');
    expect([agents.status, agents.headers['content-type']]).to.deep.equal([200, 'application/json; charset=utf-8']);
    // Browsers get the guide within the page, readable before any script has loaded.
    const [guide, page] = [await get('/docs', { accept: '*/*' }), await get('/docs')];
    for (const { status, headers, body } of [guide, page]) {
      expect(status).to.equal(200);
      expect(headers.vary).to.include('Accept');
      expect(body.toString()).to.include('<h1>Docs</h1>').and.not.include('needs JavaScript');
    }
    expect(guide.headers['content-security-policy']).to.equal(DOCS_POLICY);
    expect(guide.body.toString()).to.not.include('id="root"');
    expect(page.body.toString())
      .to.include('<nav aria-label="Main"')
      .and.match(/id="root".*<div class="guide">/);
    expect((await ask(`${site.baseUrl}/trpc/config.get`)).status).to.equal(200);
  });

  it('serve files with fixed names that never change, in Brotli except compressed fonts', async () => {
    const html = (await get('/')).body.toString();
    const files = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map((match) => match[1]!);
    expect(files.filter((path) => path.endsWith('.js'))).to.have.length.greaterThan(0);
    for (const path of files) {
      const { status, headers } = await get(path, { 'accept-encoding': 'br' });
      expect([path, status]).to.deep.equal([path, 200]);
      expect(headers['cache-control']).to.equal('public, max-age=31536000, immutable');
      expect(headers['x-content-type-options']).to.equal('nosniff');
      const encoding = path.endsWith('.woff2') ? undefined : 'br';
      expect([path, headers['content-encoding']]).to.deep.equal([path, encoding]);
    }
    expect((await get('/assets/../index.html')).status).to.equal(404);
    expect((await get('/assets/%2e%2e/.sources')).status).to.equal(404);
  });

  it('offer the development wallets on this computer only', async () => {
    const { status, headers, body } = await ask(site.baseUrl + WALLETS);
    expect([status, headers['cache-control']]).to.deep.equal([200, 'no-store']);
    expect(headers['cross-origin-resource-policy']).to.equal('same-origin');
    const { wallets } = JSON.parse(body.toString()) as { wallets: { name: string }[] };
    expect(wallets.map(({ name }) => name)).to.include.members(['Demo caller 1', 'Demo admin']);
    const { port } = new URL(site.baseUrl);
    const strangers: Record<string, string>[] = [
      { host: `marketplace.example:${port}` },
      { host: `127.0.0.1.example:${port}` },
      { host: `192.168.1.2:${port}` },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ];
    for (const stranger of strangers) {
      expect((await ask(site.baseUrl + WALLETS, stranger)).status, JSON.stringify(stranger)).to.equal(404);
    }
    const page = await get('/', { accept: BROWSER, host: `marketplace.example:${port}` });
    expect(page.body.toString()).to.not.include(WALLETS);
  });
});

describe('the page of a network that is not local', () => {
  let world: World;
  before(async function () {
    this.timeout(0);
    buildPage();
    world = await startWorld({ config: EDGE_CONFIG, dashboardFolder: BUILT_PAGE });
  });
  after(() => world?.stop());

  it('is served without development wallets', async () => {
    const { status, body } = await ask(world.url, { accept: BROWSER });
    expect(status).to.equal(200);
    expect(body.toString()).to.include('<meta name="development-wallets" content="">').and.not.include(WALLETS);
    expect((await ask(world.url + WALLETS)).status).to.equal(404);
  });
});
