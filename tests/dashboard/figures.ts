/** The figures of an agent, on every page that shows them. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { Visitor } from '../journey/visitor.ts';

/** The card of a large number. */
export const figure = (page: Page, name: string, value: string) =>
  page.locator('section').filter({ hasText: new RegExp(`^${name}${value}$`) });

/** After the two calls, one refunded and one with an upheld dispute: every page has the same figures. */
export async function assertSameFigures(page: Page, visitor: Visitor, agentId: string): Promise<void> {
  const path = `/v1/agents/${agentId}`;
  const { body } = await visitor.sendUntil(path, null, ({ body }) => body.successful_executions === 0);
  expect(body).to.include({ total_executions: 2, success_rate: 0, dispute_count: 1 });
  const { total } = (await visitor.send(`${path}/statistics`, null)).body;
  expect(total).to.include({ completed: 0, failed: 2, refunded: 0 });
  await page.goto(`/creator/${agentId}`);
  await figure(page, 'Calls in all', '2').waitFor();
  await figure(page, 'Delivered', '0 of 2').waitFor();
  await figure(page, 'Earned in all, after the fee', '0.0495 USDC').waitFor();
  await page.getByText('Disputes took 0.05 USDC of the collateral.').waitFor();
  // One sentence for each day: two if midnight passed between the calls.
  await page
    .getByText(/ calls? on /)
    .filter({ hasText: /: 0 of \d delivered, 0\.0495 USDC earned/ })
    .waitFor();
  const failures = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Why calls failed' }) });
  await failures.getByRole('paragraph').filter({ hasText: /^2$/ }).waitFor();
  const reasons = page.getByRole('region', { name: 'Failures by reason' }).getByRole('row');
  await reasons.filter({ hasText: 'the dispute was upheld1' }).waitFor();
  expect(await reasons.count()).to.equal(3);
  await page.getByRole('tab', { name: 'Calls' }).click();
  const calls = page.getByRole('region', { name: 'Calls', exact: true });
  await calls.getByText('Dispute upheld').waitFor();
  await calls.getByText('Refunded 0.05 USDC').waitFor();
  expect(await calls.getByText('Completed', { exact: true }).count()).to.equal(0);
  await page.getByRole('main').getByRole('link', { name: 'Your agents' }).click();
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'Shouter' }) });
  for (const [column, value] of [
    ['Calls since yesterday', '2'],
    ['Failed since yesterday', '2'],
    ['Earned, USDC since yesterday', /^0\.04950*$/],
  ] as const)
    await row.locator(`td[data-column="${column}"]`).getByText(value, { exact: true }).last().waitFor();
  await page.goto(`/agents/${agentId}`);
  await page.getByText('0 of 2 delivered; 1 counts as failed, because its dispute was upheld.').waitFor();
}
