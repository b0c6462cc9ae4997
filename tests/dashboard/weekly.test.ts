/** The weekly routine of callers and creators: examples, earlier inputs, money, figures by day, requests, receipts. */
import { expect } from 'chai';
import { deferred } from '../harness/edge/until.ts';
import { payByKey, progress } from './browser.ts';
import { type ListedAgent, listAgent } from './listAgent.ts';
import { useSite } from './site.ts';

describe('the week of a caller and a creator', function () {
  this.timeout(600_000);
  const site = useSite();
  const LATER = 'Answer me later';
  const { promise: mayFinish, resolve: finish } = deferred();
  let later: ListedAgent;
  before(async () => {
    later = await listAgent(site, 'sandbox-later', async ({ task }) => {
      if (task === LATER) await mayFinish;
      return { result: task };
    });
  });
  after(async () => {
    finish();
    await later?.close();
  });
  const pathOf = (name: string) => `/agents/${site.visitor.agent(name).agent_id}`;
  it("shows an agent's example, and takes the input of an earlier call again from its page", () =>
    site.visit({ as: 'Demo caller 2' }, async (page) => {
      const task = 'Report on my private text';
      const parameters = { text: 'Rain fell all day. Nobody went out.' };
      const { body } = await site.visitor.execute('text-report', { task, parameters }, 1);
      expect(body.status).to.equal('completed');
      await page.goto(pathOf('csv-analyst'));
      await page.getByRole('region', { name: 'Result as a table' }).getByRole('cell').first().waitFor();
      await page.goto(`${pathOf('text-report')}?tab=run`);
      await page.getByText('Filled in with the creator’s example.').waitFor();
      expect(await page.getByLabel('Task').inputValue()).to.equal('Report on this text.');
      await page.goto(`/executions/${body.execution_id}`);
      await page.getByRole('button', { name: 'Run again' }).click();
      await page.getByLabel('Task').waitFor();
      expect(await page.getByLabel('Task').inputValue()).to.equal(task);
      expect(await page.getByLabel('text', { exact: false }).last().inputValue()).to.equal(parameters.text);
    }));

  it('shows a running call after a reload and after Back, and in the header of every page', () =>
    site.visit({ as: 'Demo caller 1' }, async (page) => {
      await page.goto(`${later.path}?tab=run`);
      await page.getByLabel('Task').fill(LATER);
      await page.getByRole('button', { name: 'Run with 0.02 USDC' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Run with 0.02 USDC' }).click();
      const running = progress(page, 'Running');
      await running.waitFor();
      await page.reload();
      await running.waitFor();
      await page.goto('/verify');
      await page.getByRole('banner').getByRole('link', { name: 'Activity 1 running' }).waitFor();
      await page.goBack();
      await running.waitFor();
      await page.getByRole('link', { name: 'your calls' }).click();
      await page.getByRole('main').getByRole('link', { name: 'sandbox-later' }).first().click();
      await page.getByRole('heading', { name: 'What was asked' }).waitFor();
      await page.getByRole('paragraph').filter({ hasText: LATER }).waitFor();
    }));

  it('reports after a reload without a wallet that it can no longer read the call of a key', () =>
    site.visit({}, async (page) => {
      await page.goto(`${later.path}?tab=run`);
      await page.getByLabel('Task').fill(LATER);
      await payByKey(page, site.visitor.demo.callers[0]!.api_key);
      await page.getByRole('button', { name: 'Pay 0.02 USDC and run' }).click();
      await page.getByText('You can leave this page').waitFor();
      await page.reload();
      await page.getByText('The reload removed your API key').waitFor();
      await page.getByText('The call continues.').waitFor();
      await page.getByRole('button', { name: 'Show the form' }).click();
      // The same before the service has answered.
      await page.route('**/execute', () => undefined);
      await payByKey(page, site.visitor.demo.callers[0]!.api_key);
      await page.getByRole('button', { name: 'Pay 0.02 USDC and run' }).click();
      await page.getByText('Putting 0.02 USDC into escrow').waitFor();
      await page.reload();
      await page.getByText('The call may be running').waitFor();
      await page.getByRole('button', { name: 'Show the form' }).click();
      expect(await page.getByLabel('Task').inputValue()).to.equal(LATER);
    }));

  it('prints a receipt from the page of an execution, and nothing else of the page', () =>
    site.visit({ as: 'Demo caller 1', dark: true }, async (page) => {
      const { visitor } = site;
      const task = 'Echo what I can print';
      const { body } = await visitor.execute('sandbox-echo', { task, parameters: { copies: 2 } });
      const path = `/v1/executions/${body.execution_id}`;
      const receipt = (await visitor.sendUntil(`${path}/receipt`, 0, ({ status }) => status === 200)).body;
      // A print dialog would wait for a person.
      await page.addInitScript('window.print = () => (document.documentElement.dataset.printed = "yes")');
      await page.goto(`/executions/${body.execution_id}`);
      await page.getByRole('button', { name: 'Receipt' }).click();
      await page.getByRole('menuitem', { name: 'Print' }).click();
      await page.locator('html[data-printed]').waitFor();
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      const main = page.getByRole('main');
      const lines = [
        'Genuine: the creator signed exactly this result, and 0.01 USDC was paid',
        'sandbox-echo',
        task,
        'copies: 2',
        receipt.result,
        receipt.result_hash,
        '0.01 USDC',
        receipt.caller,
        visitor.agent('sandbox-echo').creator,
        receipt.transactions.open,
        receipt.transactions.settle,
        'The shares were paid',
      ];
      for (const line of lines) {
        const shown = main.getByText(line).first();
        expect(await shown.isVisible(), line).to.equal(true);
      }
      for (const at of [receipt.opened_at, receipt.settled_at]) {
        const shown = main.locator(`time[datetime^="${at.slice(0, 19)}"]`).first();
        expect(await shown.isVisible(), at).to.equal(true);
        expect(await shown.textContent()).to.match(/:\d\d.* UTC$/);
      }
      for (const role of ['navigation', 'banner', 'contentinfo', 'button', 'textbox'] as const)
        expect(await page.getByRole(role).count(), role).to.equal(0);
      const paper = 'getComputedStyle(document.body).backgroundColor';
      expect(await page.evaluate(paper)).to.equal('rgb(251, 251, 253)');
      // Nothing is cut off: no box on the printed page scrolls.
      const cut = `[...document.querySelectorAll('main *')].filter((one) => one.scrollHeight > one.clientHeight + 1
        && getComputedStyle(one).overflowY === 'auto').length`;
      expect(await page.evaluate(cut)).to.equal(0);
      expect((await page.pdf()).subarray(0, 4).toString()).to.equal('%PDF');
    }));
});
