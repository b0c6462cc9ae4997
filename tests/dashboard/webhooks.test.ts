/**
 * Webhooks on the page: an endpoint with its secret, a test event, the log, redelivery, switching off, and deletion.
 */
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { useServers } from '../harness/edge/listen.ts';
import { changeAnswers } from './browser.ts';
import { assertAccessibleInEveryLook } from './looks.ts';
import { useSite } from './site.ts';

describe('the webhooks of a wallet', function () {
  this.timeout(600_000);
  const site = useSite();
  const serve = useServers();

  it('are added, tested, inspected, sent again, switched off and deleted', () =>
    site.visit({ as: 'Demo caller 2' }, async (page) => {
      const received: { body: string; headers: Record<string, string> }[] = [];
      let fails = true;
      const url = await serve(async (request, response) => {
        received.push({ body: await text(request), headers: request.headers as Record<string, string> });
        response.writeHead(fails ? 500 : 200).end('said the server');
      });

      await page.goto('/webhooks');
      await page.getByRole('cell', { name: 'key.cap_near key_id, limit, spent_usdc, max_usdc', exact: true }).waitFor();
      await page.getByRole('main').getByRole('link', { name: 'guide' }).waitFor();
      await page.getByRole('button', { name: 'Add endpoint' }).click();
      const dialog = page.getByRole('dialog', { name: 'Add an endpoint' });
      await dialog.getByLabel('URL').fill(`${url}/hook`);
      await dialog.getByLabel('All events').uncheck();
      await dialog.getByLabel(/^execution\.completed/).check();
      await dialog.getByRole('button', { name: 'Add endpoint' }).click();

      const shown = page.getByRole('dialog', { name: 'Your signing secret' });
      const secret = (await shown.locator('code').first().textContent())!;
      expect(secret).to.match(/^whsec_/);
      await shown.getByRole('button', { name: 'Done' }).click();
      await shown.getByText('You have not copied the secret').waitFor();
      await shown.getByRole('button', { name: 'Close without it' }).click();
      await shown.waitFor({ state: 'detached' });
      await page.getByText('execution.completed · since').waitFor();

      await page.getByRole('button', { name: 'Send a test' }).click();
      const log = page.getByRole('region', { name: 'Deliveries' });
      await log.getByText('the answer has the status 500').waitFor();
      await log.getByText('webhook.test').waitFor();
      await page.getByText('Every attempt has failed since').waitFor();
      fails = false;
      await log.getByRole('button', { name: 'Send again' }).first().click();
      await log.getByText('200', { exact: true }).first().waitFor();
      await page.getByText('Every attempt has failed since').waitFor({ state: 'detached' });
      for (const { body, headers } of received) expect(new Webhook(secret).verify(body, headers)).to.be.an('object');
      await assertAccessibleInEveryLook(page);

      await page.getByRole('button', { name: 'Switch off' }).click();
      await page.getByText('switched off', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Switch on' }).click();
      await page.getByText('active', { exact: true }).waitFor();
      // After days of failures the service switches it off.
      const since = '2026-11-23T00:00:00Z';
      await changeAnswers(page, '**/v1/webhooks', ({ endpoints }) => {
        for (const one of endpoints)
          Object.assign(one, { status: 'disabled', disabled_by: 'failures', disabled_at: since });
      });
      await page.getByText('Switched off after days of failures').waitFor();
      await page.locator(`time[datetime="${since}"]`).waitFor();
      await page.getByRole('button', { name: 'Switch on' }).waitFor();
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByRole('dialog', { name: 'Delete the endpoint?' }).getByRole('button', { name: 'Delete' }).click();
      await page.getByText('No endpoints yet').waitFor();
    }));

  it('are offered to a creator until one reports disputes', () =>
    site.visit({ as: 'Demo creator A' }, async (page) => {
      await page.goto('/creator');
      await page.getByRole('link', { name: 'Add a webhook' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('URL').fill('http://127.0.0.1:9/hook');
      await dialog.getByRole('button', { name: 'Add endpoint' }).click();
      await page.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('button', { name: 'Close without it' }).click();
      await page.getByText('dispute.opened, dispute.resolved · since').waitFor();
      expect(new URL(page.url()).search).to.equal('');
      await page.getByRole('link', { name: 'Your agents' }).first().click();
      await page.getByText('Earned in the last 30 days').waitFor();
      await page.getByRole('link', { name: 'Add a webhook' }).waitFor({ state: 'detached' });
    }));
});
