/**
 * Delayed changes of settings: the admin announces them on the page, everybody can see and apply them, and the guardian
 * cancels them.
 */
import { join } from 'node:path';
import { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { until } from '../harness/edge/until.ts';
import { timeTravel } from '../harness/node/node.ts';
import { assertAccessible, dialog, sign } from './browser.ts';
import { useSite } from './site.ts';

const DELAY_SECONDS = 86_400;
const ADMIN = { as: 'Demo admin' } as const;
/** Has no other role. */
const STRANGER = { as: 'Demo caller 1' } as const;
const GUARDIAN = { as: 'Demo caller 2' } as const;

describe('delayed changes of settings', function () {
  this.timeout(600_000);
  const site = useSite({ isOwn: true });

  const waiting = (page: Page) => page.getByRole('region', { name: 'Pending changes' });
  const showConfig = () => site.visitor.command(null, 'admin', 'config');

  it('sets a guardian and the delay, which only grows, and proposes a relay authority', () =>
    site.visit(ADMIN, async (page) => {
      const { admin, ...before } = await showConfig();
      const guardian = site.visitor.demo.callers[1]!.wallet;
      const relay = Keypair.generate().publicKey.toBase58();
      const propose = async (button: string, label: string, address: string) => {
        await page.getByRole('button', { name: button }).click();
        await dialog(page).getByLabel(label).fill(address);
      };
      await page.goto('/admin?tab=settings');
      await propose('Propose a guardian …', 'Wallet of the guardian', admin);
      await dialog(page).getByText('It must be the address of another wallet.').waitFor();
      await dialog(page).getByLabel('Wallet of the guardian').fill(guardian);
      await sign(page, 'Sign and propose');
      await waiting(page).getByRole('button', { name: 'Apply …' }).click();
      await sign(page, 'Sign and apply');
      await waiting(page).getByText('Nothing is proposed.').waitFor();

      await propose('Add a relay authority …', 'Address of the relay’s key', relay);
      await sign(page, 'Sign and propose');
      await waiting(page).locator(`[title="${relay}"]`).waitFor();
      await waiting(page).getByRole('button', { name: 'Cancel the change …' }).click();
      await sign(page, 'Sign and cancel');

      await page.getByRole('button', { name: 'Raise the delay …' }).click();
      await dialog(page).getByLabel('New delay', { exact: true }).fill('31');
      await dialog(page).getByText('It must be from 1 second to 30 days.').waitFor();
      await dialog(page).getByLabel('New delay', { exact: true }).fill('1');
      await dialog(page).getByText('No delay → 1 day').waitFor();
      await sign(page, 'Sign and raise');
      expect(await showConfig()).to.deep.equal({ ...before, admin, guardian, admin_delay_seconds: DELAY_SECONDS });
    }));

  it('announces a lower fee, shows it to everybody, and lets a stranger apply it once it is due', async () => {
    const { visitor } = site;
    await site.visit(ADMIN, async (page) => {
      await page.goto('/admin?tab=settings');
      await page.getByText('Delay of changes', { exact: true }).waitFor();
      await page.locator(`[title="${visitor.demo.callers[1]!.wallet}"]`).first().waitFor();
      await page.getByLabel('Fee, %').fill('0.5');
      await page.getByRole('button', { name: 'Review changes' }).click();
      await dialog(page).getByText('Announce these changes?').waitFor();
      await sign(page, 'Sign and announce');
      await waiting(page).getByText('1 % → 0.5 %').waitFor();
      expect(await showConfig()).to.include({ fee_bps: 100 });
    });
    const { body } = await visitor.send('/trpc/config.changes', null);
    const [change] = body.result.data.changes;
    expect(change.settings).to.deep.equal([{ setting: 'fee', unit: 'basis_points', before: 100, after: 50 }]);
    expect(Date.parse(change.applicable_at) - Date.parse(change.proposed_at)).to.equal(DELAY_SECONDS * 1_000);
    expect(change.applicable_in_seconds).to.be.within(1, DELAY_SECONDS);

    await site.visit({}, async (page) => {
      await page.goto('/');
      await page.getByRole('contentinfo').getByRole('link', { name: 'Fees and rules' }).click();
      await waiting(page).getByText('1 % → 0.5 %').waitFor();
      await waiting(page)
        .getByText(/^In (23 hours|1 day)/)
        .waitFor();
      expect(
        await waiting(page)
          .getByRole('button')
          .filter({ hasText: /Apply|Cancel/ })
          .count(),
      ).to.equal(0);
      await assertAccessible(page);
    });

    await timeTravel(visitor.demo.rpc_url, Date.parse(change.applicable_at) / 1_000 + 1);
    await site.visit(STRANGER, async (page) => {
      await page.goto('/terms');
      await waiting(page).getByRole('button', { name: 'Apply …' }).click();
      await dialog(page).getByText('1 % → 0.5 %').waitFor();
      await sign(page, 'Sign and apply');
      await waiting(page).getByText('No pending changes').waitFor();
      expect(await showConfig()).to.include({ fee_bps: 50 });
      expect(await visitor.exists(new PublicKey(change.change))).to.equal(false);
    });
  });

  it('lets the guardian cancel all settings, and anybody close what is cancelled or expired', async () => {
    const { visitor } = site;
    const admin = join(site.dataDir, 'demo', 'admin.json');
    for (const fee of ['7', '8']) await visitor.command(admin, 'admin', 'propose-change', '--fee-bps', fee);
    const { changes } = await visitor.command(null, 'admin', 'changes');
    await timeTravel(visitor.demo.rpc_url, Date.parse(changes[1].expires_at) / 1_000 + 1);
    await visitor.command(admin, 'admin', 'propose-change', '--fee-bps', '9');
    await site.visit(STRANGER, async (page) => {
      await page.goto('/terms');
      await waiting(page).getByText('Expired', { exact: true }).first().waitFor();
      expect(await waiting(page).getByRole('button', { name: 'Apply' }).count()).to.equal(0);
      // The third one still waits.
      const close = waiting(page).getByRole('button', { name: 'Cancel the change …' });
      await until('both expired ones can be closed', async () => (await close.count()) === 2);
      await close.first().click();
      await sign(page, 'Sign and cancel');
      await until('one is closed', async () => (await close.count()) === 1);
    });
    await site.visit(GUARDIAN, async (page) => {
      await page.goto('/terms');
      await waiting(page).getByRole('button', { name: 'Cancel all changes of settings …' }).click();
      await sign(page, 'Sign and cancel all');
      await until(
        'both are cancelled',
        async () => (await waiting(page).getByText('cancelled with others').count()) === 2,
      );
      for (const left of [1, 0]) {
        await waiting(page).getByRole('button', { name: 'Cancel the change …' }).first().click();
        await sign(page, 'Sign and cancel');
        await until(
          'it is closed',
          async () => (await waiting(page).getByText('cancelled with others').count()) === left,
        );
      }
    });
    expect(await showConfig()).to.include({ fee_bps: 50 });
  });

  it('lets the guardian cancel another admin, pause, and remove the relay authority', async () => {
    const { admin, relay_authorities } = await showConfig();
    const next = site.visitor.demo.callers[0]!.wallet;
    await site.visit(ADMIN, async (page) => {
      await page.goto('/admin?tab=settings');
      await page.getByRole('button', { name: 'Propose an admin …' }).click();
      await dialog(page).getByLabel('Wallet of the next admin').fill(next);
      await dialog(page).getByText('The proposal waits 1 day').waitFor();
      await sign(page, 'Sign and propose');
      await waiting(page).locator(`[title="${next}"]`).waitFor();
      // Only the guardian can cancel it.
      expect(
        await waiting(page)
          .getByRole('button', { name: /^Cancel/ })
          .count(),
      ).to.equal(0);
    });
    await site.visit(GUARDIAN, async (page) => {
      await page.goto('/admin');
      await page.getByRole('link', { name: 'Fees and rules' }).first().click();
      await waiting(page).locator(`[title="${next}"]`).waitFor();
      await waiting(page).getByRole('button', { name: 'Cancel the change …' }).click();
      await sign(page, 'Sign and cancel');
      await waiting(page).getByText('No pending changes').waitFor();
      expect(await site.visitor.command(null, 'admin', 'changes')).to.deep.include({ changes: [] });
      await page.getByRole('button', { name: 'Pause calls …' }).click();
      await sign(page, 'Pause');
      await page.getByText('You have paused them').waitFor();
      await page.getByRole('button', { name: 'Remove' }).click();
      await dialog(page).getByText('This is the only relay authority').waitFor();
      await sign(page, 'Sign and remove');
      await page.getByText('None. Calls cannot be settled until the admin adds one.').waitFor();
      const after = { admin, admin_paused: false, guardian_paused: true, fee_bps: 50 };
      expect(relay_authorities).to.have.length(1);
      expect(await showConfig()).to.deep.include({ ...after, relay_authorities: [] });
    });
  });
});
