/** The contact of the operator is where visitors look for it, and nowhere on a deployment without one. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { procedureErrorExample } from '../../app/relay/http/openapi/examples.ts';
import { changeAnswers } from './browser.ts';
import { useSite } from './site.ts';

const CONTACT = 'mailto:help@example.com';

describe('the contact of the operator', () => {
  const site = useSite();
  const linkIn = (page: Page, role: 'main' | 'contentinfo') =>
    page.getByRole(role).getByRole('link', { name: 'Contact the operator' });
  const addressIn = (page: Page) => page.getByRole('main').getByRole('link', { name: 'help@example.com', exact: true });

  it('is in the footer, under “Fees and rules”, and beside an error that asks for a report; nowhere without one', () =>
    site.visit({ expected: /status of 500/ }, async (page) => {
      await page.goto('/terms');
      await page.getByRole('main').getByText('Admin', { exact: true }).waitFor();
      expect(await page.getByText(/operator/i).count()).to.equal(0);
      const named = { operator_contact: CONTACT };
      await changeAnswers(page, '**/trpc/config.get', ({ result }) => Object.assign(result.data, named));
      await page.reload();
      for (const link of [addressIn(page), linkIn(page, 'contentinfo')])
        expect(await link.getAttribute('href')).to.equal(CONTACT);
      const json = procedureErrorExample('internal_error', -32603);
      await page.route('**/trpc/config.changes', (route) => route.fulfill({ status: 500, json }));
      await page.reload();
      await page.getByText('Quote this id when you report it to the operator.').waitFor();
      expect(await linkIn(page, 'main').count()).to.equal(1);
      expect(await addressIn(page).count()).to.equal(1);
    }));
});
