/** With the keyboard alone, a person finds, runs and pays an agent, and the focus is never lost. */
import { expect } from 'chai';
import { until } from '../harness/edge/until.ts';
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

  it('an agent is run and paid for, and the focus stays at the progress of the call', () =>
    site.visit({ as: 'Demo caller 1' }, async (page) => {
      await page.goto(`/agents/${site.visitor.agent('sandbox-echo').agent_id}`);
      await page.getByRole('button', { name: 'Run this agent' }).waitFor();
      await tabTo(page, 'Run this agent');
      await page.keyboard.press('Enter');
      await untilFocused(page, 'Run');
      await page.getByLabel('Task').waitFor();
      await tabTo(page, 'Task');
      await page.keyboard.type('Echo by keys');
      await tabTo(page, 'Pay 0.01 USDC and run');
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Run sandbox-echo' });
      await dialog.getByText('Into escrow', { exact: true }).waitFor();
      await page.keyboard.press('Escape');
      await untilFocused(page, 'Pay 0.01 USDC and run');

      // The answer arrives only while the focus is on a control that it removes.
      let answer = () => {};
      const isAwaited = new Promise<void>((resolve) => (answer = resolve));
      await page.route('**/v1/executions/**', async (route) => {
        await isAwaited;
        await route.continue();
      });
      await page.keyboard.press('Enter');
      await dialog.getByText('Into escrow', { exact: true }).waitFor();
      await tabTo(page, 'Pay 0.01 USDC');
      await page.keyboard.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('region', { name: 'Progress' }).waitFor();
      await until('the focus is somewhere', async () => (await focused(page)) !== 'nothing');
      await tabTo(page, 'your calls', 'Retry now');
      answer();
      await page.getByRole('region', { name: 'Progress' }).getByRole('heading', { name: 'Completed' }).waitFor();
      await until('the focus is back', async () => (await focused(page)) !== 'nothing');
      await tabTo(page, 'Call and receipt');
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/executions\/[0-9a-f-]+$/);
    }));
});
