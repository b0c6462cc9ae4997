/**
 * The admin's pages: the figures they show are true, and actions signed on them take effect on chain, to the base unit.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { until } from '../harness/edge/until.ts';
import { changeAnswers, chooseOwn, dialog, PHONE, sign, untilLoaded } from './browser.ts';
import { giveEvidence, useSite } from './site.ts';

const ADMIN = { as: 'Demo admin' } as const;
/** An agent that no other test uses, because an upheld dispute pauses it. */
const DISPUTED = 'sandbox-slow';
const PRICE = 20_000n;
const BOND_LAMPORTS = 10_000_000n;
const EVIDENCE = 'I asked for an echo <img src=x onerror=alert(1)> and got a whisper.\n';
const REASON = 'It echoed what it was given, and no more was promised.';

describe('the admin', function () {
  this.timeout(600_000);
  const site = useSite();

  const showConfig = () => site.visitor.command(null, 'admin', 'config');

  it('sees the state of the marketplace, and is asked for a guardian and a delay where money is real', () =>
    site.visit(ADMIN, async (page) => {
      await changeAnswers(page, '**/trpc/config.get', ({ result }) =>
        Object.assign(result.data, { environment: 'live' }),
      );
      await page.goto('/admin');
      await page.getByText('The service works').waitFor();
      const { relay_authorities } = await showConfig();
      const row = page.locator('dt').filter({ hasText: 'This relay' }).locator('+ dd');
      await row.locator(`[title="${relay_authorities[0]}"]`).waitFor();
      await until('the page shows its balance', async () => {
        const lamports = await site.visitor.lamports(new PublicKey(relay_authorities[0]));
        return (await row.getByTitle(`${Number(lamports) / 1e9} SOL`).count()) === 1;
      });
      await page.getByText('Needs you: no guardian and no delay of changes', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'Set them in Settings' }).click();
      await page.getByRole('heading', { name: 'Guardian and delay' }).waitFor();
    }));

  it('sees what is lent, free, due and lost, what is late or soon used up, and the balance that payments by x402 need', () =>
    site.visit(ADMIN, async (page) => {
      const { agent_id } = site.visitor.agent('csv-analyst');
      let free = 9_995_950_000;
      const nodes = [
        { name: '1:one', state: 'up', slot: 7 },
        { name: '2:other', state: 'dead', slot: null },
      ];
      await changeAnswers(page, '**/trpc/operation.state', (json) => {
        const { lamports, x402, held } = json.result.data;
        const before = { paid: 1_200, refunded: 0, paid_usdc: 30.5, fees_usdc: 0.305 };
        const counts = { paid: 10, refunded: 1, paid_usdc: 2, fees_usdc: 0.02, for_tests: 3, failed: 2, failing: 4 };
        const latest = { since: '2026-11-24T00:00:00.000Z', ...counts, before, failing_agents: [agent_id] };
        Object.assign(json.result.data, { latest, nodes, runway_hours: 3 });
        Object.assign(held, { owed_usdc: 0.2, unclaimed_usdc: 0 });
        json.result.data.archive_waiting = { count: 7, oldest_seconds: 9_000, is_late: true };
        Object.assign(lamports, { lent: 4_050_000, lent_limit: free + 4_050_000, free });
        Object.assign(lamports, { due: 3_000_000, due_seconds: 600, unclaimed: 2_000_000, burnt_today: 5_000 });
        Object.assign(x402, { lamports: 1_500_000, min_lamports: 2_000_000, open_deposits: 3 });
      });
      await page.goto('/admin');
      const fact = (label: string) => page.locator('dt').filter({ hasText: label }).locator('+ dd');
      await fact('In deposits of calls').getByText('0.0041 SOL', { exact: true }).waitFor();
      await fact('Left for deposits').getByText('9.9959 SOL', { exact: true }).waitFor();
      await fact('Coming back from ended calls')
        .getByText('0.0030 SOL, the first in about 10 minutes', { exact: true })
        .waitFor();
      await fact('Lent for refunds that wait for their callers').getByText('0.0020 SOL', { exact: true }).waitFor();
      await fact('Network fees that nobody paid, 24 hours').getByText('0.000005 SOL', { exact: true }).waitFor();
      await fact('Payer of calls by x402').getByText('0.0015 SOL', { exact: true }).waitFor();
      await page.getByText('New calls by x402 are refused').waitFor();
      const failed = page.getByText('2 of 8 calls in the last 7 days failed: csv-analyst and 3 more', { exact: true });
      await failed.locator(`a[href="/agents/${agent_id}"]`).waitFor();
      await page.getByText('From 2.00 USDC in 10 paid calls', { exact: true }).waitFor();
      await page.getByText(/ 3 of these calls went to agents for tests\.$/).waitFor();
      const rows = await page.getByRole('table', { name: 'Ended calls' }).getByRole('row').allTextContents();
      expect(rows.slice(1)).to.deep.equal([
        ...['Paid101,200', 'Refunded10'],
        ...['Prices paid, USDC2.00030.500', 'Fees of these, USDC0.0200.305'],
      ]);
      await page.getByText('The relay’s SOL lasts 3 hours', { exact: true }).waitFor();
      await page.getByText('The Solana node 2:other does not answer', { exact: true }).waitFor();
      await fact('Solana nodes').getByText('1 of 2 in use', { exact: true }).waitFor();
      expect(await page.getByText('is left for deposits').count()).to.equal(0);
      free = 400_000;
      await page.getByText('Only 0.0004 SOL is left for deposits', { exact: true }).waitFor();
      const held = page.getByRole('table', { name: 'USDC held for others' });
      await held.getByRole('row', { name: /^Awards not yet received by their callers 0\.20/ }).waitFor();
      expect(await held.getByRole('row', { name: 'Refunds not yet received' }).count()).to.equal(0);
      await fact('Payer of calls by x402').getByText('0.0020 SOL', { exact: true }).waitFor();
      await fact('Records to archive').getByText('7, the oldest for 2 hours 30 minutes', { exact: true }).waitFor();
      await page.getByText('Ended records are not archived in time').waitFor();
      await fact('Open x402 payments').getByText('3', { exact: true }).waitFor();
    }));

  it('compares what is held with the chain, and needs the admin only for what is missing there', () =>
    site.visit(ADMIN, async (page) => {
      await page.goto('/admin');
      const compared = page.getByRole('table', { name: 'The ledger beside the chain' });
      const rowOf = (name: string) => compared.getByRole('row', { name });
      let isMissing = false;
      await page.getByText('Ledger and chain are equal', { exact: true }).waitFor();
      expect(await page.getByText('Needs you: the chain').count()).to.equal(0);
      await page.getByText('Ledger and chain', { exact: true }).click();
      await rowOf('Escrow').getByText('Equal', { exact: true }).waitFor();
      await rowOf('Gas balances of').waitFor();
      await changeAnswers(page, '**/trpc/operation.held', ({ result: { data } }) => {
        if (isMissing) data.usdc[0].known_usdc = data.usdc[0].chain_usdc + 0.1;
        data.rent.chain = data.rent.known + 5;
      });
      const again = page.getByRole('button', { name: 'Compare again' });
      await again.click();
      await page.getByText('Nothing is missing', { exact: true }).waitFor();
      await rowOf('Deposits lent to calls').getByText('0.000000005 SOL more on the chain', { exact: true }).waitFor();
      isMissing = true;
      await again.click();
      await rowOf('Escrow').getByText('0.10 USDC missing on the chain', { exact: true }).waitFor();
      await page.getByText('npm run relay -- reconcile').waitFor();
      await page.getByText('Needs you: the chain holds less than the ledger says', { exact: true }).waitFor();
      await page.getByText('Escrow: 0.10 USDC.').waitFor();
    }));

  it('pauses new executions, which are then refused, and resumes them', () =>
    site.visit(ADMIN, async (page) => {
      const refusal = async () => (await site.visitor.execute('sandbox-echo', { task: 'now?' })).status;
      await page.goto('/admin?tab=settings');
      await page.getByRole('button', { name: 'Pause calls …' }).click();
      await dialog(page).getByText('lifted → set').waitFor();
      await sign(page, 'Pause');
      expect((await showConfig()).admin_paused).to.equal(true);
      await until('the relay notices the pause', async () => (await refusal()) === 503);
      await page.goto(`/agents/${site.visitor.agent('sandbox-echo').agent_id}?tab=run`);
      await page.getByText('New calls are paused on the whole marketplace').waitFor();
      await page.goto('/admin?tab=settings');
      await page.getByRole('button', { name: 'Resume calls …' }).click();
      await sign(page, 'Resume');
      expect((await showConfig()).admin_paused).to.equal(false);
      await until('the relay takes executions again', async () => (await refusal()) === 200);
    }));

  it('changes settings within their bounds after a review of old and new values; the others stay', () =>
    site.visit(ADMIN, async (page) => {
      const before = await showConfig();
      await page.goto('/admin?tab=settings');
      const review = page.getByRole('button', { name: /^Review/ });
      await page.getByLabel('Fee, %').fill('1.01');
      await page.getByText('It must be from 0 % to 1 %.').waitFor();
      expect(await review.isDisabled()).to.equal(true);
      await page.getByLabel('Fee, %').fill('1');
      await page.getByLabel('Tier 2: price up to').fill('0.01');
      await page.getByText('Each tier must have a higher price than the tier before it.').waitFor();
      expect(await review.isDisabled()).to.equal(true);
      await page.getByRole('button', { name: 'Discard' }).click();
      await page.getByText('There can be at most 4 tiers.').waitFor();
      expect(await page.getByRole('button', { name: /^Remove [^t]/ }).isDisabled()).to.equal(true);
      await page.getByText('To remove it, first pause calls.').waitFor();

      await page.getByLabel('Refund time', { exact: true }).fill('15');
      await page.getByLabel('Dispute bond, SOL').fill('0.02');
      await page.getByRole('tab', { name: 'State' }).click();
      await page.getByRole('tab', { name: 'Settings' }).click();
      await page.getByRole('link', { name: 'Agents' }).click();
      await dialog(page).getByText('not signed yet').waitFor();
      await dialog(page).getByRole('button', { name: 'Stay' }).click();
      await page.getByRole('button', { name: 'Review 2 changes' }).click();
      await dialog(page).getByText('10 minutes → 15 minutes').waitFor();
      await dialog(page).getByText('0.01 SOL → 0.02 SOL').waitFor();
      await sign(page, 'Sign and change');
      const changed = { refund_grace_seconds: 900, dispute_bond_lamports: '20000000' };
      const { longest_span_seconds, ...after } = await showConfig();
      expect({ ...after, longest_span_seconds: before.longest_span_seconds }).to.deep.equal({ ...before, ...changed });
      expect(longest_span_seconds).to.be.at.least(before.longest_span_seconds);

      await page.getByLabel('Refund time', { exact: true }).fill(`${before.refund_grace_seconds / 60}`);
      await page.getByLabel('Dispute bond, SOL').fill('0.01');
      await review.click();
      await sign(page, 'Sign and change');
      expect(await showConfig()).to.include({ dispute_bond_lamports: `${BOND_LAMPORTS}` });
    }));

  it('grants a creator the badge and removes it, and callers see both', () =>
    site.visit(ADMIN, async (page) => {
      const { creator, agent_id } = site.visitor.agent('sandbox-echo');
      const isVerified = async () => (await site.visitor.send(`/v1/agents/${agent_id}`, null)).body.creator.verified;
      const was = await isVerified();
      await page.goto('/admin?tab=creators');
      await page.getByLabel('Find a creator').fill(creator);
      // The list may still show every creator.
      const row = page.getByRole('row', { name: creator.slice(0, 5) });
      for (const verified of [!was, was]) {
        const button = row.getByRole('button', { name: verified ? /^Give badge to / : /^Remove badge of / });
        await button.click();
        await sign(page, verified ? 'Give badge' : 'Remove badge');
        await until('the catalogue shows it', async () => (await isVerified()) === verified);
        await button.waitFor({ state: 'detached' });
      }
      await page.getByLabel('Show').selectOption(was ? 'Without the badge' : 'With the badge');
      await row.waitFor({ state: 'detached' });
      await page.getByLabel('Show').selectOption(was ? 'With the badge' : 'Without the badge');
      await row.waitFor();
    }));

  it('withdraws fees: treasury and account change by the same amount, and a failed withdrawal moves nothing', () =>
    site.visit(ADMIN, async (page) => {
      const { demo, units, usdcOf, exists, execute } = site.visitor;
      await execute('csv-analyst', { task: 'x', parameters: { csv: 'a\n1\n', query: 'SELECT a FROM csv' } });
      const treasury = new PublicKey(demo.treasury);
      const account = usdcOf(site.visitor.agent('csv-analyst').creator);
      const [held, had] = [await units(treasury), await units(account)];
      await page.goto('/admin?tab=settings');
      await page.getByRole('button', { name: 'Withdraw from the treasury …' }).click();
      await dialog(page).getByLabel('Amount, USDC').fill('999');
      await dialog(page).getByText('The treasury holds').waitFor();
      expect(await dialog(page).getByRole('button', { name: 'Sign and withdraw' }).isDisabled()).to.equal(true);
      await dialog(page).getByLabel('Amount, USDC').fill('0.001');

      // The demo's admin has no USDC account.
      expect(await exists(usdcOf((await showConfig()).admin))).to.equal(false);
      await dialog(page).getByRole('button', { name: 'Sign and withdraw' }).click();
      await dialog(page).getByText('It failed').waitFor();
      await dialog(page).getByText('DestinationUnusable').waitFor();
      expect([await units(treasury), await units(account)]).to.deep.equal([held, had]);

      await dialog(page).getByLabel('USDC account').fill(account.toBase58());
      await sign(page, 'Sign and withdraw');
      expect([await units(treasury), await units(account)]).to.deep.equal([held - 1_000n, had + 1_000n]);
    }));

  it('transfers the role in two steps, and gets it back', async () => {
    const { admin } = await showConfig();
    const { wallet: next, keypair_path } = site.visitor.demo.callers[1]!;
    await site.visit(ADMIN, async (page) => {
      await page.goto('/admin?tab=settings');
      await page.getByRole('button', { name: 'Propose an admin …' }).click();
      await dialog(page).getByLabel('Wallet of the next admin').fill(next);
      await sign(page, 'Sign and propose');
      await page.getByRole('region', { name: 'Pending changes' }).locator(`[title="${next}"]`).waitFor();
      expect(await page.locator('main h2').allTextContents()).to.have.property('1', 'Pending changes');
    });
    await site.visit({ as: 'Demo caller 2' }, async (page) => {
      await page.goto('/admin');
      await page.getByText('You are proposed as the next admin').waitFor();
      await page.getByRole('button', { name: 'Accept' }).click();
      await sign(page, 'Sign and accept');
      expect(await showConfig()).to.include({ admin: next });
      // The service's copy of the settings can be 2 s old.
      await until('the service knows the new admin', async () => {
        await page.reload();
        await untilLoaded(page);
        await page.getByRole('banner').getByRole('button', { name: '…' }).click();
        const isOffered = await page.getByRole('menuitem', { name: 'Admin' }).isVisible();
        await page.keyboard.press('Escape');
        return isOffered;
      });
    });
    await site.visitor.command(keypair_path, 'admin', 'propose-change', '--next-admin', admin);
    await site.visitor.command(join(site.dataDir, 'demo', 'admin.json'), 'admin', 'accept');
    expect(await showConfig()).to.include({ admin });
  });

  describe('a dispute', () => {
    const cases: Record<'rejected' | 'upheld', string> = { rejected: '', upheld: '' };

    before(async function () {
      this.timeout(600_000);
      const { visitor } = site;
      const file = join(site.dataDir, 'evidence.txt');
      writeFileSync(file, EVIDENCE);
      for (const name of ['rejected', 'upheld'] as const) {
        const { body } = await visitor.execute(DISPUTED, { task: `an echo, to be ${name}` });
        const { keypair_path } = visitor.demo.callers[0]!;
        const words = ['dispute', 'open', body.execution_id, '--evidence', file, '--hash-only'];
        await visitor.command(keypair_path, ...words);
        await visitor.sendUntil(
          `/v1/executions/${body.execution_id}`,
          0,
          (answer) => answer.body.status === 'disputed',
        );
        cases[name] = body.execution_id;
      }
      await giveEvidence(site, cases.rejected, EVIDENCE);
    });

    /**
     * USDC of all parties and of the agent's collateral; lamports of the creator and of the account that paid the bond.
     */
    async function held() {
      const { visitor } = site;
      const { agent_id, creator } = visitor.agent(DISPUTED);
      return {
        ...(await visitor.balances()),
        collateral: await visitor.units(visitor.seeds('collateral_vault', new PublicKey(agent_id).toBytes())),
        creatorLamports: await visitor.lamports(new PublicKey(creator)),
        callerLamports: await visitor.lamports(new PublicKey(visitor.demo.callers[0]!.wallet)),
      };
    }

    it('appears in the queue, with the evidence as text and the receipt verified again', () =>
      site.visit(ADMIN, async (page) => {
        await page.goto('/admin?tab=disputes&outcome=open');
        await chooseOwn(page, /^Admin\s*\d+ open$/);
        await page.getByRole('tab', { name: 'State', selected: true }).waitFor();
        // While a side may still write, nothing asks for a decision.
        await page
          .getByText(/^Nothing to do yet: 2 disputes in which a side may still write, the first until /)
          .waitFor();
        await page.getByText(/in 2 days .* The creator has not replied yet\./).waitFor();
        await page.getByText(/in 2 days .* Neither side has written anything yet\./).waitFor();
        expect(await page.locator('main a.bg-raised', { hasText: 'View' }).count()).to.equal(2);
        expect(await page.getByText(/Needs you|Decide$/).count()).to.equal(0);
        await page.getByRole('tab', { name: 'Disputes 2 open' }).waitFor();
        await page.goBack();
        const link = page.locator(`a[href="/admin/disputes/${cases.rejected}"]`);
        const row = page.getByRole('row').filter({ has: link });
        expect(await row.textContent()).to.match(
          /against[\s\S]*Call [\s\S]*No reply[\s\S]*Evidence uploaded[\s\S]*Wait until [\s\S]*0\.02 USDC[\s\S]*due in[\s\S]*View: dispute/,
        );
        await row.getByText('0.40 USDC').waitFor();
        await row.locator(`a[href="/agents/${site.visitor.agent(DISPUTED).agent_id}"]`).waitFor();
        await link.click();
        await page.getByRole('region', { name: 'Evidence' }).getByText(EVIDENCE.trim()).waitFor();
        await page.getByRole('region', { name: 'Task' }).getByText('an echo, to be rejected').first().waitFor();
        const unheard = 'The creator has not replied. No webhook of the creator is known to have received this dispute';
        await page.getByText(unheard).waitFor();
        await page.getByText('Genuine: the creator signed exactly this result').first().waitFor();
        expect(await page.locator('main img').count()).to.equal(0);
        await page.goto(`/admin/disputes/${cases.upheld}`);
        await page.getByText('The marketplace does not have the evidence').waitFor();
        await page.getByText('If it does not come, decide on what was asked and answered.').waitFor();
        await page
          .locator('dt')
          .filter({ hasText: 'This agent' })
          .locator('+ dd')
          .getByText('1 other dispute (1 open)')
          .waitFor();
      }));

    it("is in the list of its creator's disputes, and counted on the menu of a phone", () =>
      site.visit(ADMIN, async (page) => {
        const { creator } = site.visitor.agent(DISPUTED);
        const cells = page.locator('main').locator('tbody tr');
        await page.goto('/admin?tab=creators');
        await page
          .getByRole('row', { name: creator.slice(0, 5) })
          .getByRole('link', { name: '2 open disputes' })
          .click();
        await page.getByRole('tab', { name: 'Disputes', selected: true }).waitFor();
        await page.locator('main p').getByTitle(creator).waitFor();
        await until('both are listed', async () => (await cells.count()) === 2);
        await page.goto(`/admin?tab=disputes&outcome=open&creator=${site.visitor.demo.callers[0]!.wallet}`);
        await page.getByText('No dispute matches').waitFor();
        await page.setViewportSize(PHONE);
        // Nothing to do yet: the creator may still reply.
        await page.getByRole('button', { name: 'Menu', exact: true }).click();
        await page.getByRole('link', { name: /^Admin\s*2\s*open$/ }).waitFor();
        await page.keyboard.press('Escape');
        await page.getByRole('link', { name: 'Show all creators' }).click();
        await until('both are listed', async () => (await cells.count()) === 2);
      }));

    it('asks the caller for evidence that is missing, and takes only the text or file with its hash', () =>
      site.visit({ as: 'Demo caller 1' }, async (page) => {
        await page.goto(`/disputes/${cases.upheld}`);
        await page.getByText('The admin cannot read your evidence').waitFor();
        const upload = page.getByRole('button', { name: 'Upload' });
        await page.getByLabel('Your text').fill('Something else');
        await upload.click();
        await page.getByText('This is another text').waitFor();
        await page.getByText('Choose a file', { exact: true }).click();
        const choose = (content: string) =>
          page
            .getByLabel('Evidence file')
            .setInputFiles({ name: 'evidence.md', mimeType: 'text/markdown', buffer: Buffer.from(content) });
        await choose('Something else');
        await upload.click();
        await page.getByText('This is another file').waitFor();
        await choose(EVIDENCE);
        await upload.click();
        await page.getByText('same hash as on the chain').waitFor();
      }));

    it('gives the creator the bond when it is rejected, and no USDC moves', () =>
      site.visit(ADMIN, async (page) => {
        const before = await held();
        await page.goto(`/admin/disputes/${cases.rejected}`);
        await page.getByText('Choose an outcome and write a reason.').waitFor();
        const advice = 'The creator has not replied yet. You can decide now, but better wait until';
        await page.getByLabel('Your decision').getByText(advice).waitFor();
        await page.getByRole('radio', { name: 'Reject' }).click();
        await page.getByText('Write a reason.', { exact: true }).waitFor();
        await page.getByLabel('Reason').fill(REASON);
        await page.getByRole('link', { name: 'All disputes' }).click();
        await dialog(page).getByText('not signed yet').waitFor();
        await dialog(page).getByRole('button', { name: 'Stay' }).click();
        await page.getByRole('button', { name: 'Review the decision' }).click();
        await dialog(page).getByText('gets the bond of 0.01 SOL').waitFor();
        await dialog(page).getByText(advice).waitFor();
        await sign(page, 'Sign and reject');
        expect(await held()).to.deep.equal({ ...before, creatorLamports: before.creatorLamports + BOND_LAMPORTS });
        await page.getByRole('heading', { name: 'The decision' }).waitFor();
        await page.getByText('The caller’s bond of 0.01 SOL went to the creator.').waitFor();
        const account = site.visitor.seeds('dispute', site.visitor.recordOf(cases.rejected).toBytes());
        await page.locator(`[title="${account.toBase58()}"]`).waitFor();
        await page.getByText(REASON).waitFor();
      }));

    it('is in the SOL of the caller who lost the bond', () =>
      site.visit({ as: 'Demo caller 1' }, async (page) => {
        await page.goto('/spend');
        const held = page.getByRole('region', { name: 'SOL held' });
        await held.getByText('Lost so far, to the creators: the bonds of 1 rejected dispute, 0.01 SOL.').waitFor();
      }));

    it('pays the caller the price from the collateral when it is upheld, and keeps the rest as forfeit', () =>
      site.visit(ADMIN, async (page) => {
        const before = await held();
        await page.goto(`/admin/disputes/${cases.upheld}`);
        for (const line of [
          'You choose 0 to 0.40 USDC (20 times the price) from the collateral. The caller gets the first 0.02 USDC and the bond of 0.01 SOL. The rest is kept for later callers, then goes to the treasury. The creator keeps what it earned.',
          'The call counts as failed; any amount pauses the agent: its collateral is at the minimum.',
        ])
          await page.getByText(line, { exact: true }).waitFor();
        // On a laptop the whole panel is in the window, and nothing in it scrolls.
        await page.setViewportSize({ width: 1280, height: 800 });
        const cut = `[...document.querySelectorAll('[aria-label="Your decision"], [aria-label="Your decision"] form > div')]
          .map((one) => one.getBoundingClientRect().bottom > 800 || one.scrollHeight > one.clientHeight + 1)`;
        expect(await page.evaluate(cut)).to.deep.equal([false, false, false]);
        await page.getByRole('radio', { name: 'Uphold' }).click();
        const field = page.getByLabel('Taken from the collateral, USDC (0 to 0.40)', { exact: true });
        await page.getByText('The price repays the caller; no rule asks for more.').waitFor();
        const panel = page.getByLabel('Your decision');
        await panel.getByText('gets 0.02 USDC, and the bond of 0.01 SOL back').waitFor();
        await panel.getByText('1.00 USDC → 0.98 USDC').waitFor();
        await panel.getByText('is paused: the collateral falls below its minimum of 1.00 USDC').waitFor();
        expect(await page.evaluate(cut)).to.deep.equal([false, false, false]);
        const lines = `[...document.querySelectorAll('[role=radiogroup] input')]
          .map((one) => document.getElementById(one.getAttribute('aria-describedby')))
          .map((one) => one.clientHeight / parseFloat(getComputedStyle(one).lineHeight))`;
        expect(Math.max(...(await page.evaluate<number[]>(lines)))).to.equal(1);
        expect(await field.inputValue()).to.equal('0.02');
        await field.fill('1000000');
        await page.getByText('USDC can be taken.').waitFor();
        await field.fill('0.025');
        await page.getByLabel('Reason').fill('A whisper is no echo.');
        await page.getByRole('button', { name: 'Review the decision' }).click();
        await dialog(page).getByText('gets 0.02 USDC, and the bond of 0.01 SOL back').waitFor();
        await dialog(page).getByText('0.005 USDC').waitFor();
        await sign(page, 'Sign and uphold');
        const { wallet } = site.visitor.demo.callers[0]!;
        expect(await held()).to.deep.equal({
          ...before,
          [wallet]: (before as Record<string, bigint>)[wallet]! + PRICE,
          collateral: before.collateral - PRICE,
          callerLamports: before.callerLamports + BOND_LAMPORTS,
        });
        await page.getByText('A whisper is no echo.').waitFor();
        const others = page.getByRole('list', { name: 'The newest of this caller and this agent' });
        await others.locator(`a[href="/admin/disputes/${cases.rejected}"]`).waitFor();
        await others.getByText(`The admin’s reason: ${REASON}`).waitFor();
        await page.goto('/admin?tab=disputes&outcome=upheld');
        await page.locator(`a[href="/admin/disputes/${cases.upheld}"]`).waitFor();
      }));

    it("leaves in the log the admin's reads and decisions, with their transactions", () =>
      site.visit(ADMIN, async (page) => {
        await page.goto('/admin?tab=log');
        const done = page.getByRole('region', { name: 'Sign-ins, reads and saved reasons' });
        const evidence = done.getByRole('cell', { name: 'Read evidence', exact: true });
        await evidence.first().waitFor();
        await page.getByLabel('Show').selectOption('Sign-ins and saved reasons');
        await evidence.first().waitFor({ state: 'detached' });
        for (const what of ['Signed in on the page', 'Saved the reason for a decision'])
          await done.getByRole('cell', { name: what, exact: true }).first().waitFor();
        await page.getByLabel('Show').selectOption('Reads');
        await done
          .getByRole('cell', { name: 'Signed in on the page', exact: true })
          .first()
          .waitFor({ state: 'detached' });
        await evidence.first().waitFor();
        const { admin } = await showConfig();
        const decided = page.getByRole('region', { name: 'Decisions and changes' });
        for (const [word, id] of Object.entries({ Rejected: cases.rejected, Upheld: cases.upheld })) {
          const row = decided.getByRole('row').filter({ has: page.locator(`[title="${id}"]`) });
          await row.getByText(`${word} dispute`).waitFor();
          await row.getByRole('cell', { name: 'Admin', exact: true }).waitFor();
        }
        // Only its transaction says whose pause it was.
        const paused = decided.getByRole('row').filter({ hasText: 'Pause of the admin' }).first();
        await paused
          .getByRole('cell', { name: /^Admin/ })
          .locator(`[title="${admin}"]`)
          .waitFor();

        // On a phone nothing of a table is cut off.
        await page.setViewportSize(PHONE);
        const hidden = `[...document.querySelectorAll('main section:has(> table)')].map((one) => one.scrollWidth - one.clientWidth)`;
        const shownWhole = (tables: number) =>
          until(
            'all columns fit',
            () => page.evaluate(`String(${hidden}) === '${Array(tables).fill(0)}'`) as Promise<boolean>,
          );
        await shownWhole(2);
        await changeAnswers(page, '**/trpc/creators.list*', (json) => {
          for (const creator of json.result.data.creators) {
            const disputes = { open: 10, rejected: 20, upheld: 30, lapsed: 40 };
            const counts = { listings: 1_000, total_executions: 1_000_000, failed_executions: 100_000 };
            Object.assign(creator, { ...counts, disputes, earned_usdc: 123_456.789012, other_names: ['Acme Bank'] });
          }
        });
        await page.goto('/admin?tab=creators');
        await page.getByText('also lists as Acme Bank').first().waitFor();
        await page.getByText(/^\d+ in total, newest listing first$/).waitFor();
        for (const width of [PHONE.width, 1_024, 1_280]) {
          await page.setViewportSize({ width, height: 800 });
          await shownWhole(1);
        }

        const log = (...words: string[]) =>
          site.visitor.command(join(site.dataDir, 'demo', 'admin.json'), 'admin', 'log', ...words);
        const actions: { action: string; subject: string; outcome: string }[] = await log('--limit', '100');
        const reasons = actions.filter(({ action }) => action === 'disputes.putReason');
        expect(reasons.map(({ subject, outcome }) => [subject, outcome])).to.deep.equal([
          [cases.upheld, 'done'],
          [cases.rejected, 'done'],
        ]);
        const events: { event: string; at: string }[] = await log('--on-chain', '--limit', '2');
        expect(events.map(({ event }) => event)).to.deep.equal(['DisputeResolved', 'DisputeResolved']);
      }));
  });
});
