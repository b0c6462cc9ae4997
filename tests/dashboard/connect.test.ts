/** A host connects to /mcp by its address alone: OAuth by the official client, approved by a person on the page. */
import { expect } from 'chai';
import type { Page, Route } from 'playwright-core';
import { HOST_NAME, type OAuthHost, startOAuthHost } from '../mcp/oauth.ts';
import { useSite } from './site.ts';

const PRICE = 10_000n;

describe('connecting a host', function () {
  this.timeout(600_000);
  const site = useSite();
  let host: OAuthHost;
  before(async () => {
    host = await startOAuthHost(`${site.baseUrl}/mcp?pay_by=key`);
  });
  after(() => host?.stop());

  const main = (page: Page) => page.getByRole('main');
  const redirectHost = () => new URL(host.redirectUrl).host;

  it('is not asked of a host that pays by x402', async () => {
    const anonymous = await startOAuthHost(`${site.baseUrl}/mcp`);
    const connected = await anonymous.connect();
    const { tools } = await connected.client.listTools();
    expect(tools.map(({ name }) => name)).to.have.members(['search_agents', 'describe_agent', 'run_agent']);
    await connected.close();
    anonymous.stop();
  });

  it('names the host, and returns without a key if the person refuses', async () => {
    const address = await host.refused();
    expect(address.origin + address.pathname).to.equal(`${site.baseUrl}/connect`);
    const page = await fetch(address, { headers: { accept: 'text/html' } });
    expect(page.headers.get('content-security-policy')).to.include("frame-ancestors 'none'");
    await site.visit({}, async (page) => {
      await page.goto(address.href);
      // The name is not checked, so the heading has the place.
      await main(page).getByRole('heading', { level: 1, name: 'Connect a program on this computer' }).waitFor();
      await main(page).getByText(HOST_NAME, { exact: true }).waitFor();
      await main(page).getByText(redirectHost(), { exact: true }).waitFor();
      await main(page).getByText('spend more than your limits').waitFor();
      await main(page).getByRole('button', { name: 'Connect wallet' }).waitFor();
      const answer = host.answer();
      await page.getByRole('button', { name: 'Do not connect' }).click();
      await page.getByText('Back in the host').waitFor();
      const parameters = await answer;
      expect(parameters.get('error')).to.equal('access_denied');
      expect(parameters.get('iss')).to.equal(site.baseUrl);
    });
  });

  it('sends nobody to an address that the host has not registered', async () => {
    const address = await host.refused();
    address.searchParams.set('redirect_uri', 'https://evil.example/callback');
    await site.visit({ as: 'Demo caller 2' }, async (page) => {
      await page.goto(address.href);
      await main(page).getByText('"redirect_uri" must be one that the client has registered').waitFor();
      expect(await page.getByRole('button', { name: 'Set a budget' }).count()).to.equal(0);
    });
  });

  it('gives the host a key with the budget that the person signs, until the person revokes it', async () => {
    const address = await host.refused();
    const name = `${HOST_NAME} (this computer)`;
    await site.visit({ as: 'Demo caller 2', expected: /503/ }, async (page) => {
      await page.goto(address.href);
      // The key is granted on the chain already, so it must not be lost.
      const fail = (route: Route) => route.fulfill({ status: 503, body: '' });
      await page.route('**/trpc/oauth.approve', fail, { times: 1 });
      await page.getByRole('button', { name: 'Set a budget' }).click();
      const dialog = page.getByRole('dialog', { name: `Budget of ${HOST_NAME}` });
      expect(await dialog.getByLabel('Name').inputValue()).to.equal(name);
      await dialog.getByLabel('In total, USDC').fill('5');
      await dialog.getByText('Advanced').click();
      await dialog.getByLabel('Per call, USDC').fill('1');
      await dialog.getByLabel('Ends after, days').fill('30');
      const answer = host.answer();
      await dialog.getByRole('button', { name: 'Sign and connect' }).click();
      await main(page).getByText('The program has not received its key yet').waitFor();
      await main(page).getByRole('button', { name: 'Try again' }).click();
      await page.getByText('Back in the host').waitFor();
      await host.finish(await answer);
    });
    const { access_token: apiKey, expires_in: seconds, refresh_token: refresh } = host.tokens()!;
    expect(apiKey).to.match(/^crtx_test_/);
    expect(seconds).to.be.within(29 * 86_400, 30 * 86_400);
    expect(refresh).to.equal(undefined);

    const connected = await host.connect();
    expect(await connected.call('get_budget')).to.include({ payable_usdc: 1, total_remaining_usdc: 5 });
    const { visitor } = site;
    const { agent_id } = visitor.agent('sandbox-echo');
    const before = await visitor.balances();
    const ran = await connected.call('run_agent', { agent_id, task: 'hello', max_cost_usdc: 0.01 });
    expect(ran).to.include({ status: 'completed', result: 'hello', cost_usdc: 0.01 });
    visitor.assertPaid(before, await visitor.balances(), 'sandbox-echo', PRICE, 1);

    await site.visit({ as: 'Demo caller 2' }, async (page) => {
      await page.goto('/keys');
      await page.getByRole('button', { name: `Revoke ${name}` }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    });
    // The host asks its person again.
    const again = await host.refused(() => connected.client.callTool({ name: 'get_budget', arguments: {} }));
    expect(again.pathname).to.equal('/connect');
    await connected.close();
  });
});
