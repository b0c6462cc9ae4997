/** Other actions of a caller: creating API keys, reading past executions, and disputing one. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { createApproveInstruction, getAccount } from '@solana/spl-token';
import { Connection, Keypair, PublicKey, sendAndConfirmTransaction, Transaction } from '@solana/web3.js';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { readKeypair } from '../../app/cli/wallet.ts';
import { findSpender } from '../../app/sdk/program/addresses.ts';
import { until } from '../harness/edge/until.ts';
import { decodeHeader, makePayment, paymentHeader } from '../harness/node/x402.ts';
import { dialog, recordTexts, signInAs, signOut, untilShown } from './browser.ts';
import { useSite } from './site.ts';

const run = promisify(execFile);
const NAME = 'nightly-report';
const COMPLAINT = 'I asked for an echo & got <script>alert(1)</script> instead.';
const BOND_LAMPORTS = 10_000_000n;
const SIGNATURE_LAMPORTS = 5_000n;

describe('the caller', function () {
  this.timeout(600_000);
  const site = useSite();
  let executionId: string;

  before(async () => {
    const { body } = await site.visitor.execute('sandbox-echo', { task: 'What I paid for' });
    executionId = body.execution_id;
    await site.visitor.sendUntil(`/v1/executions/${executionId}`, 0, (answer) => answer.body.status === 'completed');
  });

  const card = (page: Page) => page.getByRole('main').locator(`[aria-label="API key ${NAME}"]`);

  it('creates a key, sees it once, calls with the exact command shown, and revokes it', () =>
    site.visit({ as: 'Demo caller 2' }, async (page) => {
      const { visitor } = site;
      await page.goto('/keys');
      await page.getByRole('button', { name: 'Create API key' }).click();
      await dialog(page).getByText('Enter a name first.').waitFor();
      await dialog(page).getByLabel('Name').fill(NAME);
      await dialog(page)
        .getByText('The key may spend 50.00 USDC per day, 1.00 per call, 100.00 in total, until ')
        .waitFor();
      await dialog(page).getByLabel('May spend, USDC').fill('5');
      await dialog(page).getByLabel('Per call, USDC').fill('0');
      await dialog(page).getByText('It must be more than 0.').waitFor();
      expect(await dialog(page).getByRole('button', { name: 'Sign and create' }).isDisabled()).to.equal(true);
      await dialog(page).getByLabel('Per call, USDC').fill('2');
      await dialog(page)
        .getByText('The key may spend 5.00 USDC per day, 2.00 per call, 100.00 in total, until ')
        .waitFor();
      await dialog(page).getByText('Advanced').click();
      await dialog(page)
        .getByText('Optional: this marketplace pays the network fees that the gas balance does not cover.')
        .waitFor();
      await dialog(page).getByLabel('Network fees in advance, SOL').fill('0.01');
      await dialog(page)
        .getByText(/With it, for about [\d,]+ calls\./)
        .waitFor();
      await dialog(page).getByLabel('Network fees in advance, SOL').fill('0');
      // Nothing can be signed before the wallet's balance is known.
      await dialog(page).getByText('You have').waitFor();
      await dialog(page)
        .getByText(/^\d+\.\d+ SOL$/)
        .waitFor();
      await dialog(page).getByText('; refunded calls use it up too').waitFor();
      const before = await visitor.balances();
      await dialog(page).getByRole('button', { name: 'Sign and create' }).click();
      const shown = page.getByRole('dialog', { name: `Your key "${NAME}"` });
      const line = await shown.getByRole('region', { name: 'A first request with curl' }).textContent();
      const apiKey = /Bearer (crtx_test_[^']+)'/.exec(line!)![1]!;
      // Creating a key moves no USDC.
      expect(await visitor.balances()).to.deep.equal(before);
      await shown.getByRole('button', { name: 'Done' }).click();
      await shown.getByText('without it you cannot use it').waitFor();
      await shown.getByRole('button', { name: 'Stay' }).click();
      await shown.getByRole('button', { name: 'Copy', exact: true }).first().click();
      const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
      await until('the key is copied', async () => (await copied()) === apiKey);
      await shown.getByRole('button', { name: 'Done' }).click();
      await shown.waitFor({ state: 'detached' });
      await page.locator('#content:focus').waitFor();
      await page.reload();
      await card(page).getByText('Never used').waitFor();
      expect(await page.content()).to.not.include(apiKey);

      const { stdout } = await run('sh', ['-c', line!]);
      const answer = JSON.parse(stdout);
      expect(answer).to.include({ status: 'completed' });
      const agentId = /\/agents\/(\w+)\/execute/.exec(line!)![1];
      const { name } = visitor.demo.agents.find(({ agent_id }) => agent_id === agentId)!;
      const price = BigInt(Math.round(answer.cost_usdc * 1e6));
      visitor.assertPaid(before, await visitor.balances(), name, price, 1);

      const ask = (path: string) =>
        fetch(`${site.baseUrl}${path}`, { headers: { authorization: `Bearer ${apiKey}` } }).then(
          ({ status }) => status,
        );
      expect(await ask('/v1/executions')).to.equal(200);
      // Without a reload: the list follows events elsewhere.
      const left = (100 - answer.cost_usdc).toFixed(2);
      await card(page).getByText(`of 100.00 USDC used, ${left} left`).waitFor();
      await card(page).getByText('The chain enforces: 5.00 USDC per day').waitFor();
      await card(page).getByText('Use in the last 30 days').click();
      await card(page)
        .getByText(new RegExp(`^1 call on .*: ${answer.cost_usdc.toFixed(2)} USDC spent\\.$`))
        .waitFor();
      // A disabled button says why.
      const act = async (action: string) => {
        await page.getByRole('button', { name: `Actions of ${NAME}` }).click();
        await page.getByRole('menuitem', { name: action }).click();
      };
      const cancel = async () => {
        await dialog(page).getByRole('button', { name: 'Cancel' }).click();
        await dialog(page).waitFor({ state: 'detached' });
      };
      await page.getByRole('button', { name: `Change limits of ${NAME}` }).click();
      await dialog(page).getByText('Change a limit first.').waitFor();
      await cancel();
      await act('Replace …');
      await dialog(page)
        .getByText(/^You pay now about 0\.\d+ SOL\./)
        .waitFor();
      await dialog(page)
        .getByText(/^0\.\d+ of it is a deposit that you can take back after/)
        .waitFor();
      await cancel();
      await act('What it may do …');
      await dialog(page).getByLabel('Only from these IP addresses').fill('nowhere');
      await dialog(page).getByText('Correct the marked fields first.').waitFor();
      expect(await dialog(page).getByRole('button', { name: 'Save' }).isDisabled()).to.equal(true);
      await cancel();
      await page.getByText('Advanced').click();
      await page.getByRole('button', { name: 'Top up' }).click();
      await dialog(page).getByLabel('Amount, SOL').fill('0');
      await dialog(page).getByText('Enter an amount above 0 first.').waitFor();
      await cancel();
      await page.getByRole('button', { name: `Revoke ${NAME}` }).click();
      await recordTexts(page);
      await dialog(page).getByRole('button', { name: 'Revoke', exact: true }).click();
      await dialog(page).waitFor({ state: 'detached' });
      await untilShown(page, `"${NAME}" is revoked`);
      expect(await ask('/v1/executions')).to.equal(401);
      const { stdout: refused } = await run('sh', ['-c', line!]);
      expect(JSON.parse(refused).error.code).to.equal('unauthorized');
      await page.getByText('Ended keys').click();
      await card(page).getByText('Revoked', { exact: true }).waitFor();
    }));

  it('finds an execution again and disputes it: signs the hash of the reason, and pays a bond', () =>
    site.visit({ as: 'Demo caller 1' }, async (page) => {
      const { visitor } = site;
      const wallet = new PublicKey(visitor.demo.callers[0]!.wallet);
      await page.goto('/executions?status=completed');
      await page.locator(`a[href$="/executions/${executionId}"]`).first().click();
      await page.getByRole('main').getByText('What I paid for').first().waitFor();
      await page.getByText('You risk a bond of 0.01 SOL to get back at most ').waitFor();
      await page.getByRole('button', { name: 'Open a dispute' }).click();
      await dialog(page).getByLabel('What is wrong').fill(COMPLAINT);
      const hash = createHash('sha256').update(COMPLAINT).digest('hex');
      await dialog(page)
        .getByText('deposit 0.00204724 SOL, which comes back 30 days after the dispute ends.')
        .waitFor();
      await dialog(page).getByRole('region', { name: 'If it is rejected' }).getByText('0.01 SOL').first().waitFor();
      const [usdc, lamports] = [await visitor.balances(), await visitor.lamports(wallet)];
      const dispute = visitor.seeds('dispute', visitor.recordOf(executionId).toBytes());
      // Without its evidence, no dispute is opened.
      const refuse = { status: 413, json: { error: { message: 'Too large' } } };
      await page.route('**/trpc/disputes.putEvidence', (route) => route.fulfill(refuse));
      await dialog(page).getByRole('button', { name: 'Pay and open' }).click();
      await dialog(page).getByText('Your evidence was not stored, so no dispute is opened').waitFor();
      expect(await visitor.exists(dispute)).to.equal(false);
      expect(await visitor.lamports(wallet)).to.equal(lamports);
      await page.unrouteAll();
      await dialog(page).getByRole('button', { name: 'Pay and open' }).click();
      await dialog(page).waitFor({ state: 'detached' });
      await page.getByText('The admin should decide by').waitFor();

      const held = await visitor.lamports(dispute);
      expect(held > BOND_LAMPORTS).to.equal(true);
      expect(await visitor.lamports(wallet)).to.equal(lamports - held - SIGNATURE_LAMPORTS);
      expect(await visitor.balances()).to.deep.equal(usdc);
      const listed = await visitor.sendUntil(
        `/v1/executions/${executionId}`,
        0,
        ({ body }) => body.status === 'disputed',
      );
      expect(listed.body.status).to.equal('disputed');
      await page.goto('/disputes');
      const shown = page.locator('section').filter({ has: page.locator(`[title="${executionId}"]`) });
      await shown.getByRole('link', { name: 'View dispute' }).click();
      await page.getByRole('heading', { level: 1, name: 'Dispute over sandbox-echo, 0.01 USDC' }).waitFor();
      await page.getByRole('region', { name: 'If it is rejected' }).getByText('you lose 0.01 SOL').waitFor();
      const upheld = page.getByRole('region', { name: 'If it is upheld' });
      await upheld.getByText('0.01 SOL back and up to 0.01 USDC').first().click();
      // Twenty times the price.
      await upheld.getByText('up to 0.20 USDC').waitFor();
      await page.locator(`[title="${hash}"]`).waitFor();
      await page.getByLabel('Evidence').getByText(COMPLAINT).waitFor();
      await page.getByText('The creator has not replied.').waitFor();
    }));

  /** Stops the page's polling. */
  const stopPolls = (page: Page) => page.addInitScript({ content: 'globalThis.setInterval = () => 0' });

  it('follows a program’s call by events alone, in list, header and its page, until it can be disputed', () =>
    site.visit({ as: 'Demo caller 1' }, async (page) => {
      await stopPolls(page);
      await page.goto('/executions');
      await page.getByRole('region', { name: 'Calls' }).waitFor();
      const parameters = { seconds: 6 };
      const { status, body } = await site.visitor.execute('sandbox-slow', { task: 'Slowly', parameters, async: true });
      // 202 if the escrow takes longer than the service waits.
      expect([200, 202], JSON.stringify(body)).to.include(status);
      await page.locator(`a[href$="/executions/${body.execution_id}"]`).first().click();
      await page.getByRole('heading', { name: 'Not what was promised?' }).waitFor();
      await page.getByRole('heading', { name: 'If no result comes' }).waitFor({ state: 'detached' });
      await page.getByRole('banner').getByRole('link', { name: 'running' }).waitFor({ state: 'detached' });
    }));

  it('keeps no event stream in a hidden tab or after signing out, and catches up when shown again', () =>
    site.visit({}, async (page) => {
      const opened = () => page.waitForResponse((answer) => answer.url().endsWith('/v1/events') && answer.ok());
      const closed = () => page.waitForEvent('requestfailed', (request) => request.url().endsWith('/v1/events'));
      const turn = (to: 'hidden' | 'visible') =>
        page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${to}', configurable: true }),
          dispatchEvent(new Event('visibilitychange'))`);
      await stopPolls(page);
      await page.goto('/executions');
      await Promise.all([opened(), signInAs(page, 'Demo caller 1')]);
      const newest = page.getByRole('region', { name: 'Calls' }).locator('tbody tr').first();
      await newest.waitFor();
      await Promise.all([closed(), turn('hidden')]);
      const { body } = await site.visitor.execute('sandbox-echo', { task: 'Unseen' });
      expect(await newest.innerHTML()).to.not.include(body.execution_id);
      await Promise.all([opened(), turn('visible')]);
      await newest.locator(`a[href$="/executions/${body.execution_id}"]`).waitFor();
      await Promise.all([closed(), signOut(page)]);
    }));

  it('reads nothing about money while the opening of an execution is not confirmed', async () => {
    const { body } = await site.visitor.send(`/v1/executions/${executionId}`, 0);
    const id = crypto.randomUUID();
    const ends = { completed_at: null, execution_time_ms: null, result: null, result_hash: null, signature: null };
    const amounts = { cost_usdc: 0, creator_amount_usdc: 0, platform_amount_usdc: 0 };
    const opening = { ...body, ...ends, ...amounts, execution_id: id, status: 'running', dispute: null };
    await site.visit({ as: 'Demo caller 1' }, async (page) => {
      let json = opening;
      await page.route(`**/v1/executions/${id}`, (route) => route.fulfill({ json }));
      await page.goto(`/executions/${id}`);
      // The record was requested, and none exists.
      await page.getByText('On the chain', { exact: true }).click();
      await page.getByText('Its account is not on the chain').waitFor();
      await page.getByText('Solana has not confirmed it yet.').waitFor();
      expect(await page.getByRole('main').textContent()).not.to.match(/held|in escrow|into escrow|works|USDC/i);
      json = { ...opening, cost_usdc: 0.01 };
      await page.reload();
      await page.getByText('Price put into escrow').waitFor();
      await page.getByRole('heading', { name: 'In escrow', exact: true }).waitFor();
      await page.getByText('0.01 USDC', { exact: true }).waitFor();
    });
  });

  it('reads the request of a failed call, and how its price came back', async () => {
    const task = 'What failed elsewhere';
    const { body } = await site.visitor.execute('sandbox-fails', { task });
    const id = body.error.execution_id;
    await site.visitor.sendUntil(`/v1/executions/${id}`, 0, (answer) => answer.body.refund === 'done');
    await site.visit({ as: 'Demo caller 1' }, async (page) => {
      await page.goto(`/executions/${id}`);
      const card = (title: string) =>
        page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) });
      await card('What was asked').getByText(task, { exact: true }).waitFor();
      await card('Refunded')
        .getByText(/^0\.\d+ USDC$/)
        .waitFor();
      await card('Refunded').getByText('Transaction').waitFor();
      expect(await page.getByRole('main').textContent()).not.to.match(/Paid|0\.00 USDC/);
      await page.getByRole('link', { name: body.error.code, exact: true }).click();
      await page.waitForURL(`**/docs#error-${body.error.code}`);
    });
  });

  it('reads into which deposit a call by x402 was paid, and its service fee, which counts as paid', async () => {
    const { demo, agent, sendUntil } = site.visitor;
    const payer = readKeypair(demo.callers[0]!.keypair_path, "the caller's keypair");
    const url = `${site.baseUrl}/v1/x402/agents/${agent('sandbox-echo').agent_id}/execute`;
    const ask = (headers: Record<string, string> = {}) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ task: 'Paid by x402' }),
      });
    const [accepted] = decodeHeader(await ask(), 'payment-required').accepts;
    const bought = await ask({
      'payment-signature': paymentHeader(accepted, await makePayment(site.visitor, accepted, payer)),
    });
    const answer = await bought.text();
    expect(bought.status, answer).to.equal(200);
    const id: string = JSON.parse(answer).execution_id;
    await sendUntil(`/v1/executions/${id}`, 0, ({ body }) => body.status === 'completed' && body.service_fee_usdc);
    const hasFee = (row: { service_fee_usdc: number }) => row.service_fee_usdc > 0;
    await sendUntil('/v1/statements/spend', 0, ({ body }) => body.rows.some(hasFee));
    await site.visit({ as: 'Demo caller 1' }, async (page) => {
      await page.goto('/spend');
      await page.getByText('x402 service fees of 0.005 USDC').waitFor();
      await page.goto(`/executions/${id}`);
      await page.getByText('0.005 USDC, not refundable', { exact: true }).waitFor();
      const facts = page.locator('details').filter({ has: page.getByRole('heading', { name: 'On the chain' }) });
      await facts.getByText('On the chain').click();
      const row = facts.locator('dl > div').filter({ has: page.locator('dt', { hasText: 'Paid by x402 into' }) });
      await row.locator(`code[title="${accepted.payTo}"]`).waitFor();
      // The row with the record's address shows that the record is read.
      await facts.getByText('Record', { exact: true }).waitFor();
      expect(await facts.getByText(/^(API key|Opened by)$/).count()).to.equal(0);
    });
  });

  it('sees that another program replaced the allowance of the keys, and restores it', () =>
    site.visit({ as: 'Demo caller 2' }, async (page) => {
      const { demo, usdcOf, balances } = site.visitor;
      const { wallet, keypair_path } = demo.callers[1]!;
      const owner = readKeypair(keypair_path, "the caller's keypair");
      const other = Keypair.generate().publicKey;
      const connection = new Connection(demo.rpc_url, { wsEndpoint: demo.ws_url, commitment: 'confirmed' });
      const before = await balances();
      const approve = createApproveInstruction(usdcOf(wallet), other, owner.publicKey, 3_000_000n);
      await sendAndConfirmTransaction(connection, new Transaction().add(approve), [owner]);

      await page.goto('/keys');
      const warning = page.getByText('Another program replaced the USDC allowance of your keys');
      await warning.waitFor();
      await page.locator(`[title*="${other.toBase58()}"]`).first().waitFor();
      await page.getByRole('button', { name: 'Restore the allowance' }).click();
      await dialog(page).getByText('taken by another program').waitFor();
      const sign = dialog(page).getByRole('button', { name: 'Sign the allowance' });
      expect(await sign.isDisabled()).to.equal(true);
      await dialog(page).getByText('Agree to replace the other program’s allowance first.').waitFor();
      await dialog(page).getByLabel('Replace another program’s allowance').check();
      // Twice the 1,000 USDC of the demo's key, or more.
      expect(Number(await dialog(page).getByLabel('Allowance, USDC').inputValue())).to.be.within(1_900, 2_300);
      await dialog(page).getByLabel('Allowance, USDC').fill('900');
      await sign.click();
      await dialog(page).waitFor({ state: 'detached' });
      await warning.waitFor({ state: 'detached' });
      await page.getByText('900.00 USDC left').waitFor();
      const { delegate, delegatedAmount } = await getAccount(connection, usdcOf(wallet));
      expect([delegate?.toBase58(), delegatedAmount]).to.deep.equal([
        findSpender(owner.publicKey).toBase58(),
        900_000_000n,
      ]);
      // The delegate has changed, and no balance has.
      expect(await balances()).to.deep.equal(before);
    }));

  it('sees no execution of another wallet', () =>
    site.visit({ as: 'Demo caller 2' }, async (page) => {
      await page.goto(`/executions/${executionId}`);
      await page.getByText('This wallet has no such call').waitFor();
    }));
});
