/** What callers and creators look at every week: examples, last inputs, money, figures by day, requests, receipts. */
import { expect } from 'chai';
import { untilLoaded } from './browser.ts';
import { assertAccessibleInEveryLook } from './looks.ts';
import { useSite } from './site.ts';

describe('the week of a caller and a creator', function () {
  this.timeout(600_000);
  const site = useSite();
  const pathOf = (name: string) => `/agents/${site.visitor.agent(name).agent_id}`;
  const agentPath = (name: string) => `/v1${pathOf(name)}`;
  const totalOf = async (name: string): Promise<number> =>
    (await site.visitor.send(agentPath(name), null)).body.total_executions;
  /** The index has the newest call. */
  const untilIndexed = (name: string, total: number) =>
    site.visitor.sendUntil(agentPath(name), null, ({ body }) => body.total_executions >= total);

  it("shows an agent's example to everybody, and own last inputs one click away", () =>
    site.visit({ as: 'Demo caller 2' }, async (page) => {
      const task = 'Report on my private text';
      const parameters = { text: 'Rain fell all day. Nobody went out.' };
      const count = await totalOf('text-report');
      const { body } = await site.visitor.execute('text-report', { task, parameters }, 1);
      await untilIndexed('text-report', count + 1);
      await page.goto(pathOf('csv-analyst'));
      const example = page.getByRole('region', { name: 'Result', exact: true });
      await example.getByText('row_count').waitFor();
      await page.goto(`${pathOf('text-report')}?tab=run`);
      await page.getByRole('button', { name: 'Fill in an example' }).click();
      expect(await page.getByLabel('Task').inputValue()).to.equal('Report on this text.');
      await page
        .getByRole('button', { name: `Use again: ${task}` })
        .first()
        .click();
      expect(await page.getByLabel('Task').inputValue()).to.equal(task);
      expect(await page.getByLabel('text', { exact: false }).last().inputValue()).to.equal(parameters.text);
      expect(body.status).to.equal('completed');
    }));

  it('is accessible in every theme and size', () =>
    site.visit({ as: 'Demo caller 2' }, async (page) => {
      for (const address of [pathOf('csv-analyst'), `${pathOf('text-report')}?tab=run`]) {
        await page.goto(address);
        await untilLoaded(page);
        await assertAccessibleInEveryLook(page);
      }
    }));
});
