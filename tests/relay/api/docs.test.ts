/** /docs: self-contained HTML that agrees with the tables of routes and errors, and names only things that exist. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { listingCommands } from '../../../app/cli/commands/listing.ts';
import { createProgram } from '../../../app/cli/run.ts';
import { RESULT_HASH_OFFSET } from '../../../app/relay/http/docs/page.ts';
import { KEY_VARIABLE, LANGUAGES } from '../../../app/relay/http/docs/snippets.ts';
import type { OpenApi } from '../../../app/relay/http/openapi/document.ts';
import { AGENT_ID } from '../../../app/relay/http/routes/samples.ts';
import { DOCS_POLICY } from '../../../app/relay/http/routes/service.ts';
import { ROUTE_IDS } from '../../../app/relay/http/routes/table.ts';
import { ROUTES as CALLED } from '../../../app/sdk/client/generated.ts';
import { decodeAccount } from '../../../app/sdk/program/program.ts';
import { ERROR_CODES } from '../../../app/sdk/wire/errorCodes.ts';
import { RULES } from '../../../app/sdk/wire/schemas/rules.ts';
import { addressOf, ROUTES } from '../../dashboard/routes.ts';
import { blocksOf } from '../../docs/markdown.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { sessionsOf } from './sessions.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const IDL = join(ROOT, 'app', 'sdk', 'program', 'idl', 'marketplace.json');
/** Each client: the served README, its page in the project, its language, and the command that installs its package. */
const CLIENTS = [
  ['client-typescript.md', 'app/client/README.md', 'ts', 'npm install @agent-marketplace/client'],
  ['client-python.md', 'clients/python/README.md', 'python', 'pip install CHECKOUT/clients/python'],
] as const;
/** Views of the web page, which this relay does not serve; tests/dashboard/docs.test.ts opens them. */
const VIEWS = ROUTES.map((route) => addressOf(route, 'any')).filter((address) => address !== '/docs');

const unescaped = (html: string) =>
  html.replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&').replaceAll('&lt;', '<');

describe('/docs', () => {
  let page: string;
  let headers: Headers;
  const world = useWorld();
  before(async () => {
    ({ text: page, headers } = await world.get('/docs'));
  });

  it('forbids itself to load or run anything', () => {
    expect(headers.get('content-type')).to.equal('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).to.equal(DOCS_POLICY).and.include("default-src 'none'");
    expect(headers.get('vary')).to.equal('Accept');
    expect(page).to.not.match(
      /<script|<style|<img|<link|<iframe|<form|<[^>]*\s(?:on\w+|style)=|url\(|@import|javascript:/i,
    );
    // Every link leads to this server.
    for (const [, target] of page.matchAll(/(?:href|src)="([^"]*)"/g)) expect(target).to.match(/^[#/]/);
  });

  it('has only links that work, and no duplicate id', async () => {
    const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map((match) => match[1]);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).to.include(target);
    expect(ids).to.include.members(ERROR_CODES.map((code) => `error-${code}`));
    const paths = new Set([...page.matchAll(/href="(\/[^"]*)"/g)].map((match) => match[1]!));
    expect([...paths]).to.include.members(['/keys', '/creator/new', '/openapi.json']);
    for (const path of paths)
      if (!VIEWS.includes(path.split('#')[0]!)) expect((await world.get(path)).status, path).to.equal(200);
  });

  it('has the request of every route in curl, TypeScript and Python, with everything that the route needs', async () => {
    const { paths }: OpenApi = (await world.get('/openapi.json')).json;
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, { operationId, security, requestBody, parameters }] of Object.entries(methods)) {
        const [, block = ''] = new RegExp(`<details id="${operationId}">([\\s\\S]*?)</details>`).exec(page) ?? [];
        const codes = [...block.matchAll(/data-language="(\w+)"><code>([\s\S]*?)<\/code>/g)];
        const languages = codes.map(([, language]) => language);
        expect(languages, operationId).to.deep.equal([...LANGUAGES]);
        const shown = path.replace(/(?!^)\//g, '/<wbr>');
        expect(block).to.include(`<summary><code class="path"><b>${method.toUpperCase()}</b> ${shown}</code>`);
        const [curl = '', typescript = '', python = ''] = codes.map(([, , code]) => code!.replaceAll('&quot;', '"'));
        const isInClient = operationId in CALLED;
        expect(typescript, operationId).to.include(isInClient ? 'client.' : 'fetch(');
        expect(python, operationId).to.include(`requests.${method}(`);
        const isAgents = path.includes('{agent_id}');
        const address = parameters.reduce(
          (text, one) => text.replace(`{${one.name}}`, one.name === 'agent_id' ? 'AGENT_ID' : String(one.example)),
          path,
        );
        for (const code of isInClient ? [curl, python] : [curl, typescript, python])
          expect(code, operationId).to.include(world.url + address);
        for (const code of [curl, typescript, python]) {
          expect(code.includes(KEY_VARIABLE), operationId).to.equal(security.length > 0);
          expect(code, operationId).to.not.match(/\{\w+\}|undefined/);
          expect(code, operationId).to.not.include(AGENT_ID);
          if (isAgents) expect(code, operationId).to.match(/^(#|\/\/) Replace AGENT_ID[:,] /);
          const body = requestBody?.content['application/json']?.examples.request?.value ?? {};
          for (const field of Object.keys(body as object)) expect(code, operationId).to.include(field);
        }
      }
    }
  });

  it('links every file of examples/, which is served byte for byte', async () => {
    const names = readdirSync(join(ROOT, 'examples'));
    expect(names).to.include.members(['caller.ts', 'vectors.json']);
    for (const name of names) {
      expect(page).to.include(`href="/examples/${name}"`);
      const { status, headers: sent, text } = await world.get(`/examples/${name}`);
      expect([status, sent.get('content-type')]).to.deep.equal([200, 'text/plain; charset=utf-8']);
      expect(text).to.equal(readFileSync(join(ROOT, 'examples', name), 'utf8'));
    }
    for (const name of ['..%2Fpackage.json', 'none', '.']) {
      expect((await world.get(`/examples/${name}`)).status, name).to.equal(404);
    }
  });

  it('shows how each client is installed and makes its first call, equal to the README that it serves', async () => {
    const [, section = ''] = /<section id="clients">([\s\S]*?)<\/section>/.exec(page) ?? [];
    const seen = unescaped(section);
    expect(page).to.include('<li><a href="#clients">Clients</a></li>');
    expect(seen).to.include(`export MARKETPLACE_URL=${world.url}\nexport MARKETPLACE_API_KEY=crtx_test_...`);
    const { text: llms } = await world.get('/llms.txt');
    for (const [name, readme, language, install] of CLIENTS) {
      const blocks = blocksOf(readme);
      expect(blocks[0]!.text.split('\n')[0], readme).to.equal(install);
      expect(seen).to.include(`<code>${install}</code>`);
      const first = blocks.find((block) => block.language === language)!;
      expect(seen).to.include(`<code>${first.text}</code>`);
      expect(section).to.include(`href="/examples/${name}"`);
      expect((await world.get(`/examples/${name}`)).text).to.equal(readFileSync(join(ROOT, readme), 'utf8'));
      expect(llms).to.include(`(${world.url}/examples/${name})`);
    }
  });

  it('has sections about x402, MCP, webhooks, streaming and receipts, with code that is the READMEs’ own', () => {
    const seen = unescaped(page);
    const programs: Record<string, string[]> = {
      streaming: ['stream.ts'],
      webhooks: ['webhook.ts', 'receiver.py'],
      mcp: [],
      x402: ['wallet.js', 'wallet.py'],
      receipts: ['verify.ts', 'verify.py'],
    };
    const blocks = CLIENTS.flatMap(([, readme]) => blocksOf(readme));
    for (const [id, files] of Object.entries(programs)) {
      expect(page).to.include(`<li><a href="#${id}">`);
      const [, section = ''] = new RegExp(`<section id="${id}">([\\s\\S]*?)</section>`).exec(seen) ?? [];
      for (const file of files) {
        const named = ({ text }: { text: string }) => text.startsWith(`// ${file}\n`) || text.startsWith(`# ${file}\n`);
        expect(section, file).to.include(`<code>${blocks.find(named)!.text}`);
      }
    }
  });

  it('has its contents in /llms.txt, in the form of llmstxt.org, with links that work', async () => {
    const { status, headers: sent, text } = await world.get('/llms.txt');
    expect([status, sent.get('content-type')]).to.deep.equal([200, 'text/plain; charset=utf-8']);
    // A title, a quoted summary, then sections that are lists of links with notes.
    expect(text).to.match(/^# .+\n\n> .+\n(\n## .+\n\n(- \[.+\]\(https?:.+\)(: .+)?\n)+)+$/);
    const links = [...text.matchAll(/\]\((.+?)\)/g)].map((match) => match[1]!);
    for (const id of ROUTE_IDS) expect(links).to.include(`${world.url}/docs#${id}`);
    for (const link of links) {
      const [address = '', id] = link.split('#');
      if (id === undefined) expect((await fetch(address)).status, link).to.equal(200);
      else expect(page, link).to.include(`id="${id}"`);
    }
  });

  it('names only commands and options that exist', () => {
    const text = page.replaceAll('\\\n', ' ').replace(/<[^>]*>/g, '\n');
    const commands = [...text.matchAll(/npm run cli -- ([a-z]+) ([a-z-]+)([^\n]*)/g)];
    expect(commands.length).to.be.greaterThan(4);
    for (const [, group = '', name = '', rest = ''] of commands) {
      const groups = createProgram().commands.filter((candidate) => candidate.name() === group);
      const command = groups[0]?.commands.find((candidate) => candidate.name() === name);
      expect(command, `${group} ${name}`).to.not.equal(undefined);
      const options = command!.options.map(({ long }) => long);
      for (const [option] of rest.matchAll(/--[a-z-]+/g))
        expect(options, `${group} ${name} ${option}`).to.include(option);
    }
  });

  it('shows a request that registers a key', async () => {
    const { wallet, keyHash, keyId } = sessionsOf(() => world).grantedKey();
    const [, body = '', answer = ''] =
      /\/trpc\/keys\.register[\s\S]*?-d '(.*)'\n(.*)<\/code>/.exec(page.replaceAll('&quot;', '"')) ?? [];
    const filled = body.replace('BASE58 ADDRESS', wallet).replace('64 HEX DIGITS', keyHash);
    const { json } = await world.post('/trpc/keys.register', filled);
    expect(json).to.deep.equal(JSON.parse(answer.replace('32 HEX DIGITS', keyId)));
  });

  it('explains where a record holds the hash of its result', () => {
    const idl: { accounts: { name: string; discriminator: number[] }[] } = JSON.parse(readFileSync(IDL, 'utf8'));
    const [account] = idl.accounts.filter(({ name }) => name === 'ExecutionRecord');
    const data = Buffer.alloc(400);
    data.set(account!.discriminator);
    data.fill(7, RESULT_HASH_OFFSET, RESULT_HASH_OFFSET + 32);
    expect([...decodeAccount('ExecutionRecord', data).resultHash]).to.deep.equal(Array(32).fill(7));
    expect([...decodeAccount('ExecutionRecord', data).requestHash]).to.deep.equal(Array(32).fill(0));
  });

  it('describes the keywords of schemas, as do the OpenAPI document and the help of the command line', async () => {
    const { components } = (await world.get('/openapi.json')).json;
    const { description } = components.schemas.AgentMetadata.properties.input_schema;
    const create = listingCommands().commands.find((command) => command.name() === 'create')!;
    const written: string[] = [];
    create.configureOutput({ writeOut: (text) => void written.push(text) }).outputHelp();
    for (const keyword of Object.keys(RULES)) {
      expect(page).to.include(`<code>${keyword}</code>`);
      expect(description).to.include(`\`${keyword}\``);
      expect(written.join('')).to.include(keyword);
    }
  });
});
