/**
 * The main path of each role on a line with 400 ms of latency, by keyboard alone. A creator lists an agent, a caller
 * buys from it and disputes, the creator replies, the admin decides, and anybody verifies. The page never shows a wrong
 * amount, never moves the focused element, and loses no action.
 */
import type { Server } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { createCreatorServer, generateSigningKey, loadSigningKey } from '../../app/sdk/creator/creator.ts';
import { useServers } from '../harness/edge/listen.ts';
import { until } from '../harness/edge/until.ts';
import { dialog, type Person, progress, untilLoaded } from './browser.ts';
import { focused, pressOn, tabTo, typeInto, untilFocused } from './keys.ts';
import { useSite } from './site.ts';

const LATENCY_MS = 400;
const CREATOR = 'Demo creator B';
const CALLER = 'Demo caller 2';
const NAME = 'Slow and steady';
const COMPLAINT = 'I asked for more than this.';
const REPLY = 'It is what was asked for.';
const REASON = 'It is what was asked for.';
/** The price, the collateral, what an upheld dispute leaves of it, the bond, and the deposit. */
const AT_STAKE = /^(0\.05|0\.95|1\.00) USDC$|^(0\.01|0\.00204724) SOL$/;
/**
 * Records every amount shown, and every focused element that moves. Chromium marks layout shifts that a key press
 * caused.
 */
const OBSERVE = `(() => {
  const shown = (window.shownAmounts = new Set());
  const read = () => {
    for (const part of document.querySelectorAll('main, [role=dialog]'))
      for (const [amount] of part.innerText.matchAll(/(?:\\d[\\d.,]*|NaN|null|undefined) (?:USDC|SOL)\\b/g)) shown.add(amount);
  };
  new MutationObserver(read).observe(document, { subtree: true, childList: true, characterData: true });
  const moved = (window.movedUnderFocus = []);
  // A busy button ignores whoever presses it.
  const isIdle = (focus) => focus === document.body || focus.getAttribute('aria-busy') === 'true';
  new PerformanceObserver((list) => {
    const focus = document.activeElement;
    for (const { hadRecentInput, sources } of list.getEntries())
      for (const { node, previousRect, currentRect } of hadRecentInput || isIdle(focus) ? [] : sources)
        if (node?.contains?.(focus) && Math.abs(previousRect.y - currentRect.y) > 1)
          moved.push(focus.textContent.slice(0, 60) + ': ' + previousRect.y + ' > ' + currentRect.y);
  }).observe({ type: 'layout-shift', buffered: true });
})();`;

describe('on a slow line, with the keyboard alone', function () {
  this.timeout(600_000);
  // Each role continues where the one before ended.
  this.bail(true);
  const site = useSite();
  const serve = useServers();
  let creator: Server;
  let endpoint: string;
  let agentId: string;
  let executionId: string;

  const signWith = (signingKey: Uint8Array) => {
    creator = createCreatorServer({ signingKey, execute: async ({ task }) => ({ result: `done: ${task}` }) });
  };
  before(async () => {
    signWith(generateSigningKey());
    endpoint = `${await serve((request, response) => void creator.emit('request', request, response))}/execute`;
  });

  /** `amounts` matches every amount that the page is allowed to show. */
  const visitSlowly = (as: Person | undefined, path: string, amounts: RegExp, walk: (page: Page) => Promise<void>) =>
    site.visit({ as }, async (page, { context }) => {
      await page.addInitScript({ content: OBSERVE });
      const line = await context.newCDPSession(page);
      await line.send('Network.enable');
      const conditions = { offline: false, latency: LATENCY_MS, downloadThroughput: -1, uploadThroughput: -1 };
      await line.send('Network.emulateNetworkConditions', conditions);
      await page.goto(path);
      await untilLoaded(page);
      await walk(page);
      const [shown, moved] = await page.evaluate<[string[], string[]]>('[[...shownAmounts], movedUnderFocus]');
      const wrong = shown.filter((amount) => !amounts.test(amount));
      expect(wrong, wrong.join('; ')).to.deep.equal([]);
      expect(moved, moved.join('; ')).to.deep.equal([]);
    });

  /** Presses the signing button of a dialog, and waits until the dialog closes. */
  async function sign(page: Page, name: string): Promise<void> {
    await pressOn(page, name);
    await dialog(page).waitFor({ state: 'detached' });
    await until('the focus is somewhere', async () => (await focused(page)) !== 'nothing');
  }

  it('a creator lists an agent', () =>
    visitSlowly(
      CREATOR,
      '/creator/new',
      // The wallet's balance is the only amount of three digits that begins with 9. The SOL are of the accounts, of the bond on the agent's page, and of the wallet.
      /^((0\.01|0\.10|1\.00|5\.00|10\.00|25\.00|100\.00|0\.0495|0\.05|0\.005|0\.055|1|9\d\d\.\d+) USDC|(0\.00\d+|0\.01|\d{3}\.\d+) SOL)$/,
      async (page) => {
        const next = async (title: string) => {
          await pressOn(page, `Next: ${title}`);
          await untilFocused(page, title);
        };
        await typeInto(page, 'Name', NAME);
        await typeInto(page, 'Creator name', 'Somebody patient');
        await typeInto(page, 'Tagline', 'Repeats what was asked.');
        await typeInto(page, 'Description', 'It says done, and the task.');
        await pressOn(page, 'writing');
        await next('Schemas');
        await page.getByRole('textbox', { name: 'Input schema' }).waitFor();
        await next('Price');
        await typeInto(page, 'Price of one call, USDC', '0.05');
        await next('Endpoint');
        await typeInto(page, 'Endpoint', endpoint);
        await next('Signing key');
        await pressOn(page, 'Create a signing key');
        await page.getByText('It exists on this page only').waitFor();
        await tabTo(page, 'Save the key file');
        const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
        const file = join(site.dataDir, download.suggestedFilename());
        await download.saveAs(file);
        signWith(loadSigningKey(file));
        await page.getByText('Saved as a file').waitFor();
        await next('Test');
        // The form is loaded when it is first needed.
        await page.getByRole('textbox', { name: /^Text/ }).waitFor();
        await typeInto(page, 'Text', 'hello');
        await pressOn(page, 'Run the test');
        await page.getByText('The endpoint passed').waitFor();
        await untilFocused(page, 'Test again');
        await next('Sign');
        const list = page.getByRole('button', { name: /^Deposit .* and list$/ });
        const deposit = /[\d.]+/.exec((await list.textContent())!)![0];
        await pressOn(page, `Deposit ${deposit} USDC and list`);
        await dialog(page).getByText('Your USDC account').waitFor();
        await sign(page, `Sign and deposit ${deposit} USDC`);
        await page.getByRole('heading', { level: 1, name: 'Your agent is listed' }).waitFor();
        await pressOn(page, 'See its page');
        await page.waitForURL(/\/agents\/\w+$/);
        agentId = new URL(page.url()).pathname.split('/').at(-1)!;
      },
    ));

  it('a caller buys from the agent, and disputes the result', () =>
    visitSlowly(
      CALLER,
      `/agents/${agentId}?tab=run`,
      // The call also costs fees and deposits. The dialog of the dispute shows what is at stake, and the balance.
      /^(0\.05|0\.0495|0\.0005|1,000\.00|999\.95|0\.95|1\.00|5\.00) USDC$|^(0\.000015|0\.00363728|0\.00148844|0\.00214884|0\.00365228|0\.0037|0\.01|0\.00204724|0\.000005|0\.01205224|\d{3}\.\d+) SOL$/,
      async (page) => {
        await typeInto(page, 'Task', 'take your time');
        await typeInto(page, 'Text', 'hello');
        await pressOn(page, 'Run with 0.05 USDC');
        await dialog(page).getByText('Into escrow', { exact: true }).waitFor();
        await sign(page, 'Run with 0.05 USDC');
        await progress(page, 'Completed').waitFor();
        await page.getByRole('main').getByText('done: take your time').first().waitFor();
        await pressOn(page, 'Call and receipt');
        await page.waitForURL(/\/executions\/[0-9a-f-]+$/);
        executionId = new URL(page.url()).pathname.split('/').at(-1)!;
        await page.getByRole('button', { name: 'Open a dispute' }).waitFor();
        await pressOn(page, 'Open a dispute');
        await typeInto(page, 'What is wrong', COMPLAINT);
        await sign(page, 'Pay and open');
        await page.getByText('The admin should decide by').waitFor();
      },
    ));

  it('the creator reads the dispute and replies', () =>
    visitSlowly(CREATOR, '/disputes', AT_STAKE, async (page) => {
      await page.getByRole('link', { name: 'Read and reply' }).first().waitFor();
      await pressOn(page, 'Read and reply');
      await page.waitForURL(`**/disputes/${executionId}`);
      await page.getByRole('region', { name: 'Evidence' }).getByText(COMPLAINT).waitFor();
      await typeInto(page, 'Your reply', REPLY);
      await pressOn(page, 'Send reply');
      await page.getByRole('button', { name: 'Replace reply' }).waitFor();
      await page.getByRole('main').getByText(REPLY).first().waitFor();
    }));

  it('the admin decides the dispute', () =>
    visitSlowly('Demo admin', `/admin/disputes/${executionId}`, AT_STAKE, async (page) => {
      await page.getByText(REPLY).waitFor();
      await page.getByRole('radio', { name: 'Reject' }).waitFor();
      await pressOn(page, 'Skip to the content');
      // Skips the case itself, which has many values to copy.
      await tabTo(page, NAME);
      await tabTo(page, 'Uphold: the caller is right');
      // A held arrow key also chooses the option.
      await page.keyboard.press('ArrowDown');
      await untilFocused(page, 'Reject: the creator is right');
      await page.keyboard.press('Space');
      await page.getByRole('radio', { name: 'Reject', checked: true }).waitFor();
      await typeInto(page, 'Reason (final; both sides and admins read it)', REASON);
      await pressOn(page, 'Review the decision');
      await dialog(page).getByText('gets the bond of 0.01 SOL').waitFor();
      await sign(page, 'Sign and reject');
      await page.getByRole('heading', { name: 'The decision' }).waitFor();
      await page.getByText(REASON).first().waitFor();
    }));

  it('the caller reads the decision, and anybody verifies the execution', async () => {
    await visitSlowly(CALLER, `/disputes/${executionId}`, AT_STAKE, async (page) => {
      await page.getByText(REASON).first().waitFor();
      await page.getByText('Dispute rejected', { exact: true }).first().waitFor();
    });
    await visitSlowly(undefined, '/verify', /^(0\.05|0\.0495|0\.0005) USDC$/, async (page) => {
      const { body: receipt } = await site.visitor.send(`/v1/executions/${executionId}/receipt`, 1);
      await typeInto(page, 'Call ID', executionId);
      await page.keyboard.press('Enter');
      const verdict = page.getByRole('region', { name: 'Result' }).getByRole('heading', { level: 2 });
      await verdict.filter({ hasText: 'was paid for this call' }).waitFor();
      await pressOn(page, 'Verify another call, or use another node');
      // Wait for it before pressing the key: only then does the browser report file choosers.
      const choosing = page.waitForEvent('filechooser');
      await tabTo(page, 'Choose a receipt');
      await page.keyboard.press('Enter');
      const chooser = await choosing;
      const buffer = Buffer.from(JSON.stringify(receipt));
      await chooser.setFiles({ name: 'receipt.json', mimeType: 'application/json', buffer });
      await verdict.filter({ hasText: 'Genuine: the creator signed exactly this result' }).waitFor();
    });
  });
});
