/** With the keyboard alone, a person finds, runs and pays an agent, and the focus is never lost. */
import { expect } from 'chai';
import { deferred, until } from '../harness/edge/until.ts';
import { progress, untilLoaded } from './browser.ts';
import { focused, tabTo, untilFocused } from './keys.ts';
import { useSite } from './site.ts';

describe('with the keyboard alone', function () {
  this.timeout(600_000);
  const site = useSite();

  it('the first agent is three Tabs away', () =>
    site.visit({ as: 'Demo caller 1' }, async (page) => {
      await page.goto('/');
      const first = page.locator('#agents a').first();
      const name = (await first.textContent())!.trim();
      await page.keyboard.press('Tab');
      expect(await focused(page)).to.equal('Skip to the content');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      expect(await focused(page)).to.equal('Skip to the agents');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      expect(await focused(page)).to.equal(name);
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/agents\/\w+$/);
    }));

  it('Ctrl-K finds pages, agents, and a call by its task or its id', () =>
    site.visit({ as: 'Demo caller 1' }, async (page) => {
      const { body } = await site.visitor.execute('sandbox-echo', { task: 'Echo to be found' });
      const search = page.getByRole('dialog', { name: 'Search' });
      const option = (name: string) => search.getByRole('option', { name }).first();
      /** Selects it by the arrow keys: agents with the sought words can be above it. */
      const select = async (name: string) => {
        await option(name).waitFor();
        await until(`${name} is selected`, async () => {
          if ((await search.getByRole('option', { name, selected: true }).count()) > 0) return true;
          await page.keyboard.press('ArrowDown');
          return false;
        });
      };
      const open = async () => {
        // A new page takes the focus once it is there.
        await untilLoaded(page);
        await page.keyboard.press('Control+k');
        // Not the button of the same name, which has the focus before.
        await search.getByRole('combobox').and(page.locator(':focus')).waitFor();
      };
      await page.goto('/');
      await tabTo(page, 'Search');
      await page.keyboard.press('Enter');
      await search.getByRole('combobox').waitFor();
      await page.keyboard.press('Escape');
      await untilFocused(page, 'Search');
      expect(await search.count()).to.equal(0);

      await open();
      await page.keyboard.type('webhook');
      await option('Webhooks').waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL('**/webhooks');

      await open();
      await page.keyboard.type('no such agent anywhere');
      await search.getByText('Nothing was found').waitFor();
      await page.keyboard.press('Control+A');
      await page.keyboard.type('sandbox-echo');
      await option('All calls of sandbox-echo').waitFor();
      await select('sandbox-echo');
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/agents/${site.visitor.agent('sandbox-echo').agent_id}`);

      await open();
      await page.keyboard.type('to be found');
      await select('Echo to be found');
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/executions/${body.execution_id}`);

      await open();
      await page.keyboard.type('retries');
      await select('Search the docs for “retries”');
      await page.keyboard.press('Enter');
      await page.waitForURL('**/docs?q=retries');
      const field = page.getByRole('searchbox', { name: 'Search the docs' });
      await until('the words are in the field', async () => (await field.inputValue()) === 'retries');

      await page.goto('/');
      await open();
      await page.keyboard.type(body.execution_id.slice(-5));
      await option('Echo to be found').waitFor();
      await page.keyboard.press('Control+A');
      await page.keyboard.insertText(body.execution_id);
      await option('Verify this call').waitFor();
      await select('Open this call');
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/executions/${body.execution_id}`);
    }));

  it('an agent is run and paid for, and the focus stays at the progress of the call', () =>
    site.visit({ as: 'Demo caller 1' }, async (page) => {
      await page.goto(`/agents/${site.visitor.agent('sandbox-echo').agent_id}`);
      await page.getByRole('button', { name: 'Try it free' }).waitFor();
      await tabTo(page, 'Try it free');
      await page.keyboard.press('Enter');
      await untilFocused(page, 'Run');
      await page.getByLabel('Task').waitFor();
      await tabTo(page, 'Task');
      await page.keyboard.type('Echo by keys');
      await tabTo(page, 'Run with 0.01 USDC');
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Run sandbox-echo' });
      await dialog.getByText('Into escrow', { exact: true }).waitFor();
      await page.keyboard.press('Escape');
      await untilFocused(page, 'Run with 0.01 USDC');

      // The answer arrives only while the focus is on a control that it removes.
      const { promise: isAwaited, resolve: answer } = deferred();
      await page.route('**/v1/executions/**', async (route) => {
        await isAwaited;
        await route.continue();
      });
      await page.keyboard.press('Enter');
      await dialog.getByText('Into escrow', { exact: true }).waitFor();
      await tabTo(page, 'Run with 0.01 USDC');
      await page.keyboard.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('region', { name: 'Progress' }).waitFor();
      await until('the focus is somewhere', async () => (await focused(page)) !== 'nothing');
      await tabTo(page, 'your calls', 'Retry now');
      answer();
      await progress(page, 'Completed').waitFor();
      await until('the focus is back', async () => (await focused(page)) !== 'nothing');
      await tabTo(page, 'Call and receipt');
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/executions\/[0-9a-f-]+$/);
    }));
});
