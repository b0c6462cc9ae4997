/** Finding an agent and calling it: by a key, by a wallet, and one that fails; each paid or refunded to the unit. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { deferred, until } from '../harness/edge/until.ts';
import {
  assertAccessible,
  changeAnswers,
  download,
  launchBrowser,
  openPage,
  payByKey,
  progress,
  recordedTexts,
  recordTexts,
  untilLoaded,
} from './browser.ts';
import { listAgent } from './listAgent.ts';
import { useSite } from './site.ts';

const ECHO_PRICE = 10_000n;
const CSV_PRICE = 250_000n;
const SLOW_PRICE = 20_000n;

const usdcOf = (units: bigint) =>
  `${(Number(units) / 1e6).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6 })} USDC`;

describe('agents', function () {
  this.timeout(600_000);
  const site = useSite();

  const pathOf = (name: string) => `/agents/${site.visitor.agent(name).agent_id}`;
  const cards = (page: Page) => page.getByRole('main').getByRole('heading', { level: 2 });
  const searchOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

  /** What ends in the index may be on its way there when the page has it from the call itself. */
  async function untilPaid(before: Awaited<ReturnType<typeof site.visitor.balances>>, name: string, price: bigint) {
    await until(
      'the payment is on the chain',
      async () => (await site.visitor.balances()).treasury !== before.treasury,
    );
    site.visitor.assertPaid(before, await site.visitor.balances(), name, price);
  }

  it('are searched and filtered by the URL, which can be shared and works with Back', () =>
    site.visit({}, async (page) => {
      await page.goto('/');
      await cards(page).first().waitFor();
      const count = await cards(page).count();
      expect((await cards(page).allTextContents()).slice(0, 2)).to.have.members(['csv-analyst', 'text-report']);
      // Those for tests stand apart, and are not counted.
      await page.getByText(/^\d+ test agents: /).click();
      await page.getByRole('heading', { level: 2, name: 'sandbox-echo' }).waitFor();
      expect(await cards(page).count()).to.be.above(count);
      await page.getByRole('searchbox', { name: 'Search agents' }).fill('csv');
      await page.waitForURL(/[?&]q=csv/);
      await page
        .getByRole('status')
        .filter({ hasText: /^1 agent$/ })
        .waitFor();
      expect(await cards(page).allTextContents()).to.deep.equal(['csv-analyst']);
      await page.getByRole('button', { name: 'data', exact: true }).click();
      await page.getByRole('button', { name: 'Filters', exact: true }).click();
      await page.getByRole('combobox', { name: 'Sort by' }).selectOption({ label: 'Cheapest' });
      await page.waitForURL(/sort=price_asc/);
      expect(searchOf(page)).to.deep.equal({ q: 'csv', tags: 'data', sort: 'price_asc' });

      // The address alone brings all of it back.
      await page.reload();
      expect(await page.getByRole('searchbox', { name: 'Search agents' }).inputValue()).to.equal('csv');
      await page.getByRole('button', { name: 'data', exact: true, pressed: true }).waitFor();
      await page.getByRole('searchbox', { name: 'Search agents' }).fill('nothing is called this');
      await page.getByText('No agent matches these filters').waitFor();
      await page.getByRole('main').getByRole('button', { name: 'Clear filters' }).last().click();
      await page
        .getByRole('status')
        .filter({ hasText: `${count} agents` })
        .waitFor();
      expect(searchOf(page)).to.deep.equal({});

      await page.getByRole('link', { name: 'csv-analyst' }).click();
      await page.getByRole('heading', { level: 1, name: 'csv-analyst' }).waitFor();
      await page.goBack();
      await cards(page).first().waitFor();
    }));

  it('show success and latency of the last 30 days from 20 calls on, and say in words that they are too few', () =>
    site.visit({}, async (page) => {
      const { visitor } = site;
      expect((await visitor.execute('sandbox-echo', { task: 'Echo' })).body.status).to.equal('completed');
      const path = `/v1${pathOf('sandbox-echo')}/statistics`;
      await visitor.sendUntil(path, null, ({ body }) => body.total.completed > 0);
      let total_executions = 19;
      const disputes = { dispute_count: 3, open_disputes: 1, upheld_disputes: 0, rejected_disputes: 1 };
      const url = `**/v1${pathOf('sandbox-echo')}`;
      await changeAnswers(page, url, (agent) => Object.assign(agent, { total_executions, ...disputes }));
      await page.goto(pathOf('sandbox-echo'));
      await page
        .getByText(/^19, all delivered; 1 of them is in an open dispute .* Too few calls for a success rate\.$/)
        .waitFor();
      await page.getByText('3: 1 open, 1 rejected, 1 ended undecided, 0 upheld').waitFor();
      const place = page.getByRole('banner').getByRole('link', { name: 'Agents', exact: true });
      expect(await place.getAttribute('aria-current')).to.equal('true');
      expect(await page.getByRole('main').textContent()).to.not.match(/last 30 days|\d %/);
      const trust = page.getByRole('main').locator('section').filter({ hasText: 'Can I trust it?' }).last();
      for (const fact of ['Disputes', 'Collateral', 'Listed since', 'Creator'])
        await trust.getByText(fact, { exact: true }).waitFor();
      total_executions = 20;
      const month = page.getByRole('main').locator('section').filter({ hasText: 'The last 30 days' }).last();
      const summary = month.getByText(/^[0-9,]+, .* delivered$/);
      // Calls of others may be on their way into the index.
      await until('the page shows what the service has', async () => {
        const { completed, failed } = (await visitor.send(path, null)).body.total;
        await page.goto(pathOf('sandbox-echo'));
        await summary.waitFor();
        return (await summary.textContent())!.startsWith(`${completed + failed}, `);
      });
      await month.getByRole('img', { name: 'Agent answers in' }).waitFor();
      await month.getByRole('button', { name: 'Show as table' }).last().click();
      await untilLoaded(page);
      expect(await page.getByRole('main').textContent()).to.not.match(/\b0 ms/);
      const { agents } = (await visitor.send('/v1/agents?limit=100', null)).body;
      const idle = agents.filter((agent: { total_executions: number }) => agent.total_executions === 0);
      expect(idle, 'agents that nobody has called').to.not.have.length(0);
      await page.goto(`/agents/${idle[0].agent_id}`);
      await page.getByText('Nobody has called it yet.').waitFor();
    }));

  it('are called failing after twenty failures, in the list and on their own page', () =>
    site.visit({}, async (page) => {
      const { agent_id } = site.visitor.agent('sandbox-fails');
      const failing = {
        total_executions: 20,
        successful_executions: 0,
        success_rate: 0,
        avg_execution_time_ms: 0,
        open_disputes: 2,
      };
      await changeAnswers(page, '**/v1/agents?**', ({ agents }: { agents: { agent_id: string }[] }) => {
        for (const agent of agents) if (agent.agent_id === agent_id) Object.assign(agent, failing);
      });
      await changeAnswers(page, `**/v1/agents/${agent_id}`, (agent) => Object.assign(agent, failing));
      await page.goto('/?q=sandbox-fails');
      const card = page.getByRole('main').locator(`a[href$="/agents/${agent_id}"]`);
      await card.getByText('Failing', { exact: true }).waitFor();
      expect(await card.textContent())
        .to.include('Delivered0 %')
        .and.include('2 open disputes')
        .and.not.match(/(?<!\d)0 ms|degraded/i);
      await card.click();
      await page.getByRole('list', { name: 'Tags' }).getByText('Failing', { exact: true }).waitFor();
      await page.getByRole('heading', { name: 'The last 30 days' }).waitFor();
      expect(await page.getByRole('main').textContent()).to.not.match(/(?<!\d)0 ms|degraded/i);
    }));

  it('can be called with a key: shows the result, the payment and its receipt', () =>
    site.visit({ as: 'Demo caller 1' }, async (page) => {
      const before = await site.visitor.balances();
      await page.goto(`${pathOf('csv-analyst')}?tab=run`);
      const run = page.getByRole('button', { name: /^(Run with|Pay) 0\.25 / });
      await page.getByText('Filled in with the creator’s example.').waitFor();
      expect(await run.isDisabled()).to.equal(false);
      await page.getByRole('button', { name: 'empty the form' }).click();
      await page.getByText('Fill in csv, query, and the task.').waitFor();
      expect(await run.isDisabled()).to.equal(true);
      await page.getByLabel('Task').fill('The warmest city');
      await page.getByRole('button', { name: 'Use the example' }).click();
      await payByKey(page, 'not a key');
      await run.click();
      await page.getByText('A key begins with crtx_test_').waitFor();
      await page.getByRole('textbox', { name: 'API key' }).fill(site.visitor.demo.callers[0]!.api_key);
      await page.getByText(/can pay up to [\d.,]+ USDC a call now/).waitFor();
      await page.getByText('gas balance, or marketplace').waitFor();
      await run.click();
      await progress(page, 'Completed').waitFor();
      await page.getByText('0.25 USDC was held on Solana.').waitFor();
      await page.getByRole('main').getByText('Rome').first().waitFor();
      await untilPaid(before, 'csv-analyst', CSV_PRICE);

      // The key is in no storage and in no address.
      const kept = await page.evaluate<string>(
        'JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }])',
      );
      expect(kept).to.not.include('crtx_');

      await page.getByRole('link', { name: 'Call and receipt' }).click();
      await page.waitForURL(/\/executions\/[0-9a-f-]{32,36}$/);
      await page.getByRole('button', { name: 'Receipt' }).click();
      const saved = await download(page, page.getByRole('menuitem', { name: 'Download (JSON)' }));
      const id = new URL(page.url()).pathname.split('/').at(-1);
      expect(saved.name).to.equal(`receipt-${id}.json`);
      await page.getByRole('link', { name: 'Verify it yourself' }).click();
      await page.getByRole('heading', { name: 'Genuine: the creator signed exactly this result' }).waitFor();
    }));

  it('stream their output to a caller with a key, which shows by itself that the price is in escrow', async () => {
    const task = 'First second';
    const { promise: mayFinish, resolve: finish } = deferred();
    const { path, close } = await listAgent(site, 'sandbox-writer', async (request, { delta }) => {
      await delta('First');
      if (request.task === task) await mayFinish;
      return { result: request.task };
    });
    await site.visit({}, async (page) => {
      const before = await site.visitor.balances();
      // Until it ends, no poll says that the price is in escrow.
      let isHidden = true;
      await changeAnswers(page, '**/v1/executions/*', (json) => isHidden && Object.assign(json, { cost_usdc: 0 }));
      await page.goto(`${path}?tab=run`);
      await page.getByLabel('Task').fill(task);
      await payByKey(page, site.visitor.demo.callers[0]!.api_key);
      await page.getByRole('button', { name: 'Pay 0.02 USDC and run' }).click();
      const output = page.getByRole('region', { name: 'Output so far' });
      await output.getByText('First', { exact: true }).waitFor();
      await output.getByText('not verified yet').waitFor();
      await page.getByText('0.02 USDC is held on Solana.').waitFor();
      isHidden = false;
      finish();
      await progress(page, 'Completed').waitFor();
      await page.getByRole('main').getByText(task).first().waitFor();
      expect(await output.count()).to.equal(0);
      await untilPaid(before, 'sandbox-slow', SLOW_PRICE);
    });
    await close();
  });

  it('hold nothing that is not known: the opening of a call by key takes longer than the service waits', async () => {
    const { visitor } = site;
    const { body } = await visitor.execute('sandbox-echo', { task: 'Of an earlier call' });
    const id = crypto.randomUUID();
    const ends = { completed_at: null, execution_time_ms: null, result: null, result_hash: null, signature: null };
    const opening = { ...(await visitor.send(`/v1/executions/${body.execution_id}`, 0)).body, ...ends };
    let json = { ...opening, execution_id: id, status: 'running', cost_usdc: 0 };
    await site.visit({}, async (page) => {
      await page.route('**/execute', (route) =>
        route.fulfill({ status: 202, json: { execution_id: id, status: 'running' } }),
      );
      await page.route(`**/v1/executions/${id}`, (route) => route.fulfill({ json }));
      const isRead = page.waitForResponse(`**/v1/executions/${id}`);
      await page.goto(`${pathOf('sandbox-echo')}?tab=run`);
      await page.getByLabel('Task').fill('Slowly');
      await payByKey(page, visitor.demo.callers[0]!.api_key);
      await page.getByRole('button', { name: 'Pay 0.01 USDC and run' }).click();
      await isRead;
      await page.getByText('You can leave this page').waitFor();
      const steps = page.getByRole('region', { name: 'Progress' });
      await steps.getByText('Putting 0.01 USDC into escrow').waitFor();
      expect(await page.getByRole('main').textContent()).not.to.match(/is held|is with the creator|is working/i);
      json = { ...json, cost_usdc: 0.01 };
      await steps.getByText('0.01 USDC is held on Solana.').waitFor();
      await steps.getByText('The task is with the creator’s server.').waitFor();
    });
  });

  it('sign in whoever tries them signed out, with the shared test wallet that then offers to pay', () =>
    site.visit({}, async (page) => {
      await page.goto(pathOf('sandbox-echo'));
      await page
        .getByText('Signs you in with a shared test wallet, which pays. Its other users see the call.')
        .waitFor();
      await page.getByRole('button', { name: 'Try it free' }).click();
      await page.getByRole('button', { name: 'Run with 0.01 USDC' }).waitFor();
      await page.getByRole('banner').getByText('Shared').waitFor();
      await page.getByText('a shared test wallet: it signs without asking.').waitFor();
    }));

  it('lead to the rules of disputes, which a link opens each time', () =>
    site.visit({}, async (page) => {
      await page.goto(pathOf('csv-analyst'));
      await page.getByRole('link', { name: 'Rules of disputes' }).and(page.locator(':visible')).click();
      const rule = page.getByText('The creator gets the bond, and the price stays paid.');
      await rule.waitFor();
      await page.getByRole('heading', { name: 'Disputes' }).click();
      await rule.waitFor({ state: 'hidden' });
      await page.getByRole('navigation', { name: 'On this page' }).getByRole('link', { name: 'Disputes' }).click();
      await rule.waitFor();
      await assertAccessible(page);
    }));

  it('can be called with a wallet: one signature pays into escrow, another starts the work', () =>
    site.visit({ as: 'Demo caller 1' }, async (page) => {
      const { visitor } = site;
      const before = await visitor.balances();
      const { wallet } = visitor.demo.callers[0]!;
      const account = page.getByRole('banner').getByRole('button', { name: '…' });
      const shows = async () =>
        account.getByText(usdcOf((await visitor.balances())[wallet]!), { exact: true }).waitFor();
      const { promise: isAsked, resolve: answer } = deferred();
      await page.route(visitor.demo.rpc_url, async (route) => {
        if (route.request().postData()?.includes('getTokenAccountBalance')) await isAsked;
        await route.continue();
      });
      await page.goto(`${pathOf('sandbox-echo')}?tab=run`);
      // The header shows no balance before it is read, and follows each call.
      await account.waitFor();
      expect(await account.textContent()).to.not.include('USDC');
      answer();
      await shows();
      // What it costs is shown before it is paid; folded once the shared test wallet is connected.
      await page.getByRole('heading', { name: 'You pay nothing' }).waitFor();
      await page.getByText('The shared test wallet pays 0.01 USDC and the network fees, all in test money.').waitFor();
      await page.getByText('Fees and deposit', { exact: true }).click();
      await page.getByText('about 0.000015 SOL', { exact: true }).waitFor();
      await page.getByText('0.00148844 SOL comes back when the call ends, the rest about 1 hour later.').waitFor();
      await page.getByLabel('Task').fill('Echo <b>this</b>');
      // What is filled in is kept in the tab.
      await page.getByRole('banner').getByRole('link', { name: 'Agents' }).click();
      await page.goBack();
      expect(await page.getByLabel('Task').inputValue()).to.equal('Echo <b>this</b>');
      await page.getByRole('button', { name: 'Run with 0.01 USDC' }).click();
      const dialog = page.getByRole('dialog', { name: 'Run sandbox-echo' });
      await dialog.getByText('Into escrow', { exact: true }).waitFor();
      await recordTexts(page);
      await dialog.getByRole('button', { name: 'Run with 0.01 USDC' }).click();
      await progress(page, 'Completed').waitFor();
      await page.getByRole('main').getByText('Echo <b>this</b>').first().waitFor();
      const seen = await recordedTexts(page);
      expect(seen).to.not.have.length(0);
      for (const text of seen) expect(text).to.not.match(/not available|not here/i);
      await untilPaid(before, 'sandbox-echo', ECHO_PRICE);
      await shows();
      // After a reload the same call is shown, and its page says what was asked.
      await page.reload();
      await progress(page, 'Completed').waitFor();
      await page.getByRole('main').getByText('Echo <b>this</b>').first().waitFor();
      await page.getByRole('link', { name: 'Call and receipt' }).click();
      const asked = page.locator('section').filter({ has: page.getByRole('heading', { name: 'What was asked' }) });
      await asked.getByText('Echo <b>this</b>').waitFor();
    }));

  it('refund a failed call, without a word about payment or a step back when polls and lists are late', () =>
    site.visit({ as: 'Demo caller 1', expected: /status of 500/ }, async (page) => {
      const before = await site.visitor.balances();
      await page.goto(`${pathOf('sandbox-fails')}?tab=run`);
      await page.getByLabel('Task').fill('Try');
      await page.getByRole('button', { name: /^Run with / }).click();
      await page.getByRole('dialog').getByText('Into escrow', { exact: true }).waitFor();
      await recordTexts(page);
      // Lists answer last of all, and two polls after the answer are older than it.
      const { promise: isShown, resolve: release } = deferred();
      await page.route('**/v1/agents/*', (route) => isShown.then(() => route.continue()));
      let stale = 2;
      let hasFailed = false;
      page.on('response', (answer) => (hasFailed ||= answer.url().endsWith('/start')));
      await changeAnswers(page, /\/v1\/executions\/[0-9a-f-]{36}$/, (json) => {
        if (hasFailed && stale-- > 0) Object.assign(json, { status: 'running', error: null, refund: null });
      });
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Run with / })
        .click();
      await progress(page, 'Not completed').waitFor();
      release();
      await page.getByText('Your money is back: the whole price was refunded.').waitFor();
      const seen = await recordedTexts(page);
      for (const text of seen) expect(text).to.not.match(/creator is paid|not available|\bPaid\s+[\d.]/i);
      const firstRun = seen.findIndex((text) => text.includes('Running') && !text.includes('Into escrow'));
      expect(firstRun).to.be.at.least(0);
      for (const text of seen.slice(firstRun))
        expect(text).to.not.include('Into escrow').and.not.include('You pay nothing');
      await page.getByText(/^Refunded 0\.\d+ USDC/).waitFor();
      expect(await site.visitor.balances()).to.deep.equal(before);
      await page.getByRole('button', { name: 'Run again' }).click();
      await page.getByLabel('Task').waitFor();
    }));

  it('show code that runs as it is copied: Python, curl, x402, and MCP with the agent as a tool', () =>
    site.visit({}, async (page) => {
      const { visitor } = site;
      const { api_key } = visitor.demo.callers[0]!;
      await page.goto(`${pathOf('sandbox-echo')}?tab=code`);
      const textOf = async (tab: string, region: string) => {
        await page.getByRole('tab', { name: tab, exact: true }).click();
        return (await page.getByRole('region', { name: region, exact: true }).textContent())!;
      };
      const run = (program: string, args: string[]) =>
        promisify(execFile)(program, args, { env: { ...process.env, MARKETPLACE_API_KEY: api_key } });
      expect(await textOf('TypeScript', 'TypeScript that calls sandbox-echo')).to.include(
        JSON.stringify(visitor.agent('sandbox-echo').agent_id),
      );
      const example = await textOf('curl', 'curl that calls sandbox-echo');
      const { task: echoed } = JSON.parse(/<<'JSON'\n([\s\S]*?)\nJSON\n/.exec(example)![1]!);
      const python = await run('python3', ['-c', await textOf('Python', 'Python that calls sandbox-echo')]);
      expect(python.stdout).to.equal(`${echoed}\n`);
      expect(python.stderr).to.match(/\nCall [0-9a-f-]{36} cost 0\.01 USDC\n$/);
      // Pasted twice into one shell, it is two calls.
      const curl = await run('sh', ['-c', `${example}${example}`]);
      const answers = curl.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      for (const answer of answers) expect(answer).to.include({ status: 'completed', result: echoed });
      expect(new Set(answers.map(({ execution_id }) => execution_id))).to.have.length(2);
      expect(curl.stderr).to.match(/^(Idempotency-Key: [0-9a-f]{32}\n){2}$/);
      const x402 = await textOf('x402', 'Program that pays sandbox-echo by x402');
      expect(x402)
        .to.include(JSON.stringify(site.baseUrl))
        .and.include(JSON.stringify(visitor.agent('sandbox-echo').agent_id));

      const settings = JSON.parse(await textOf('MCP', 'MCP settings with sandbox-echo'));
      const { url } = settings.mcpServers['agent-marketplace'];
      const added = await textOf('MCP', 'Adding it to Claude Code');
      expect(added).to.match(/^claude mcp add --transport http agent-marketplace /);
      expect((await run('sh', ['-c', `claude() { printf %s "$6"; }\n${added}`])).stdout).to.equal(url);
      const accepted = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
      const ask = (headers: object) => fetch(url, { method: 'POST', headers: { ...accepted, ...headers }, body });
      const signedOut = await ask({});
      // A host signs in when it is told where.
      expect(signedOut.status).to.equal(401);
      expect(signedOut.headers.get('www-authenticate')).to.include('resource_metadata');
      const listed = await ask({ authorization: `Bearer ${api_key}` });
      expect(await listed.text()).to.include('sandbox-echo');
    }));

  it('cannot be run while paused, and say whose pause it is', () =>
    site.visit({}, async (page) => {
      await page.goto(pathOf('sandbox-paused'));
      const why = page.getByRole('region', { name: 'Why it cannot be called' });
      await why.getByText('Its creator has paused this agent').waitFor();
      await why.getByRole('link', { name: 'Browse agents' }).waitFor();
      expect(await page.getByRole('tab', { name: 'Run' }).isDisabled()).to.equal(true);
    }));

  it('are on a phone below the brand without scrolling', () =>
    site.visit({ phone: true }, async (page) => {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.goto('/');
      await untilLoaded(page);
      const bottomOf = async (place: Locator) => {
        const { y, height } = (await place.boundingBox())!;
        return y + height;
      };
      const brand = page.getByRole('banner').getByText('Agent Marketplace', { exact: true });
      const { y: top } = (await page.getByRole('banner').boundingBox())!;
      expect((await bottomOf(brand)) - top).to.be.below(64);
      const first = page.getByRole('main').getByRole('heading', { level: 2 }).first();
      expect(await bottomOf(first)).to.be.below(844);
      // A laptop at 200 %: the head scrolls away with the rest.
      await page.setViewportSize({ width: 640, height: 450 });
      await page.getByRole('contentinfo').scrollIntoViewIfNeeded();
      expect(await bottomOf(page.getByRole('banner'))).to.be.below(0);
    }));

  it('stay where they are when a dialog opens', async () => {
    const browser = await launchBrowser({ scrollbars: true });
    const { page } = await openPage(browser, site.baseUrl);
    await page.goto('/');
    await untilLoaded(page);
    const connect = page.getByRole('button', { name: 'Connect wallet' });
    await connect.waitFor();
    await page.evaluate('document.fonts.ready.then(() => undefined)');
    const width = () => page.evaluate<number>('document.documentElement.clientWidth');
    const edges = () =>
      page.evaluate<number[]>(`[...document.querySelectorAll('h1, header *')].map((one) =>
      one.getBoundingClientRect().x)`);
    expect(await width()).to.be.below(1280);
    const before = await edges();
    await connect.click();
    await page.getByRole('dialog').waitFor();
    expect(await edges()).to.deep.equal(before);
    await browser.close();
  });
});
