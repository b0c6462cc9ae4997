/** /docs as a part of the page: its frame, and a guide that works without scripts. */
import { expect } from 'chai';
import { until } from '../harness/edge/until.ts';
import { assertAccessible, DESKTOP, PHONE, recordTexts, untilShown } from './browser.ts';
import { useSite } from './site.ts';

/** Distance of an element from the upper edge of the window. */
const TOP_OF = (selector: string) => `document.querySelector('${selector}').getBoundingClientRect().top`;

/** Height of the header on a phone, in two rows: name with account, and links. */
const TWO_ROWS = 105;

describe('the guide of the page', function () {
  this.timeout(600_000);
  const site = useSite();

  it('has the frame of the page, and links there and home', () =>
    site.visit({ as: 'Demo caller 1' }, async (page) => {
      await page.goto('/');
      const head = page.getByRole('banner');
      await head.getByRole('link', { name: 'Docs' }).click();
      await page.getByRole('heading', { level: 1, name: 'Guide and API' }).waitFor();
      expect(await page.title()).to.equal('TEST · Guide and API · Agent Marketplace');
      expect(await head.getByRole('link', { name: 'Docs' }).getAttribute('aria-current')).to.equal('page');
      // Still signed in.
      await head.getByRole('link', { name: 'API keys' }).waitFor();
      await page.getByRole('main').getByRole('link', { name: 'API keys' }).first().click();
      await page.getByRole('button', { name: 'Create API key' }).first().waitFor();
      await page.goto('/docs');
      await head.getByRole('link', { name: 'Agent Marketplace' }).click();
      await page.getByRole('heading', { level: 1, name: 'AI agents that you pay per call' }).waitFor();
      expect(new URL(page.url()).pathname).to.equal('/');
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: 'Guide and API' }).waitFor();
    }));

  it('leaves room in the header for every link of the admin, and uses two rows on a phone', () =>
    site.visit({ as: 'Demo admin' }, async (page) => {
      await page.goto('/docs');
      await page.getByRole('banner').getByRole('link', { name: 'Admin' }).waitFor();
      await page.getByRole('banner').getByText('USDC').waitFor();
      const hidden = await page.evaluate<number>(
        `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('nav[aria-label="Main"]'))`,
      );
      expect(hidden).to.equal(0);
      await page.setViewportSize(PHONE);
      expect((await page.getByRole('banner').boundingBox())!.height).to.be.at.most(TWO_ROWS);
    }));

  it('is accessible, and fits a phone and a desktop', () =>
    site.visit({ phone: true, dark: true }, async (page) => {
      for (const route of ['executeAgent', 'getDailyStatement']) await page.goto(`/docs#${route}`);
      await page.locator('#getDailyStatement[open]').waitFor();
      await assertAccessible(page);
      await page.setViewportSize(DESKTOP);
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(DESKTOP.width);
    }));

  it('opens the route of a link, below the header, even when the page loads later than the document', () =>
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
      await page.waitForFunction(`${TOP_OF('#retries')} < 300`);
    }));

  it('shows one language for all routes, chosen by the keyboard', () =>
    site.visit({}, async (page) => {
      await page.goto('/docs#executeAgent');
      const code = (route: string, text: string) => page.locator(`#${route}`).getByText(text);
      await code('executeAgent', "curl -s '").waitFor();
      await page.locator('#executeAgent').getByRole('radio', { name: 'curl' }).focus();
      await page.keyboard.press('ArrowLeft');
      await code('executeAgent', 'import requests').waitFor();
      expect(await code('executeAgent', "curl -s '").isVisible()).to.equal(false);
      await page.locator('#listAgents > summary').click();
      await code('listAgents', 'import requests').waitFor();
      await recordTexts(page);
      await page.locator('#listAgents').getByRole('button', { name: 'Copy' }).click();
      await untilShown(page, 'Copied');
      expect(await page.evaluate('navigator.clipboard.readText()')).to.match(/^import requests[\s\S]*\/v1\/agents/);
    }));

  it('is complete without scripts', async () => {
    await site.visit({ scripts: false }, async (page) => {
      await page.goto('/docs#listAgents');
      await page.getByRole('heading', { level: 1, name: 'Guide and API' }).waitFor();
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
