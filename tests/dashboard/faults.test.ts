/** The page reports a part of the marketplace that does not answer, and continues once it answers again. */
import { randomBytes } from 'node:crypto';
import { createAssociatedTokenAccountInstruction, createTransferInstruction } from '@solana/spl-token';
import { Connection, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import type { Response } from 'playwright-core';
import { readKeypair } from '../../app/cli/wallet.ts';
import { constants, depositAddress, findTokenAccount, prepareDeposit } from '../../app/sdk/program/program.ts';
import { sendTransaction } from '../../app/sdk/wallet/send.ts';
import { keypairSigner } from '../../app/sdk/wallet/signer.ts';
import { timeTravel } from '../harness/node/node.ts';
import { dialog, payByKey, progress } from './browser.ts';
import { useSite } from './site.ts';

const CALLER = { as: 'Demo caller 1' } as const;
const PRICE = 10_000n;
const SERVICE_FEE = 5_000n;
/** Half of those of a wallet. */
const STREAMS_PER_KEY = 10;
/** The console reports every request that was cut off. */
const CUT_OFF = /Failed to load resource: net::ERR_(FAILED|CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE)/;

describe('a node that does not answer', function () {
  this.timeout(600_000);
  const site = useSite();

  it('blocks signing with the reason, pays nothing, and lets the same dialog continue later', () =>
    site.visit({ ...CALLER, expected: CUT_OFF }, async (page) => {
      const { visitor } = site;
      const before = await visitor.balances();
      const node = `${visitor.demo.rpc_url}/**`;
      await page.route(node, (route) => route.abort());
      await page.goto(`/agents/${visitor.agent('sandbox-echo').agent_id}?tab=run`);
      await page.getByLabel('Task').fill('Later');
      const unread = 'The network fees could not be loaded';
      await page.getByRole('complementary', { name: 'Payment' }).getByText(unread).waitFor();
      await page.getByRole('button', { name: 'Run with 0.01 USDC' }).click();
      const pay = dialog(page).getByRole('button', { name: 'Run with 0.01 USDC' });
      const retry = dialog(page).getByRole('button', { name: 'Try again' });
      // Nobody can pay before the network fees and the balance are known.
      await dialog(page).getByText(unread).waitFor();
      await dialog(page).getByText('Your balance could not be loaded').waitFor();
      expect(await pay.isDisabled()).to.equal(true);
      await page.unroute(node);
      await retry.first().click();
      await dialog(page).getByText('about 0.000015 SOL', { exact: true }).waitFor();
      expect(await pay.isDisabled()).to.equal(true);
      await retry.click();
      await dialog(page)
        .locator('dd')
        .filter({ hasText: /^[0-9,.]+ USDC(, [0-9.]+ SOL)?$/ })
        .nth(1)
        .waitFor();
      await page.route(node, (route) => route.abort());
      await pay.click();
      await dialog(page).getByText('It failed').waitFor();
      await dialog(page)
        .getByText(/No Solana node answers/)
        .waitFor();
      expect(await visitor.balances()).to.deep.equal(before);
      await page.unroute(node);
      await pay.click();
      await progress(page, 'Completed').waitFor();
      const { wallet } = visitor.demo.callers[0]!;
      expect((await visitor.balances())[wallet]).to.equal(before[wallet]! - PRICE);
    }));
});

describe('a wallet with as many event streams as it may have', function () {
  this.timeout(600_000);
  const site = useSite();

  it('still sees on the page that a call ends', () =>
    site.visit(CALLER, async (page) => {
      const leaving = new AbortController();
      const { visitor, baseUrl } = site;
      const cookie = (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
      // The page of the sign-in holds one stream until it is left.
      await page.goto('about:blank');
      const readers: [string, string][] = [
        ['authorization', `Bearer ${visitor.demo.callers[0]!.api_key}`],
        ['cookie', cookie],
      ];
      // A stream ends when its response is collected as garbage.
      const streams: globalThis.Response[] = [];
      for (const reader of readers) {
        const open = () => fetch(`${baseUrl}/v1/events`, { headers: [reader], signal: leaving.signal });
        for (let count = 0; count < STREAMS_PER_KEY; ) {
          const stream = await open();
          if (!stream.ok) continue;
          streams.push(stream);
          count += 1;
        }
      }
      const ended = page.getByRole('heading', { name: 'Not what was promised?' });
      const refusal = (answer: Response) => answer.url().endsWith('/v1/events') && answer.status() === 429;
      let isRefused = false;
      // On a busy machine the page may take longer to load than the call runs.
      for (let seconds = 6; !isRefused; seconds *= 2) {
        const call = { task: 'Slowly', parameters: { seconds }, async: true };
        const { body } = await visitor.execute('sandbox-slow', call);
        const refused = page.waitForResponse(refusal).then(
          () => true,
          () => false,
        );
        await page.goto(`/executions/${body.execution_id}`);
        isRefused = await Promise.race([refused, ended.waitFor().then(() => false)]);
      }
      await ended.waitFor();
      expect(streams).to.have.length(2 * STREAMS_PER_KEY);
      leaving.abort();
    }));
});

describe('a marketplace that does not answer', function () {
  this.timeout(600_000);
  const site = useSite();

  it('lets a wallet refund an execution that was never started, after its time', () =>
    site.visit(CALLER, async (page) => {
      const { visitor } = site;
      const { wallet } = visitor.demo.callers[0]!;
      const before = await visitor.balances();
      await page.goto(`/agents/${visitor.agent('sandbox-echo').agent_id}?tab=run`);
      await page.getByLabel('Task').fill('Never started');
      const refusal = { error: { code: 'invalid_request', message: 'not today', request_id: 'none' } };
      await page.route('**/start', (route) => route.fulfill({ status: 400, json: refusal }));
      await page.getByRole('button', { name: 'Run with 0.01 USDC' }).click();
      await dialog(page).getByRole('button', { name: 'Run with 0.01 USDC' }).click();
      await progress(page, 'Not started').waitFor();
      expect(await visitor.balances()).to.deep.equal({ ...before, [wallet]: before[wallet]! - PRICE });
      await page.getByRole('link', { name: 'Call and receipt' }).click();
      await dialog(page).getByText('The price is in escrow, but the work has not started.').waitFor();
      await dialog(page).getByRole('button', { name: 'Leave' }).click();
      await page.getByText('If no result comes').waitFor();
      expect(await page.getByRole('button', { name: 'Refund now' }).count()).to.equal(0);

      await visitor.command(null, 'local', 'travel', '1');
      await page.reload();
      await page.getByRole('button', { name: 'Refund now' }).click();
      await dialog(page).getByText('0.01 USDC').waitFor();
      await dialog(page).getByRole('button', { name: 'Sign the refund' }).click();
      await dialog(page).waitFor({ state: 'detached' });
      expect(await visitor.balances()).to.deep.equal(before);
      await page.getByRole('main').getByText('Refunded 0.01 USDC', { exact: true }).first().waitFor();
    }));

  /** Pays a deposit of the first demo caller. The caller prepares it itself, so no relay opens or returns it. */
  async function payIntoDeposit(): Promise<{ deposit: PublicKey; expiresAt: number }> {
    const { demo } = site.visitor;
    const connection = new Connection(demo.rpc_url, { wsEndpoint: demo.ws_url, commitment: 'confirmed' });
    const keypair = readKeypair(demo.callers[0]!.keypair_path, "the caller's keypair");
    const { publicKey: owner } = keypair;
    const usdcMint = new PublicKey(demo.usdc_mint);
    const listing = new PublicKey(site.visitor.agent('sandbox-echo').agent_id);
    const terms = {
      listing,
      listingVersion: 1,
      requestHash: randomBytes(32),
      timeoutSeconds: 60,
      nonce: randomBytes(16),
    };
    const quote = { terms, payer: owner, price: PRICE, serviceFee: SERVICE_FEE, usdcMint };
    const { address: deposit, vault } = depositAddress(quote);
    const instructions = [
      createAssociatedTokenAccountInstruction(owner, vault, deposit, usdcMint),
      createTransferInstruction(findTokenAccount(owner, usdcMint), vault, owner, PRICE + SERVICE_FEE),
      prepareDeposit({ ...quote, authority: owner, rentPayer: owner, rentSponsor: owner, caller: owner }),
    ];
    await sendTransaction(connection, instructions, keypairSigner(keypair));
    const time = await connection.getBlockTime(await connection.getSlot('confirmed'));
    return { deposit, expiresAt: time! + constants.depositSeconds };
  }

  it('reports that a payment by x402 is being returned, and the returned amount once it is known', async () => {
    const { visitor } = site;
    const { wallet, keypair_path } = visitor.demo.callers[0]!;
    const { body: called } = await visitor.execute('sandbox-fails', { task: 'Paid by x402' });
    const refunded = (answer: { body: { refund: string } }) => answer.body.refund === 'done';
    const { body: failed } = await visitor.sendUntil(`/v1/executions/${called.error.execution_id}`, 0, refunded);
    const before = await visitor.balances();
    const { deposit, expiresAt } = await payIntoDeposit();
    const id = crypto.randomUUID();
    const ended = { ...failed, execution_id: id, deposit: deposit.toBase58() };
    await site.visit(CALLER, async (page) => {
      let json = { ...ended, status: 'running', refund: 'pending', error: null, completed_at: null };
      await page.route(`**/v1/executions/${id}`, (route) => route.fulfill({ json }));
      await page.goto(`/executions/${id}`);
      await page.getByRole('heading', { name: 'Being returned', exact: true }).waitFor();
      await page.getByText('Paid into a deposit').waitFor();
      const main = page.getByRole('main');
      expect(await main.textContent()).not.to.match(/escrow|works|being opened|[0-9] USDC/i);
      await timeTravel(visitor.demo.rpc_url, expiresAt + 1);
      await visitor.command(keypair_path, 'deposit', 'refund', deposit.toBase58());
      expect((await visitor.balances())[wallet]).to.equal(before[wallet]);
      json = ended;
      await page.reload();
      await page.getByText('Refunded 0.015 USDC').waitFor();
      await page.getByRole('heading', { name: 'Refunded', exact: true }).waitFor();
      expect(await main.textContent()).not.to.match(/Price put into escrow/);
    });
  });

  it('is reported in the agent search, which works again when it is back', () =>
    site.visit({ expected: CUT_OFF }, async (page) => {
      await page.goto('/');
      await page.getByRole('link', { name: 'text-report' }).waitFor();
      await page.route('**/v1/agents?**', (route) => route.abort('connectionrefused'));
      await page.getByRole('searchbox', { name: 'Search agents' }).fill('csv');
      await page.getByText('The agents could not be loaded').waitFor();
      await page.getByText('The marketplace does not answer.').waitFor();
      await page.unroute('**/v1/agents?**');
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('link', { name: 'csv-analyst' }).waitFor();
    }));

  it('is reported for a call whose state is unknown, which continues where it was', () =>
    site.visit({ ...CALLER, expected: CUT_OFF }, async (page) => {
      const { visitor } = site;
      await page.goto(`/agents/${visitor.agent('sandbox-echo').agent_id}?tab=run`);
      await page.getByLabel('Task').fill('In silence');
      await page.getByRole('button', { name: 'Run with 0.01 USDC' }).click();
      const before = await visitor.balances();
      await page.route('**/v1/executions/**', (route) => route.abort('connectionrefused'));
      await dialog(page).getByRole('button', { name: 'Run with 0.01 USDC' }).click();
      await progress(page, 'Not known yet').waitFor();
      await page.getByText('The outcome is not known yet').waitFor();
      await page.unroute('**/v1/executions/**');
      const known = progress(page, 'Not known yet').waitFor({ state: 'detached' });
      // The page also asks by itself. If it is first, the button is gone.
      await Promise.any([page.getByRole('button', { name: 'Retry now' }).click(), known]);
      await known;
      const again = page.getByRole('button', { name: 'Start it again' });
      const completed = progress(page, 'Completed');
      await again.or(completed).first().waitFor();
      if (await again.isVisible()) {
        await again.click();
        await dialog(page).getByRole('button', { name: /^Sign/ }).click();
      }
      await completed.waitFor();
      site.visitor.assertPaid(before, await visitor.balances(), 'sandbox-echo', PRICE);
    }));

  it('is reported without losing the form: the same call is made once later, and paid once', () =>
    site.visit({ ...CALLER, expected: new RegExp(`${CUT_OFF.source}|status of 503`) }, async (page) => {
      const { demo } = site.visitor;
      await page.goto('/');
      await page.getByText(/^\d+ test agents: /).click();
      await page.getByRole('link', { name: 'sandbox-echo' }).click();
      await page.getByRole('tab', { name: 'Run' }).click();
      await page.getByLabel('Task').fill('Once');
      await payByKey(page, demo.callers[0]!.api_key);

      await site.stop();
      await page.getByRole('button', { name: 'Pay 0.01 USDC and run' }).click();
      await page.getByText('The marketplace does not answer').waitFor();

      await site.restart();
      const before = await site.visitor.balances();
      // A pause that is longer than the page's own is no reason to show nothing.
      const error = { code: 'service_unavailable', message: 'Busy now', execution_id: null, details: null };
      const busy = { status: 503, headers: { 'retry-after': '30' }, json: { error } };
      await page.route('**/execute', (route) => route.fulfill(busy));
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('Busy now').waitFor();
      await page.unroute('**/execute');
      await page.getByRole('button', { name: 'Try again' }).click();
      await progress(page, 'Completed').waitFor();
      site.visitor.assertPaid(before, await site.visitor.balances(), 'sandbox-echo', PRICE);
    }));
});
