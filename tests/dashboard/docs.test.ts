/** /docs as a part of the page: its frame, and a guide that works without scripts. */
import { expect } from 'chai';
import { until } from '../harness/edge/until.ts';
import { assertAccessible, DESKTOP, PHONE, recordTexts, untilShown } from './browser.ts';
import { focused } from './keys.ts';
import { assertAccessibleInEveryLook } from './looks.ts';
import { useSite } from './site.ts';

/** Distance of an element from the upper edge of the window. */
const TOP_OF = (selector: string) => `document.querySelector('${selector}').getBoundingClientRect().top`;

/** Height of the header on a phone, with its border. */
const ONE_ROW = 57;

/** A balance of a thousand times what most wallets hold, in the place of the shown one. */
const LONG_BALANCE = `(() => {
  const shown = document.querySelector('header button [title$=USDC]');
  shown.firstChild.data = '1,234,567.89 USDC';
})()`;

/** Texts of the header that break into several lines. */
const BROKEN_TEXTS = `(() => {
  const found = [];
  const texts = document.createTreeWalker(document.querySelector('header'), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    const tops = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
    if (tops.size > 1 && !texts.currentNode.parentElement.closest('.sr-only')) found.push(texts.currentNode.data);
  }
  return found;
})()`;

/** All coloured words of the page, and those outside of code, which must have none. */
const COLOURED = `[...CSS.highlights].flatMap(([kind, ranges]) => [...ranges].map(
  (range) => (range.startContainer.parentElement.closest('pre') ? '' : 'outside code: ') + kind + ' ' + range))`;

describe('the guide of the page', function () {
  this.timeout(600_000);
  const site = useSite();

  it('has the frame of the page, and links there and home', () =>
    site.visit({ as: 'Demo caller 1' }, async (page) => {
      await page.goto('/');
      const head = page.getByRole('banner');
      await head.getByRole('link', { name: 'Docs' }).click();
      await page.getByRole('heading', { level: 1, name: 'Docs' }).waitFor();
      expect(await page.title()).to.equal('TEST · Docs · Agent Marketplace');
      expect(await head.getByRole('link', { name: 'Docs' }).getAttribute('aria-current')).to.equal('page');
      // Still signed in.
      await head.getByRole('button', { name: '…' }).waitFor();
      await page.getByRole('main').getByRole('link', { name: 'API keys' }).first().click();
      await page.getByRole('button', { name: 'Create API key' }).first().waitFor();
      await page.goto('/docs');
      await head.getByRole('link', { name: 'Agent Marketplace' }).click();
      await page.getByRole('heading', { level: 1, name: 'AI agents that you pay per call' }).waitFor();
      expect(new URL(page.url()).pathname).to.equal('/');
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: 'Docs' }).waitFor();

      // A long balance breaks nothing: first the keys of the search disappear, the name stays.
      await head.getByText('USDC').waitFor();
      for (const width of [1024, 1280]) {
        await page.setViewportSize({ width, height: DESKTOP.height });
        await page.evaluate(LONG_BALANCE);
        expect(await page.evaluate(BROKEN_TEXTS), `${width}`).to.deep.equal([]);
        const [whole, name] = [await head.boundingBox(), await head.getByText('Agent Marketplace').boundingBox()];
        expect(name!.y + name!.height, `${width}`).to.be.below(whole!.y + whole!.height);
        expect(await page.evaluate('document.documentElement.scrollWidth'), `${width}`).to.be.at.most(width);
      }
    }));

  it('has on a phone a header of one row, with a menu of all views that closes by a choice and by Escape', () =>
    site.visit({ as: 'Demo admin' }, async (page) => {
      await page.goto('/terms');
      const head = page.getByRole('banner');
      await head.getByText('USDC').waitFor();
      await page.setViewportSize(PHONE);
      await until('it is one row', async () => (await head.boundingBox())!.height <= ONE_ROW);
      await page.evaluate(LONG_BALANCE);
      const button = (await head.getByRole('button', { name: 'Menu' }).boundingBox())!;
      expect(button.x + button.width).to.be.at.most(PHONE.width);
      await head.getByRole('button', { name: 'Menu' }).click();
      const menu = page.getByRole('dialog', { name: 'Menu' });
      await assertAccessible(page);
      expect(await focused(page)).to.equal('Close the menu');
      await page.keyboard.press('Escape');
      // Its name may end with a number of open disputes.
      await until('the focus is on the button', async () => (await focused(page)).startsWith('Menu'));
      expect(await menu.isVisible()).to.equal(false);
      await page.keyboard.press('Enter');
      for (const name of ['Verify', 'Activity', 'List an agent', 'Webhooks'])
        await menu.getByRole('link', { name }).waitFor();
      await menu.getByRole('link', { name: 'Admin' }).click();
      await page.getByRole('tab', { name: 'State', selected: true }).waitFor();
      expect(await menu.isVisible()).to.equal(false);
    }));

  it('opens the route of a link, below the header, even when the page loads later; accessible and as wide as the window', () =>
    site.visit({}, async (page) => {
      for (const id of ['errors', 'executeAgent']) {
        await page.goto(`/docs?${id}#${id}`);
        await until(`${id} is below the header`, async () => {
          const top = await page.evaluate<number>(TOP_OF(`#${id}`));
          return top >= 0 && top <= 300;
        });
      }
      await page.locator('#executeAgent').getByText("curl -s '").waitFor();
      const contents = page.getByRole('navigation', { name: 'Contents' });
      await contents.getByRole('link', { name: 'Retries' }).click();
      await until('it has scrolled', async () => Number(await page.evaluate(TOP_OF('#retries'))) < 300);
      await page.locator('#getDailyStatement > summary').click();
      await page.locator('#getDailyStatement[open]').waitFor();
      await assertAccessibleInEveryLook(page);
    }));

  it('shows and colours one language for all code, chosen by the keyboard and kept, and copies every block', () =>
    site.visit({}, async (page) => {
      await page.goto('/docs#executeAgent');
      const code = (place: string, text: string) => page.locator(`#${place}`).getByText(text).first();
      await code('executeAgent', "curl -s '").waitFor();
      const coloured = () => page.evaluate<string[]>(COLOURED);
      await until('code is coloured', async () => (await coloured()).includes('code-comment # see Keys, below'));
      const words = await coloured();
      const some = ['code-keyword export', 'code-keyword await', 'code-keyword def', 'code-name "execution_id"'];
      expect(words).to.include.members(some);
      expect(words.filter((word) => word.startsWith('outside'))).to.deep.equal([]);

      await page.locator('#executeAgent').getByRole('radio', { name: 'curl' }).focus();
      await page.keyboard.press('ArrowLeft');
      await code('executeAgent', 'import requests').waitFor();
      expect(await code('executeAgent', "curl -s '").isVisible()).to.equal(false);
      await code('x402', 'pay_with_x402(').waitFor();

      await page.reload();
      await code('x402', 'pay_with_x402(').waitFor();
      await page.locator('#listAgents > summary').click();
      await code('listAgents', 'import requests').waitFor();
      await recordTexts(page);
      await page.locator('#listAgents .code').getByRole('button', { name: 'Copy' }).click();
      await untilShown(page, 'Copied');
      const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
      expect(await copied()).to.match(/^import requests[\s\S]*\/v1\/agents/);

      const isAlone = "!document.querySelector('.guide pre:not(.code pre, .block pre)')";
      expect(await page.evaluate(isAlone), 'every block has a button').to.equal(true);
      await page
        .locator('.block', { has: page.locator('#first-call') })
        .getByRole('button', { name: 'Copy' })
        .click();
      await until('the first call is copied', async () => (await copied()).startsWith('export MARKETPLACE_URL='));
    }));

  it('finds words, and marks the section in view', () =>
    site.visit({ phone: true }, async (page) => {
      await page.goto('/docs');
      const contents = page.getByRole('navigation', { name: 'Contents' });
      const field = contents.getByRole('searchbox', { name: 'Search the docs' });
      const current = () => contents.locator('a[aria-current="true"]').getAttribute('href');
      await until('the first section is current', async () => (await current()) === '#start');
      await contents.getByText('Overview').first().click();
      await contents.getByRole('link', { name: 'Receipts' }).click();
      await until('the chosen section is current', async () => (await current()) === '#receipts');
      expect(await contents.getByRole('link', { name: 'Receipts' }).isVisible(), 'closed again').to.equal(false);

      await field.fill('zebra crossing');
      await contents.getByText('Nothing has these words.').waitFor();
      await field.fill('idempotency_key_reused');
      await contents.getByRole('link', { name: 'Retries' }).waitFor();
      await assertAccessible(page);
      await field.fill('list webhooks');
      await contents.getByRole('link', { name: '/v1/webhooks' }).first().waitFor();
      await field.press('Enter');
      await page.locator('details[id="listWebhooks"][open]').waitFor();
      await until('the group of the route is current', async () => (await current())!.startsWith('#tag-'));
      expect(await field.inputValue()).to.equal('');
    }));

  it('is complete without scripts', async () => {
    await site.visit({ scripts: false }, async (page) => {
      await page.goto('/docs#listAgents');
      await page.getByRole('heading', { level: 1, name: 'Docs' }).waitFor();
      expect(await page.getByText('This page needs JavaScript').count()).to.equal(0);
      await page.locator('#listAgents > summary').click();
      const route = page.locator('#listAgents');
      await route.getByText("curl -s '").waitFor();
      await route.getByText('Python', { exact: true }).click();
      await route.getByText('import requests').waitFor();
      expect(await route.getByText("curl -s '").isVisible()).to.equal(false);
      await page.getByRole('banner').getByRole('link', { name: 'Agent Marketplace' }).waitFor();
    });
  });
});
