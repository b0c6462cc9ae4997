/** Signing in by a wallet, staying signed in, signing out, and sessions that expire. */
import { expect } from 'chai';
import { signInAs, signOut } from './browser.ts';
import { useSite } from './site.ts';

describe('signing in', function () {
  this.timeout(600_000);
  const site = useSite();

  it('takes one signature, survives a reload by its cookie, makes nobody the admin, and ends with signing out', () =>
    site.visit({}, async (page, { context }) => {
      await page.goto('/verify');
      const main = page.getByRole('banner').getByRole('navigation', { name: 'Main' });
      const places = ['Agents', 'Verify', 'Docs', 'Activity', 'List an agent'];
      expect(await main.getByRole('link').allTextContents()).to.deep.equal(places);
      await signInAs(page, 'Demo caller 1');
      const { wallet } = site.visitor.demo.callers[0]!;
      const account = page.getByRole('banner').getByRole('button', { name: wallet.slice(0, 5) });
      await account.click();
      const own = [
        'Your calls',
        'Spend',
        'Disputes',
        'API keys',
        'Webhooks',
        'List an agent',
        'Statement',
        'Fees and rules',
      ];
      for (const name of own) await page.getByRole('menuitem', { name }).waitFor();
      await page
        .getByRole('group', { name: 'As a creator' })
        .getByRole('menuitem', { name: 'List an agent' })
        .waitFor();
      expect(await page.getByRole('menuitem', { name: 'Admin' }).count()).to.equal(0);
      await page.getByRole('menuitem', { name: 'Copy address' }).click();
      expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(wallet);
      expect(await main.getByRole('link').allTextContents()).to.deep.equal(places);

      const cookies = await context.cookies();
      expect(cookies).to.have.length(1);
      expect(cookies[0]).to.include({ httpOnly: true, sameSite: 'Strict', path: '/' });
      // No script can read the cookie, and the browser's storage has no copy of it.
      expect(await page.evaluate('document.cookie')).to.equal('');
      const kept = await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
      expect(kept).to.include('Demo caller 1').and.not.include(cookies[0]!.value);

      await page.reload();
      await account.click();
      await page.getByText('Shared test wallet: Demo caller 1.').waitFor();
      await page.getByText(/^[\d.,]+ SOL$/).waitFor();
      await page.getByRole('menuitem', { name: 'Statement' }).click();
      const statement = page.getByRole('dialog', { name: 'Statement' });
      await statement.getByLabel('Statement of').selectOption('Earnings of my agents');
      await statement.getByText('earnings, fees and upheld disputes').waitFor();

      await page.goto('/admin');
      await page.getByText('Only the admin can use this page').waitFor();
      expect(await page.getByRole('tab').count()).to.equal(0);

      // Signing out removes the cookie, and protected pages ask for a new sign-in.
      await signOut(page);
      expect(await context.cookies()).to.deep.equal([]);
      await page.goto('/keys');
      await page.getByRole('banner').getByRole('button', { name: 'Connect wallet' }).waitFor();
      await page.getByRole('main').getByText('Connect a wallet to continue').waitFor();
    }));

  it('takes one click with the shared test wallet, keeps the focus in the page, and explains USDC and wallets', () =>
    site.visit({}, async (page) => {
      await page.goto('/keys');
      await page.getByRole('link', { name: 'USDC and wallets explained' }).click();
      await page.getByText('one USDC can be exchanged for one US dollar').and(page.locator(':visible')).waitFor();
      await page.getByText('A wallet is an app').and(page.locator(':visible')).waitFor();
      await page.goBack();
      await page.getByRole('button', { name: 'Use a shared test wallet' }).click();
      await page.getByRole('banner').getByText('Shared').waitFor();
      await page.getByRole('main').getByText('Connect a wallet to continue').waitFor({ state: 'detached' });
      expect(await page.evaluate('document.activeElement.id')).to.equal('content');
    }));

  it('detects an expired session at the next protected request', () =>
    site.visit({ as: 'Demo admin' }, async (page, { context }) => {
      await page.goto('/admin');
      await page.getByRole('tab', { name: 'State', selected: true }).waitFor();
      // The service forgets a session after 15 minutes. Without cookies, the page sees the same.
      await context.clearCookies();
      // The state is read every few seconds, so a click could meet either the tabs or this text.
      await page.getByText('Connect a wallet to continue').waitFor();
      await signInAs(page, 'Demo admin');
      await page.getByRole('tab', { name: 'Creators' }).click();
      await page.getByRole('row', { name: 'Remove badge of' }).first().waitFor();
    }));

  it('keeps the page and reports it when the service does not answer', () =>
    // The console reports a request that was cut off, as here on purpose.
    site.visit({ expected: /net::ERR_FAILED/ }, async (page) => {
      await page.goto('/verify');
      await page.route('**/trpc/auth.signIn*', (route) => route.abort());
      await page.getByRole('banner').getByRole('button', { name: 'Connect wallet' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Demo caller 1' }).click();
      await page.getByRole('dialog').getByText('Not connected').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('banner').getByRole('button', { name: 'Connect wallet' }).waitFor();
    }));
});
