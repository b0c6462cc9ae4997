/** The page's receipt verification: a valid receipt, altered receipts, and missing data. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { CHECKS } from '../../app/sdk/receipt/verify.ts';
import type { Receipt } from '../../app/sdk/wire/receipt.ts';
import { freePort } from '../harness/freePort.ts';
import { download } from './browser.ts';
import { useSite } from './site.ts';

/** The verdicts of altered receipts, by the check that fails. */
const FAILURES = {
  result_hash: 'This is not the result that was signed',
  signature: 'The signature is not over this result',
  record: 'The record on the chain is another one',
} as const;
const VALID = 'Genuine: the creator signed exactly this result, and 0.01 USDC was paid';
const OPEN = 'The signature is valid, but the chain is not fully checked';
const SETTLED = 'The shares were paid';

describe('verification of a receipt on the page', function () {
  this.timeout(600_000);
  const site = useSite();
  let receipt: Receipt;

  before(async () => {
    const { body } = await site.visitor.execute('sandbox-echo', { task: 'What I asked for <b>exactly</b>' });
    const path = `/v1/executions/${body.execution_id}/receipt`;
    receipt = (await site.visitor.sendUntil(path, 0, ({ status }) => status === 200)).body;
  });

  const choose = (page: Page, content: unknown) => {
    const buffer = Buffer.from(JSON.stringify(content));
    const file = { name: 'receipt.json', mimeType: 'application/json', buffer };
    return page.getByLabel('Choose a receipt').setInputFiles(file);
  };
  const verdict = (page: Page) => page.getByRole('region', { name: 'Result' }).getByRole('heading', { level: 2 });
  const untilVerdict = (page: Page, text: string) => verdict(page).filter({ hasText: text }).waitFor();
  /** The state of each check that is shown, folded or not. */
  async function statesOf(page: Page): Promise<Record<string, string>> {
    const rows = await page.getByRole('region', { name: 'Result' }).locator('li[data-check]').all();
    const states = rows.map(async (row) => {
      const text = await row.locator('summary').textContent();
      return [await row.getAttribute('data-check'), /(Passed|Failed|Not checked)\s*$/.exec(text!)?.[1] ?? text];
    });
    return Object.fromEntries(await Promise.all(states));
  }

  it('passes every possible check of a marketplace receipt, uploads nothing, and shows and saves what it compared', () =>
    site.visit({}, async (page) => {
      await page.goto('/verify');
      const asked: string[] = [];
      page.on('request', (sent) => asked.push(`${sent.method()} ${sent.url()} ${sent.postData() ?? ''}`));
      await choose(page, receipt);
      await untilVerdict(page, VALID);
      // What a creator may leave out is not counted.
      const made = CHECKS.filter((name) => name !== 'execution_signature' || receipt.execution_signature);
      expect(await statesOf(page)).to.deep.equal(Object.fromEntries(made.map((name) => [name, 'Passed'])));
      await page
        .getByRole('status')
        .filter({
          hasText: `This does not say that the answer is right. 0.0099 USDC went to the creator, 0.0001 USDC to the marketplace. ${made.length} checks passed.`,
        })
        .waitFor();
      // Only the node receives requests, for addresses and transactions. Task and result never leave the browser.
      expect(asked.filter((line) => line.includes('POST'))).to.not.be.empty;
      for (const line of asked) expect(line).to.not.include('exactly').and.not.include(receipt.signature);
      expect(asked.filter((line) => line.startsWith('POST') && !line.includes(site.visitor.demo.rpc_url))).to.be.empty;

      await page.getByText(/^Passed checks \(\d+\)$/).click();
      await page.getByText(SETTLED).click();
      const settled = page.locator('li').filter({ hasText: SETTLED });
      await settled.getByText(`Source: ${site.visitor.demo.rpc_url}`).waitFor();
      const saved = await download(page, page.getByRole('button', { name: 'Download the verification' }));
      expect(saved.name).to.equal(`verification-${receipt.execution_id}.json`);
      const report = JSON.parse(saved.text);
      expect(report).to.deep.include({ rpc_url: site.visitor.demo.rpc_url, receipt });
      expect(report.checks.map(({ name }: { name: string }) => name)).to.deep.equal([...CHECKS]);
      await page.getByText('the marketplace’s own node').waitFor();
      await page.getByRole('button', { name: 'check with another node' }).click();
      await page.getByLabel('Solana node').and(page.locator(':focus')).waitFor();
    }));

  it('fails for altered receipts and opens the check that explains it, but accepts one without a deleted result', () =>
    site.visit({}, async (page) => {
      await page.goto('/verify');
      const altered: [Partial<Receipt>, keyof typeof FAILURES][] = [
        [{ result: `${receipt.result}!` }, 'result_hash'],
        [{ signing_key: receipt.caller }, 'signature'],
        [{ price_usdc: 0.001 }, 'record'],
      ];
      for (const [change, check] of altered) {
        await choose(page, { ...receipt, ...change });
        await untilVerdict(page, FAILURES[check]);
        expect((await statesOf(page))[check]).to.equal('Failed');
        const row = page.locator(`[data-check="${check}"] details[open]`);
        expect(await row.count(), check).to.equal(1);
        await row
          .getByText(check === 'result_hash' ? 'Hash that was signed' : 'Expected')
          .first()
          .waitFor();
        const text = await page.getByRole('region', { name: 'Result', exact: true }).first().textContent();
        expect(text).to.match(
          /Do not rely on it\..* of \d+ checks failed.*Ask the person who sent you this for the original receipt/,
        );
        const isResult = check === 'result_hash';
        expect(/other 9 checks passed, also those of the payment/.test(text!), check).to.equal(isResult);
        expect(text!.includes('Not what was signed'), check).to.equal(isResult);
        expect(text!.includes('Signed result hash'), check).to.equal(isResult);
      }
      const { task, parameters, result, ...rest } = receipt;
      await choose(page, rest);
      await untilVerdict(page, '0.01 USDC was paid for this call');
      expect(await statesOf(page)).to.include({ result_hash: 'Not checked', signature: 'Passed', record: 'Passed' });
    }));

  it('checks hash and signature without a node, and reports the other checks as open', () =>
    site.visit({}, async (page, { context }) => {
      await page.goto('/verify');
      await page.getByText('Use another Solana server').click();
      await page.getByLabel('Use no node').check();
      // Everything needed is loaded already.
      await choose(page, { ...receipt, result: 'something else' });
      await untilVerdict(page, FAILURES.result_hash);
      await context.setOffline(true);
      await choose(page, receipt);
      await untilVerdict(page, OPEN);
      const states = await statesOf(page);
      expect(states).to.include({ result_hash: 'Passed', signature: 'Passed', record: 'Not checked' });
      await choose(page, { ...receipt, result: 'something else' });
      await untilVerdict(page, FAILURES.result_hash);
      expect(await statesOf(page)).to.include({ result_hash: 'Failed', signature: 'Passed', record: 'Not checked' });
    }));

  it('refuses nodes that it cannot ask, and does not count one without an answer against the receipt', () =>
    site.visit({ expected: /net::ERR_CONNECTION_REFUSED/ }, async (page) => {
      await page.goto('/verify');
      await page.getByText('Use another Solana server').click();
      for (const [node, fault] of [
        ['nowhere', 'It must be a URL'],
        ['http://node.example', 'This page can ask https nodes'],
        ['ftp://127.0.0.1', 'This page can ask https nodes'],
      ] as const) {
        await page.getByLabel('Solana node').fill(node);
        await page.getByText(fault).waitFor();
        expect(await page.getByRole('button', { name: 'Verify', exact: true }).isDisabled()).to.equal(true);
      }
      await page.getByLabel('Solana node').fill(`http://127.0.0.1:${await freePort()}`);
      await choose(page, receipt);
      await untilVerdict(page, OPEN);
      expect(await statesOf(page)).to.include({ signature: 'Passed', record: 'Not checked' });
      expect(Object.values(await statesOf(page))).to.not.include('Failed');
    }));

  it("shows the chain's data for an id alone, and the receipt for its caller", async () => {
    await site.visit({}, async (page) => {
      await page.goto('/verify');
      await page.getByLabel('Call ID').fill(receipt.execution_id);
      await page.getByRole('button', { name: 'Verify', exact: true }).click();
      await untilVerdict(page, '0.01 USDC was paid for this call');
      expect(await statesOf(page)).to.include({ result_hash: 'Not checked', record: 'Passed', settlement: 'Passed' });
      expect(new URL(page.url()).search).to.equal(`?id=${receipt.execution_id}`);
    });
    await site.visit({ as: 'Demo caller 1' }, async (page) => {
      await page.goto(`/verify?id=${receipt.execution_id}`);
      await untilVerdict(page, VALID);
    });
  });

  it('accepts a dropped file, and explains why another file is not a receipt', () =>
    site.visit({}, async (page) => {
      await page.goto('/verify');
      const drop = async (content: string) => {
        const transfer = await page.evaluateHandle(`(() => {
          const made = new DataTransfer();
          made.items.add(new File([${JSON.stringify(content)}], 'dropped.json', { type: 'application/json' }));
          return made;
        })()`);
        await page.getByText('or drop it here').dispatchEvent('drop', { dataTransfer: transfer });
      };
      await page.getByLabel('Call ID').fill('nonsense');
      await page.getByRole('button', { name: 'Verify', exact: true }).click();
      await page.getByText('A call ID has 32 hex digits').waitFor();
      await drop('{"kind":"report"}');
      await page.getByText('dropped.json is JSON, but not a receipt').waitFor();
      await drop(JSON.stringify(receipt));
      await untilVerdict(page, VALID);
      // The form is one line, until it is opened for another check; the id stays in it.
      expect(await page.getByText('or drop it here').isVisible()).to.equal(false);
      await page.getByText('Verify another').click();
      expect(await page.getByLabel('Call ID').inputValue()).to.equal(receipt.execution_id);
      expect(await page.getByText('A call ID has 32 hex digits').count()).to.equal(0);
      await page.getByText('Checked dropped.json on').waitFor();
      const result = page.getByRole('region', { name: 'Result' });
      const bought = result.locator('section').filter({ hasText: 'What was bought' });
      for (const text of ['sandbox-echo', receipt.task!, receipt.result!, '0.01 USDC', 'Settled on'])
        await bought.getByText(text).first().waitFor();
      // Nothing of the earlier verdict stays after a file that is no receipt.
      await drop('no JSON at all');
      await page.getByText('dropped.json is not JSON').waitFor();
      await result.waitFor({ state: 'detached' });
    }));

  it('confirms a refund in full, with its amount and its transaction, and names no call that is not there', async () => {
    const { body } = await site.visitor.execute('sandbox-error', { task: 'Fail' });
    const id = body.error.execution_id ?? body.execution_id;
    await site.visitor.sendUntil(`/v1/executions/${id}`, 0, (answer) => answer.body.refund === 'done');
    await site.visit({}, async (page) => {
      await page.goto(`/verify?id=${id}`);
      await untilVerdict(page, 'Refunded in full');
      await page
        .getByRole('status')
        .filter({ hasText: /0\.\d+ USDC went back to the wallet that paid\./ })
        .waitFor();
      expect(Object.values(await statesOf(page))).to.not.include('Failed');
      await page.getByRole('link', { name: 'in the explorer' }).first().waitFor();
      await page.getByText('Refund transaction').waitFor();
      await page.goto('/verify?id=00000000-0000-4000-8000-000000000000');
      await untilVerdict(page, 'There is no such call on this chain');
      expect(await statesOf(page)).to.deep.equal({});
    });
  });
});
