/**
 * The whole life of an agent in the page: described, tested, listed, called, changed, paused, disputed and delisted.
 * Its texts and results contain attacks, and the page shows them as plain text.
 */
import { writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import * as terms from '../../app/dashboard/wallet/programTerms.ts';
import {
  createCreatorServer,
  ExecutionFailure,
  generateSigningKey,
  loadSigningKey,
} from '../../app/sdk/creator/creator.ts';
import { constants, DISPUTE_SIZE, decodeOwn, GRANT_SIZE, RECORD_SIZE } from '../../app/sdk/program/index.ts';
import { formatSol } from '../../app/sdk/wire/sol.ts';
import { useServers } from '../harness/edge/listen.ts';
import { pngOf } from '../harness/edge/pictures.ts';
import { until } from '../harness/edge/until.ts';
import { assertAccessible, changeAnswers, dialog, download, PHONE, recordTexts, sign, untilShown } from './browser.ts';
import { assertSameFigures, figure } from './figures.ts';
import { assertAccessibleInEveryLook } from './looks.ts';
import { giveEvidence, useSite } from './site.ts';

const CREATOR = { as: 'Demo creator B' } as const;
const IMAGE = '<img src=x onerror=alert(1)>';
const NAME = `Shouter ${IMAGE}`;
/** Chromium adds an inline style to a line of the editor when all of its text is replaced. The policy refuses it. */
const EDITED = /Applying inline style violates|refused inline by style-src-attr/;
const SCHEMA = {
  type: 'object',
  properties: { text: { type: 'string', title: `Text ${IMAGE}`, description: `What to shout ${IMAGE}` } },
  required: ['text'],
  additionalProperties: false,
};
const PRICE = 50_000n;
const FEE = PRICE / 100n;

describe('the creator', function () {
  this.timeout(600_000);
  const site = useSite();
  const serve = useServers();
  let endpoint: string;
  let creator: Server;
  let agentId: string;
  let executionId: string;
  /** The agent finishes its result only after this. */
  let mayFinish = Promise.resolve();

  /** Sets the key that the server signs with, also while it runs. */
  const signWith = (signingKey: Uint8Array) => {
    creator = createCreatorServer({
      signingKey,
      async execute({ parameters }, { delta }) {
        if (parameters.text === 'silence') throw new ExecutionFailure(`Nothing to shout ${IMAGE}`);
        await delta(`HEL… ${IMAGE}`);
        await mayFinish;
        return { result: `${String(parameters.text).toUpperCase()} ${IMAGE}`, steps: [{ thought: `Louder ${IMAGE}` }] };
      },
    });
  };

  before(async () => {
    signWith(generateSigningKey());
    endpoint = `${await serve((request, response) => void creator.emit('request', request, response))}/execute`;
  });

  const next = (page: Page, step: string) => page.getByRole('button', { name: `Next: ${step}` }).click();
  const shownAgent = async () => (await site.visitor.send(`/v1/agents/${agentId}`, null)).body;
  const creatorWallet = () => site.visitor.agent('text-report').creator;
  const collateral = () => site.visitor.units(site.visitor.seeds('collateral_vault', new PublicKey(agentId).toBytes()));
  /** Pictures that the page makes itself, and those that the service has checked. */
  const AVATAR = ':is([src^="data:image/svg+xml,"], [src^="/v1/agents/"])';
  /** Asserts that no text of a stranger has become markup. */
  async function assertInert(page: Page, asked: string[]): Promise<void> {
    expect(await page.locator(`main img:not(${AVATAR}), main script, [onerror]`).count()).to.equal(0);
    expect(await page.locator('a[href^="javascript"]').count()).to.equal(0);
    expect(asked).to.deep.equal([]);
  }
  /** Records script dialogs, and requests to anybody but the service and its node. */
  function watch(page: Page): string[] {
    const asked: string[] = [];
    page.on('dialog', (shown) => {
      asked.push(`${shown.type()}: ${shown.message()}`);
      void shown.accept();
    });
    page.on('request', (sent) => {
      const { protocol, origin } = new URL(sent.url());
      const known = [site.baseUrl, new URL(site.visitor.demo.rpc_url).origin];
      if (protocol.startsWith('http') && !known.includes(origin)) asked.push(sent.url());
    });
    return asked;
  }

  const widthOf = (image: Locator) => image.evaluate((one: { naturalWidth: number }) => one.naturalWidth);

  it('learns before any wallet what to bring, earn and deposit, by the terms of the service', () =>
    site.visit({}, async (page) => {
      const { fee_bps, min_price_usdc, collateral_tiers, dispute_bond_lamports } = (
        await site.visitor.send('/trpc/config.get', null)
      ).body.result.data;
      await page.goto('/creator/new');
      await page.getByText(`The marketplace keeps ${fee_bps / 100} %`).waitFor();
      const most = collateral_tiers.at(-1).max_price_usdc;
      await page.getByText(`from ${min_price_usdc} to ${most.toFixed(2)} USDC`).waitFor();
      await page.getByText(`a bond of ${dispute_bond_lamports / 1e9} SOL`).waitFor();
      // Links to a part of the terms lead to that part, also before the terms are read.
      const part = await page.getByRole('link', { name: 'Who can do what' }).getAttribute('href');
      await page.goto(part!);
      const atTop = `Math.abs(document.querySelector('#roles')?.getBoundingClientRect().top - 80) < 8`;
      await until('the card is below the header', () => page.evaluate(atTop) as Promise<boolean>);
      await page.getByText('The admin’s wallet. Read from the chain: it can replace the program.').waitFor();
      // A program's data without the key.
      await changeAnswers(page, site.visitor.demo.rpc_url, (json) => {
        const [account] = json.result?.value ?? [];
        const bytes = Buffer.from(account?.data?.[0] ?? '', 'base64');
        if (bytes[0] === 3) account.data[0] = bytes.fill(0, 12, 13).toString('base64');
      });
      await page.reload();
      await page.getByText('Nobody has it: the program cannot be replaced any more.').waitFor();
      await page.goBack();
      // The figures of the program, and the deposits that a listing has on the chain.
      expect({ ...constants }).to.include({
        slashMultiple: BigInt(terms.SLASH_MULTIPLE),
        maxFeeBps: terms.MAX_FEE_BPS,
        disputeLapseSeconds: terms.DISPUTE_LAPSE_SECONDS,
        endedDisputeSeconds: terms.ENDED_DISPUTE_SECONDS,
        changeSeconds: terms.CHANGE_SECONDS,
        guardianChangeSeconds: terms.GUARDIAN_CHANGE_SECONDS,
      });
      expect([RECORD_SIZE, GRANT_SIZE, DISPUTE_SIZE]).to.deep.equal([
        terms.RECORD_BYTES,
        terms.GRANT_BYTES,
        terms.DISPUTE_BYTES,
      ]);
      await page.getByText(`at most ${constants.slashMultiple} times the price`).waitFor();
      const { visitor } = site;
      const { agent_id } = visitor.agent('csv-analyst');
      const listing = new PublicKey(agent_id);
      const { signingKey } = decodeOwn('AgentListing', await visitor.connection.getAccountInfo(listing))!;
      const made = ['collateral_vault', 'collateral'].map((name) => visitor.seeds(name, listing.toBytes()));
      const [vault = 0n, ...kept] = await Promise.all(
        [...made, listing, visitor.seeds('key', signingKey.toBytes())].map(visitor.lamports),
      );
      const stays = kept.reduce((sum, one) => sum + one);
      // Rounded, with the exact sum on hover.
      const rounded = (lamports: bigint) => (Number(lamports) / 1e9).toFixed(4);
      await page.getByText(`${rounded(stays)} stays in the agent’s accounts on the chain`).waitFor();
      await page.getByText(`${rounded(vault)} comes back with the collateral`).waitFor();
      for (const sum of [stays, vault]) await page.getByTitle(`${formatSol(sum)} SOL`, { exact: true }).waitFor();
      const tier = collateral_tiers.find(({ max_price_usdc }: Record<string, number>) => max_price_usdc! >= 0.25);
      const lost = Math.min(tier.deposit_usdc, 0.25 * terms.SLASH_MULTIPLE).toFixed(2);
      for (const words of [
        'You get0.2475 USDC',
        `You deposit${tier.deposit_usdc.toFixed(2)} USDC`,
        `at most${lost} USDC`,
      ])
        await page.locator('section').filter({ hasText: words }).first().waitFor();
      await page.getByRole('button', { name: 'Connect a wallet to begin' }).waitFor();
    }));

  it('lists an agent in steps: describes it, creates its key, tests and signs', () =>
    site.visit({ ...CREATOR, expected: EDITED }, async (page) => {
      const { visitor } = site;
      const asked = watch(page);
      await page.goto('/creator/new');
      // A name is never cut: the page says by how much it is too long.
      const name = page.getByLabel('Name', { exact: true });
      await name.fill(`${'n'.repeat(64)} more`);
      await page.getByText('Too long by 5: at most 64 characters.').waitFor();
      await page.getByText('69 of 64 characters').waitFor();
      await name.fill(NAME);
      await page.getByLabel('Creator name', { exact: true }).fill(`Mallory ${IMAGE}`);
      await page.getByLabel('Tagline').fill('Says it louder. <script>alert(1)</script>');
      await page
        .getByLabel('Description')
        .fill(`# Loud\n\n${IMAGE}\n\n[press](javascript:alert(1)) ![pixel](https://tracker.example/pixel.png)`);
      const picture = page.getByLabel('Picture', { exact: true });
      await picture.setInputFiles({ name: 'a.svg', mimeType: 'image/png', buffer: Buffer.from('<svg/>') });
      await page.getByText('is not a picture that this browser can read').waitFor();
      await picture.setInputFiles({ name: 'wide.png', mimeType: 'image/png', buffer: pngOf(1_600, 900) });
      await page.getByRole('button', { name: 'Remove it' }).waitFor();
      // A standard tag is chosen although it is typed, and an own one counts once the field is left.
      const own = page.getByLabel('Your own tags');
      await own.fill('Writing, loud');
      await page.getByLabel('Tagline').focus();
      await page.getByRole('button', { name: 'writing', exact: true, pressed: true }).waitFor();
      await page.getByRole('button', { name: 'Remove the tag loud' }).click();
      await page.getByRole('button', { name: 'Remove the tag loud' }).waitFor({ state: 'detached' });
      expect(await own.evaluate((field: { matches(rule: string): boolean }) => field.matches(':focus'))).to.equal(true);
      await next(page, 'Schemas');
      await page.getByRole('textbox', { name: 'Input schema' }).fill(JSON.stringify(SCHEMA));
      await page.getByText(SCHEMA.properties.text.title).first().waitFor();
      await assertInert(page, asked);
      await next(page, 'Price');
      await page.getByLabel('Price of one call, USDC').fill('0.05');
      await page.getByText('You receive 0.0495 USDC').waitFor();
      await next(page, 'Endpoint');
      await page.getByLabel('Endpoint', { exact: true }).fill(endpoint);
      await next(page, 'Signing key');

      await page.getByRole('radio', { name: 'Only the public key' }).click();
      await page.getByText('A command that signs them').click();
      const signs = await page.getByRole('region', { name: 'Command that signs the bytes' }).textContent();
      await page.getByRole('radio', { name: 'Create a key here' }).click();
      await page.getByRole('button', { name: 'Create a signing key' }).click();
      await page.getByText('It exists on this page only').waitFor();
      const saved = await download(page, page.getByRole('button', { name: 'Save the key file' }));
      const signingKey = loadSigningKey(saved.path);
      await page.getByText('Saved as a file').waitFor();
      expect(signs).to.include(` ${saved.name} `);
      const kept = await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
      expect(kept).to.not.include([...signingKey.slice(0, 8)].join(','));

      // The server still has another key: the test reports it, and no input is lost.
      await next(page, 'Test');
      await page.getByText('No server yet?').click();
      const starts = page.getByRole('region', { name: 'Command that starts the example' });
      expect(await starts.textContent()).to.include(` ${saved.name} `);
      // A mistake in the form is named as one, before anything is sent.
      await page.getByText('Correct the parameters first').waitFor();
      expect(await page.getByRole('button', { name: 'Run the test' }).isDisabled()).to.equal(true);
      await page.getByRole('textbox', { name: /^Text/ }).fill('hello');
      await page.getByRole('button', { name: 'Run the test' }).click();
      await page.getByText('The endpoint failed').waitFor();
      // The focus stays on a button while it is busy.
      await page.locator('button:focus', { hasText: 'Test again' }).waitFor();
      const raw = page.getByRole('region', { name: 'The answer of your server' });
      expect(await raw.textContent()).to.include('"execution_id"');
      const status = page.getByRole('listitem').filter({ hasText: '"completed", with a result' });
      await status.getByText('Sent and received').click();
      const sent = status.getByRole('region', { name: 'Status: what was sent' });
      expect(await sent.textContent())
        .to.include('marketplace-signing-key')
        .and.include('"text":"hello"');
      signWith(signingKey);
      // This server does not check who calls it. A pause of this computer fails a timed check too.
      await until('only 2 of the advised checks fail', async () => {
        await page.getByRole('button', { name: 'Test again' }).click();
        await page.getByText('The endpoint passed').waitFor();
        return page.getByText('2 of the advised checks failed').isVisible();
      });
      await page.getByText('Got: HTTP 200: the server accepted the request').first().waitFor();
      await next(page, 'Sign');

      const before = await visitor.balances();
      const list = page.getByRole('button', { name: /^Deposit .* and list$/ });
      const deposit = BigInt(Math.round(Number(/[\d.]+/.exec((await list.textContent())!)![0]) * 1e6));
      await list.click();
      await dialog(page)
        .getByRole('button', { name: /^Sign and deposit/ })
        .click();
      await page.getByRole('heading', { level: 1, name: 'Your agent is listed' }).waitFor();
      await page.getByRole('link', { name: 'See its page' }).click();
      await page.waitForURL(/\/agents\/\w+$/);
      agentId = new URL(page.url()).pathname.split('/').at(-1)!;
      // Served by the marketplace, in the square that the browser made.
      const shownPicture = page.locator(`h1 img[src^="/v1/agents/${agentId}/pictures/"]`);
      await shownPicture.waitFor();
      await until('the picture is loaded', async () => (await widthOf(shownPicture)) === 192);
      await page.getByText(`by Mallory ${IMAGE}`).waitFor();
      expect(await collateral()).to.equal(deposit);
      expect(await visitor.balances()).to.deep.equal({
        ...before,
        [creatorWallet()]: before[creatorWallet()]! - deposit,
      });

      await page.getByRole('heading', { level: 1, name: NAME }).waitFor();
      // The same holds for the document that the service renders.
      const answer = await fetch(page.url(), { headers: { accept: 'text/html' } });
      const document = await answer.text();
      expect(document)
        .to.include('Says it louder. &lt;script&gt;alert(1)&lt;/script&gt;')
        .and.not.include('<script>alert');
      await page.getByRole('heading', { name: 'Loud' }).waitFor();
      await page.getByText('[picture: pixel]').waitFor();
      await assertInert(page, asked);
      await page.goto('/?q=Shouter');
      await page.getByRole('heading', { level: 2, name: NAME }).waitFor();
      await assertInert(page, asked);
    }));

  it('sees a wallet call the agent: words appear as they are written, the creator is paid, the text is intact', () =>
    site.visit({ as: 'Demo caller 1' }, async (page) => {
      const { visitor } = site;
      const asked = watch(page);
      const before = await visitor.balances();
      await page.goto(`/agents/${agentId}?tab=run`);
      await page.getByLabel('Task').fill('Shout');
      await page.getByRole('textbox', { name: /^Text/ }).fill('hello');
      await page.getByRole('button', { name: 'Run with 0.05 USDC' }).click();
      let finish: () => void = () => undefined;
      mayFinish = new Promise((resolve) => {
        finish = resolve;
      });
      await dialog(page).getByRole('button', { name: 'Run with 0.05 USDC' }).click();
      const output = page.getByRole('region', { name: 'Output so far' });
      await output.getByText(`HEL… ${IMAGE}`).waitFor();
      await output.getByText('not verified yet').waitFor();
      expect((await visitor.balances()).treasury).to.equal(before.treasury);
      finish();
      await page.getByRole('main').getByText(`HELLO ${IMAGE}`).first().waitFor();
      await output.waitFor({ state: 'detached' });
      await until('it is settled', async () => (await visitor.balances()).treasury !== before.treasury);
      const { wallet } = visitor.demo.callers[0]!;
      expect(await visitor.balances()).to.deep.equal({
        ...before,
        [wallet]: before[wallet]! - PRICE,
        [creatorWallet()]: before[creatorWallet()]! + PRICE - FEE,
        treasury: before.treasury! + FEE,
      });
      await page.getByRole('link', { name: 'Call and receipt' }).click();
      await page.waitForURL(/\/executions\/[0-9a-f-]+$/);
      executionId = new URL(page.url()).pathname.split('/').at(-1)!;
      await page.getByRole('main').getByText(`HELLO ${IMAGE}`).first().waitFor();
      await page.getByText(`Louder ${IMAGE}`).first().waitFor();
      await assertInert(page, asked);
    }));

  it('reports the reason of a failure, and the page shows it as text only', () =>
    site.visit({ as: 'Demo caller 1', expected: /status of 500/ }, async (page) => {
      const { visitor } = site;
      const asked = watch(page);
      const before = await visitor.balances();
      await page.goto(`/agents/${agentId}?tab=run`);
      await page.getByLabel('Task').fill('Shout');
      await page.getByRole('textbox', { name: /^Text/ }).fill('silence');
      await page.getByRole('button', { name: 'Run with 0.05 USDC' }).click();
      await dialog(page).getByRole('button', { name: 'Run with 0.05 USDC' }).click();
      await page.getByRole('main').getByText(`Nothing to shout ${IMAGE}`).first().waitFor();
      await until('it is refunded', async () => isDeepStrictEqual(await visitor.balances(), before));
      await assertInert(page, asked);
    }));

  it("shows its creator the request, the server's answer, and why a call was refunded", () =>
    site.visit(CREATOR, async (page) => {
      const asked = watch(page);
      await page.goto(`/creator/${agentId}`);
      await page.getByRole('tab', { name: 'Calls' }).click();
      const calls = page.getByRole('region', { name: 'Calls', exact: true });
      await calls.getByText('Completed', { exact: true }).waitFor();
      // The price without the fee of 1 %.
      await calls.getByText('earned 0.0495 USDC', { exact: true }).waitFor();
      await page.getByLabel('Find by call ID').fill('7f35b');
      await page.getByText('Enter the full ID of a call.').waitFor();
      await page.getByLabel('Find by call ID').fill(` ${executionId}`);
      await calls.getByText(executionId, { exact: true }).waitFor();
      await calls.getByRole('link', { name: 'Show all calls' }).click();
      await page.getByLabel('Only refunds and upheld disputes').click();
      await calls.getByText('Completed', { exact: true }).waitFor({ state: 'detached' });
      // The filter and the tab are in the URL.
      await page.reload();
      await calls.getByText('Refunded 0.05 USDC').first().waitFor();
      expect(await page.getByLabel('Only refunds and upheld disputes').isChecked()).to.equal(true);
      expect(await calls.getByText('Completed', { exact: true }).count()).to.equal(0);
      await calls.getByText(`Nothing to shout ${IMAGE}`).click();
      const fact = (label: string) => calls.locator('dt').filter({ hasText: label }).locator('+ dd');
      expect(await fact('Price').textContent()).to.equal('0.05 USDC');
      expect(await fact('You earned').textContent()).to.equal('0.00 USDC');
      const sent = calls.getByRole('region', { name: 'What was sent' });
      expect(JSON.parse((await sent.textContent())!)).to.deep.include({
        task: 'Shout',
        parameters: { text: 'silence' },
        user_pubkey: site.visitor.demo.callers[0]!.wallet,
      });
      const said = calls.getByRole('region', { name: 'The answer of your server' });
      expect(JSON.parse((await said.textContent())!)).to.include({
        status: 'failed',
        error: `Nothing to shout ${IMAGE}`,
      });
      await assertInert(page, asked);
      await assertAccessibleInEveryLook(page);
      // No line of the table is cut off, and none needs scrolling.
      await page.goto(`/creator/${agentId}`);
      const reasons = page.getByRole('region', { name: 'Failures by reason' });
      await reasons.getByText(`Nothing to shout ${IMAGE}`).waitFor();
      const heights = await page.evaluate<number[][]>(`(() => {
        const table = document.querySelector('[aria-label="Failures by reason"]');
        return [table, table.parentElement].map((box) => [box.scrollHeight, box.clientHeight]);
      })()`);
      for (const [whole, visible] of heights) expect(whole).to.equal(visible);
      await page.setViewportSize(PHONE);
      await assertAccessible(page);
      await assertInert(page, asked);
    }));

  it('shows its creator the calls of all agents, and of which agent each is', () =>
    site.visit(CREATOR, async (page) => {
      await page.goto('/creator');
      await page.getByRole('link', { name: 'Calls of all agents' }).click();
      await page.getByRole('heading', { level: 1, name: 'Calls of all agents' }).waitFor();
      const calls = page.getByRole('region', { name: 'Calls', exact: true });
      await calls.getByText('Completed', { exact: true }).first().waitFor();
      const ofThis = calls.getByText(`${NAME} · ${executionId.slice(0, 4)}`);
      await ofThis.waitFor();
      const { text } = await download(page, page.getByRole('button', { name: 'Download CSV' }));
      const [head, ...lines] = text.trim().split('\r\n');
      expect(head).to.match(/^execution_id,agent_id,agent,task,/);
      expect(lines.find((line) => line.startsWith(executionId))).to.include(`,${agentId},${NAME},`);
      await page.getByLabel('Only refunds and upheld disputes').click();
      await ofThis.waitFor({ state: 'detached' });
      await page.getByLabel('Find by call ID').fill(executionId);
      const agent = calls.locator('dt').filter({ hasText: 'Agent' }).locator('+ dd');
      await agent.getByRole('link', { name: NAME }).waitFor();
      await calls.getByRole('link', { name: 'Show all calls' }).click();
      await page.waitForURL('**/creator/calls');
      // It is named too where it was searched among the calls of another agent.
      await page.goto(`/creator/${site.visitor.agent('text-report').agent_id}?tab=received`);
      await page.getByLabel('Find by call ID').fill(executionId);
      await calls.getByText(`A call of ${NAME}, another of your agents.`).waitFor();
    }));

  it('shows a passed test as the example, and withdraws it', () =>
    site.visit(CREATOR, async (page) => {
      const exampleOf = async () => {
        const path = `/trpc/agents.example?input=${encodeURIComponent(JSON.stringify({ agent_id: agentId }))}`;
        return (await site.visitor.send(path, null)).body.result.data.example;
      };
      await page.goto(`/creator/${agentId}`);
      await page.getByRole('tab', { name: 'Test' }).click();
      await page.getByRole('textbox', { name: /^Text/ }).fill('hello');
      await page.getByLabel('Show it as the example').check();
      await page.getByRole('button', { name: 'Run the test' }).click();
      await page.getByText('The agent’s page shows an example').waitFor();
      expect((await exampleOf()).parameters).to.deep.equal({ text: 'hello' });
      await recordTexts(page);
      await page.getByRole('button', { name: 'Withdraw it' }).click();
      await untilShown(page, 'Example withdrawn');
      expect(await exampleOf()).to.equal(null);
      await page.getByText('The agent’s page shows an example').waitFor({ state: 'detached' });
    }));

  it('changes the price of the agent and nothing else, pauses it and resumes it', () =>
    site.visit(CREATOR, async (page) => {
      await page.goto(`/creator/${agentId}`);
      await figure(page, 'Earned in all, after the fee', '0.0495 USDC').waitFor();
      const before = await shownAgent();
      await page.getByRole('tab', { name: 'Edit' }).click();
      await page.getByLabel('Price of one call, USDC').fill('0.055');
      await page.getByRole('button', { name: 'Save changes' }).click();
      await dialog(page).getByText('0.05 USDC → 0.055 USDC').waitFor();
      await sign(page, 'Sign the changes');
      await until('callers see the price', async () => (await shownAgent()).price_per_call_usdc === 0.055);
      // A result can have 64 KiB for each cent.
      const max_result_bytes = 5.5 * 65_536;
      expect(await shownAgent()).to.deep.equal({ ...before, price_per_call_usdc: 0.055, max_result_bytes });

      // The test's input is on another tab. A fault there blocks the signature, but not the edits.
      await page.getByRole('tab', { name: 'Test', exact: true }).click();
      await page.getByRole('textbox', { name: /^Text/ }).fill('');
      await page.getByRole('tab', { name: 'Edit' }).click();
      await page.getByLabel('Price of one call, USDC').fill('0.06');
      await page.getByRole('tab', { name: 'Edit and price (unsaved)' }).waitFor();
      await page.getByRole('main').getByRole('link', { name: 'Your agents' }).click();
      await dialog(page).getByText('not signed yet').waitFor();
      await dialog(page).getByRole('button', { name: 'Stay' }).click();
      const held = await collateral();
      await page.getByRole('button', { name: 'Save changes' }).click();
      await dialog(page).getByText('The test has no valid request').waitFor();
      expect(await dialog(page).getByRole('button', { name: 'Sign the changes' }).isDisabled()).to.equal(true);
      await dialog(page).getByRole('button', { name: 'Change what it sends' }).click();
      await page.getByRole('textbox', { name: /^Text/ }).fill('hello');
      await page.getByRole('tab', { name: 'Edit and price (unsaved)' }).click();
      await page.getByRole('button', { name: 'Save changes' }).click();
      await dialog(page).getByText('0.055 USDC → 0.06 USDC').waitFor();
      await sign(page, 'Sign the changes');
      await until('callers see the price', async () => (await shownAgent()).price_per_call_usdc === 0.06);
      expect(await collateral()).to.equal(held);
      for (const [name, status, shown] of [
        ['Pause', 'paused', 'Paused'],
        ['Resume', 'active', 'Active'],
      ] as const) {
        await page.getByRole('main').getByRole('button', { name, exact: true }).click();
        await sign(page, name);
        await until(`it is ${status}`, async () => (await shownAgent()).status === status);
        await page.getByRole('main').getByText(shown, { exact: true }).first().waitFor();
      }
    }));

  it('pays for an upheld dispute from the collateral', async () => {
    const { visitor } = site;
    const evidence = join(site.dataDir, 'shouter.txt');
    const complaint = 'It was not loud.\n';
    writeFileSync(evidence, complaint);
    const { keypair_path, wallet } = visitor.demo.callers[0]!;
    await visitor.command(keypair_path, 'dispute', 'open', executionId, '--evidence', evidence, '--hash-only');
    await visitor.sendUntil(`/v1/executions/${executionId}`, 0, ({ body }) => body.status === 'disputed');
    await giveEvidence(site, executionId, complaint);
    const [before, held] = [await visitor.balances(), await collateral()];
    await site.visit(CREATOR, async (page) => {
      await page.goto(`/creator/${agentId}?tab=received`);
      await page.getByRole('link', { name: 'Dispute open: read the dispute' }).waitFor();
      await page.getByRole('tab', { name: 'Overview' }).click();
      // Twenty times the price, as far as the collateral reaches.
      const most = Math.min(1, Number(held) / 1e6).toFixed(2);
      const atStake = `If you lose: up to ${most} USDC of collateral (20 times the price, at most 0.05 USDC of it for the caller), and any award pauses the agent.`;
      const untilWhen = page.getByText(/Reply by .*; the decision can come earlier\./);
      await untilWhen.filter({ hasText: atStake }).waitFor();
      const own = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Your agents' });
      await own.filter({ hasText: /^Your agents\d+ disputes? without your reply$/ }).waitFor();
      expect(await own.getAttribute('aria-current')).to.equal('page');
      await page.getByRole('link', { name: 'Read and reply' }).waitFor();
      await page.goto('/disputes');
      await page.getByRole('link', { name: 'Read and reply' }).first().click();
      await page.waitForURL(`**/disputes/${executionId}`);
      await page.getByRole('region', { name: 'Evidence' }).getByText(complaint.trim()).waitFor();
      await page.getByText(`If you win: the caller’s bond of 0.01 SOL. ${atStake}`).waitFor();
      await page.getByRole('heading', { name: /^Reply by / }).waitFor();
      // It belongs to the agent: the header, the way back and the call lead there.
      expect(await own.getAttribute('aria-current')).to.equal('true');
      await page.getByRole('link', { name: /^Call / }).click();
      const call = page.getByRole('region', { name: 'Calls', exact: true });
      await call.getByText(executionId, { exact: true }).waitFor();
      await call.getByRole('region', { name: 'What was sent' }).waitFor();
      await page.goBack();
      await page.getByRole('link', { name: NAME, exact: true }).click();
      await page.getByRole('tab', { name: 'Disputes 1 open', selected: true }).waitFor();
      await page.getByRole('link', { name: 'Read and reply' }).click();
      await page.getByRole('region', { name: 'Task' }).getByText('Shout').first().waitFor();
      await page.getByRole('region', { name: 'Parameters' }).getByText('text: hello').waitFor();
      await page.getByRole('main').getByText(`HELLO ${IMAGE}`).filter({ visible: true }).first().waitFor();
      await page.getByLabel('Your reply').fill('As loud as letters are.');
      await page.getByRole('button', { name: 'Send reply' }).click();
      await page.getByRole('button', { name: 'Replace reply' }).waitFor();
    });
    await site.visit({ as: 'Demo caller 1' }, async (page) => {
      await page.goto(`/disputes/${executionId}`);
      await page.getByText('As loud as letters are.').waitFor();
      await page.getByRole('region', { name: 'Evidence' }).getByText(complaint.trim()).waitFor();
    });
    await site.visit({ as: 'Demo admin' }, async (page) => {
      const asked = watch(page);
      await page.goto(`/admin/disputes/${executionId}`);
      await page.getByText('As loud as letters are.').waitFor();
      await page.getByRole('radio', { name: 'Uphold' }).click();
      await page.getByLabel('Reason').fill('It was not loud.');
      await assertInert(page, asked);
      await page.getByRole('button', { name: 'Review the decision' }).click();
      await sign(page, 'Sign and uphold');
    });
    expect(await visitor.balances()).to.deep.equal({ ...before, [wallet]: before[wallet]! + PRICE });
    expect(await collateral()).to.equal(held - PRICE);
    await site.visit(CREATOR, async (page) => {
      await assertSameFigures(page, site.visitor, agentId);
      await page.goto(`/creator/${agentId}`);
      await figure(page, 'Collateral', `${Number(held - PRICE) / 1e6} USDC`).waitFor();
      // Callers read the same reason, and its creator is one click away from managing it.
      await page.getByRole('link', { name: 'See its page' }).click();
      const why = page.getByRole('region', { name: 'Why it cannot be called' });
      await why.getByText('Paused after an upheld dispute').waitFor();
      await why.getByText('0.05 USDC of its collateral went to disputes.').waitFor();
      const similar = page.getByRole('region', { name: 'Similar agents' });
      await similar.getByRole('link', { name: 'text-report' }).waitFor();
      await page.getByRole('link', { name: 'Manage', exact: true }).click();
      // The page says why the agent is paused and how much is missing. Resuming deposits that amount.
      await page.getByText('Paused: its collateral is too low').waitFor();
      await page.getByText('Upheld disputes took 0.05 USDC of its collateral.').waitFor();
      await page.getByRole('button', { name: 'Top up' }).first().waitFor();
      await page.getByRole('main').getByRole('button', { name: 'Resume', exact: true }).click();
      await dialog(page).getByText('it needs 0.05 USDC more').waitFor();
      await sign(page, 'Deposit 0.05 USDC and resume');
      await until('callers can buy from it', async () => (await shownAgent()).status === 'active');
      expect(await collateral()).to.equal(held);
      await page.goto('/disputes');
      const shown = page.locator('section').filter({ has: page.locator(`[title="${executionId}"]`) });
      await shown.getByText('Dispute upheld', { exact: true }).waitFor();
      await shown.getByText('It was not loud.').waitFor();
    });
  });

  it('delists the agent: nobody can call it any more, and its collateral waits', () =>
    site.visit(CREATOR, async (page) => {
      await page.goto(`/creator/${agentId}`);
      await page.getByRole('tab', { name: 'Manage' }).click();
      await page.getByRole('button', { name: 'Delist this agent' }).click();
      const held = await collateral();
      await sign(page, 'Delist permanently');
      const listed = async () => (await site.visitor.send('/v1/agents?q=Shouter', null)).body.total;
      await until('the catalogue is without it', async () => (await listed()) === 0);
      expect(await collateral()).to.equal(held);
      const back = page.getByRole('button', { name: 'Return collateral' });
      await back.waitFor();
      expect(await back.isDisabled()).to.equal(true);
    }));
});
