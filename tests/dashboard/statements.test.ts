/** A wallet's payments, earnings and content: statements, and the time from which content can be deleted. */
import { expect } from 'chai';
import Papa from 'papaparse';
import type { Page } from 'playwright-core';
import type { SpendRow, SpendStatement } from '../../app/sdk/wire/statement.ts';
import { DAY_MS, toDay } from '../../app/sdk/wire/time.ts';
import { parseUsdc } from '../../app/sdk/wire/usdc.ts';
import { until } from '../harness/edge/until.ts';
import { assertAccessible, changeAnswers, dialog, download, untilLoaded } from './browser.ts';
import { figure } from './figures.ts';
import { assertAccessibleInEveryLook } from './looks.ts';
import { useSite } from './site.ts';

const CALLER = { as: 'Demo caller 2' } as const;
const NUMBER = 1;
const WINDOW_MS = 72 * 3_600_000;

const usdcOf = (units: bigint) =>
  `${(Number(units) / 1e6).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6 })} USDC`;

const KEY = 'nightly-1';

describe('the statements of a wallet', function () {
  this.timeout(600_000);
  const site = useSite();
  let executionId: string;
  let namedId: string;

  before(async () => {
    const { visitor } = site;
    await visitor.execute('sandbox-error', { task: 'Fail' }, NUMBER);
    const { body } = await visitor.execute('sandbox-echo', { task: 'Reported in confidence' }, NUMBER);
    executionId = body.execution_id;
    const { api_key } = visitor.demo.callers[NUMBER]!;
    const named = await fetch(`${site.baseUrl}/v1/agents/${visitor.agent('sandbox-echo').agent_id}/execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json', 'idempotency-key': KEY },
      body: JSON.stringify({ task: 'Run at night' }),
    });
    namedId = ((await named.json()) as { execution_id: string }).execution_id;
    const count = async (status: string): Promise<number> =>
      (await visitor.send(`/v1/executions?status=${status}&limit=1`, NUMBER)).body.total;
    await until('the index has all calls', async () => {
      const { total } = (await visitor.send('/v1/statements/daily', NUMBER)).body;
      return total.completed === (await count('completed')) + (await count('disputed'));
    });
  });

  const save = (page: Page, name: string) => download(page, page.getByRole('button', { name, exact: true }));

  const textOf = async (path: string): Promise<string> => {
    const { api_key } = site.visitor.demo.callers[NUMBER]!;
    return (await fetch(site.baseUrl + path, { headers: { authorization: `Bearer ${api_key}` } })).text();
  };

  it("are saved for a range of days, identical to the service's", () =>
    site.visit(CALLER, async (page) => {
      await page.goto('/executions');
      await page.getByRole('button', { name: 'Daily statement' }).click();
      await assertAccessible(page);
      const [from, to] = [dialog(page).getByLabel('From (UTC)'), dialog(page).getByLabel('To (UTC)')];
      const last = await to.inputValue();
      await from.fill('2001-01-01');
      await dialog(page).getByText('At most 92 days').waitFor();
      expect(await dialog(page).getByRole('button', { name: 'Download CSV' }).isDisabled()).to.equal(true);
      await from.fill(last);
      for (const format of ['csv', 'json']) {
        const path = `/v1/statements/daily?role=caller&from=${last}&to=${last}&format=${format}`;
        const { name: file, text } = await save(page, `Download ${format.toUpperCase()}`);
        expect(file).to.equal(`statement-caller-${last}-${last}.${format}`);
        expect(text)
          .to.equal(await textOf(path))
          .and.include(last);
      }
    }));

  it('list calls in words, filtered by the URL, and save what is filtered with exact amounts', () =>
    site.visit(CALLER, async (page) => {
      type Row = Record<string, string | number | null>;
      const failed: { executions: Row[]; total: number } = JSON.parse(await textOf('/v1/executions?status=failed'));
      await page.goto('/executions?status=failed');
      const calls = page.getByRole('region', { name: 'Calls' });
      const row = calls.getByRole('row').filter({ hasText: 'Fail' }).filter({ hasText: 'sandbox-error' }).first();
      await row.getByText('Refunded 0.04 USDC', { exact: true }).waitFor();
      await row.getByText('0.00 USDC', { exact: true }).waitFor();
      await row.getByText('Key: local network', { exact: true }).waitFor();
      await row.getByText(/^The creator’s server answered with /).waitFor();
      const key = failed.executions.find(({ key_name }) => key_name === 'local network')!;
      await page.getByLabel('API key', { exact: true }).selectOption({ label: 'local network' });
      await page.waitForURL(`**/executions?status=failed&key=${key.key_id}`);
      await page.reload();
      await row.waitFor();
      const { name: file, text } = await save(page, 'These calls as CSV');
      expect(file).to.equal('calls-failed.csv');
      const { data } = Papa.parse<Row>(text, { header: true });
      const byKey = JSON.parse(await textOf(`/v1/executions?status=failed&key_id=${key.key_id}`)).executions as Row[];
      const idsOf = (rows: Row[]) => rows.map(({ execution_id }) => execution_id);
      expect(idsOf(data)).to.deep.equal(idsOf(byKey));
      const saved = data.find(({ execution_id }) => execution_id === key.execution_id)!;
      expect(saved).to.include({ task: 'Fail', outcome: 'Refunded 0.04 USDC', called_with: 'Key: local network' });
      expect(saved).to.include({ cost_usdc: '0', refunded_usdc: '0.04', returned_usdc: '0' });
      await page.getByRole('button', { name: 'Clear' }).click();
      await page.waitForURL('**/executions');
      await calls.getByText('Completed', { exact: true }).first().waitFor();
    }));

  it('find a call by its Idempotency-Key or its ID, and say what an unknown one means', () =>
    site.visit(CALLER, async (page) => {
      await page.goto('/executions?status=failed');
      const field = page.getByLabel('Call ID or Idempotency-Key');
      for (const text of [KEY, namedId]) {
        await field.fill(text);
        await field.press('Enter');
        await page.waitForURL(`**/executions?find=${text}`);
        await page.getByRole('region', { name: 'Calls' }).locator(`a[href$="/executions/${namedId}"]`).waitFor();
        await page.getByText('1 in total').waitFor();
      }
      await field.fill('nightly-2');
      await field.press('Enter');
      await page.getByText('No call of this wallet has this Idempotency-Key').waitFor();
      await page.getByText('So this wallet paid nothing with it.').waitFor();
    }));

  it('show the payments by agent and by key, with a chart, a table and the CSV of the service', () =>
    site.visit(CALLER, async (page) => {
      const { rows } = JSON.parse(await textOf('/v1/statements/spend')) as SpendStatement;
      const paidIn = (some: SpendRow[]) =>
        usdcOf(some.reduce((sum, row) => sum + parseUsdc(row.paid_usdc) + parseUsdc(row.service_fee_usdc), 0n))
          // The head of the column has the unit.
          .replace(' USDC', '');
      const { agent_id } = site.visitor.agent('sandbox-echo');
      const ofAgent = rows.filter((row) => row.agent_id === agent_id);
      await page.goto('/executions');
      await page.getByRole('link', { name: 'Spend', exact: true }).click();
      const agents = page.getByRole('region', { name: 'By agent' });
      await page.getByRole('banner').locator('a[aria-current="true"]').filter({ hasText: 'Activity' }).waitFor();
      await agents.getByRole('row').filter({ hasText: 'sandbox-echo' }).getByText(paidIn(ofAgent)).first().waitFor();
      await page.getByText(/^[\d.]+ USDC on \d+ \w+: .*sandbox-echo [\d.]+/).waitFor();
      const one = agents.getByRole('row').filter({ hasText: 'sandbox-echo' }).getByRole('link', { name: /^\d+$/ });
      expect(new URL((await one.getAttribute('href'))!, site.baseUrl).searchParams.get('agent')).to.equal(agent_id);
      await page.getByRole('button', { name: 'By API key' }).click();
      const named = rows.find(({ key_name }) => key_name !== null)!;
      const ofKey = rows.filter(({ key_id }) => key_id === named.key_id);
      const keys = page.getByRole('region', { name: 'By API key' });
      await keys.getByRole('row').filter({ hasText: named.key_name! }).getByText(paidIn(ofKey)).first().waitFor();
      const { name: file, text } = await save(page, 'CSV by day, agent and key');
      expect(file).to.match(/^spend-[0-9-]{10}-[0-9-]{10}\.csv$/);
      expect(text).to.equal(await textOf('/v1/statements/spend?format=csv'));
      await page.getByLabel('From (UTC)').fill('2001-01-01');
      await page.getByText('At most 92 days').waitFor();
      await page.getByLabel('To (UTC)').fill('2001-01-02');
      await page.getByText('No call of this wallet ended on these days').waitFor();
      // With payments on three days it is a chart.
      await changeAnswers(page, '**/v1/statements/spend?*', (spend: SpendStatement) => {
        const earlier = (row: SpendRow) =>
          [1, 2].map((days) => ({ ...row, day: toDay(Date.parse(row.day) / DAY_MS - days) }));
        spend.rows.push(...spend.rows.flatMap(earlier));
      });
      await page.goto('/spend');
      await page.getByRole('img', { name: 'Paid, by agent' }).waitFor();
      await untilLoaded(page);
      await assertAccessibleInEveryLook(page);
    }));

  it('appear for the creator on the page of its agents', () =>
    site.visit({ as: 'Demo creator A' }, async (page) => {
      await page.goto('/creator');
      await page.getByRole('button', { name: 'Daily statement' }).click();
      const { name: file, text } = await save(page, 'Download JSON');
      expect(file).to.match(/^statement-creator-/);
      const { role, wallet, days, total } = JSON.parse(text);
      expect([role, days.length]).to.deep.equal(['creator', 30]);
      const amount = usdcOf(parseUsdc(total.earned_usdc));
      await figure(page, 'Earned in the last 30 days, after the fee', amount).waitFor();
      const refunded = total.refunded ? `${total.refunded} refunded, with or without a fault of the agent` : '';
      await figure(page, 'Calls in the last 30 days', `${total.executions}${refunded}`).waitFor();
      expect(site.visitor.demo.agents.map(({ creator }) => creator)).to.include(wallet);
    }));

  it('come with the content of an execution, and the page explains from when on it can be deleted', () =>
    site.visit(CALLER, async (page) => {
      await page.goto(`/executions/${executionId}`);
      const card = page.locator('section').filter({ hasText: 'Delete what you sent and received' }).last();
      await card.getByText('Until then a dispute may need it').waitFor();
      const from = await card.locator('time').getAttribute('datetime');
      const { completed_at } = (await site.visitor.send(`/v1/executions/${executionId}`, NUMBER)).body;
      expect(Date.parse(from!)).to.be.at.least(Date.parse(completed_at) + WINDOW_MS);
      expect(await card.getByRole('button').count()).to.equal(0);
    }));
});
