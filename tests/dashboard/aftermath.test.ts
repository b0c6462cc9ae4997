/** Pages of an execution or a listing days later: awards and refunds that waited, collateral, and the archive. */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { ExecutionFailure } from '../../app/sdk/creator/creator.ts';
import { decodeOwn } from '../../app/sdk/program/program.ts';
import { deferred, until } from '../harness/edge/until.ts';
import { setFrozen } from '../harness/node/node.ts';
import { dialog, download, sign } from './browser.ts';
import { listAgent } from './listAgent.ts';
import { useSite } from './site.ts';

const CALLER = { as: 'Demo caller 1' } as const;
const PRICE = 10_000n;
const BOND_LAMPORTS = 10_000_000n;
const SIGNATURE_LAMPORTS = 5_000n;
const SLOW_PRICE = 20_000n;
/** The dispute window plus the longest call that can be open at a delisting, with some hours to spare. */
const HOURS = 80;

describe('the page, days after a call', function () {
  this.timeout(600_000);
  // Each test depends on the ones before it.
  this.bail(true);
  const site = useSite({ isOwn: true });
  let archivedId: string;

  const file = (name: string, content: string): string => {
    const path = join(site.dataDir, name);
    writeFileSync(path, content);
    return path;
  };
  const caller = () => site.visitor.demo.callers[0]!;
  const freeze = (isFrozen: boolean) =>
    setFrozen(site.visitor.connection, site.visitor.usdcOf(caller().wallet), isFrozen);

  it('shows an award that a frozen account could not receive, and claims it after the thaw', async () => {
    const { visitor } = site;
    archivedId = (await visitor.execute('sandbox-echo', { task: 'Kept' })).body.execution_id;
    const executionId = (await visitor.execute('sandbox-echo', { task: 'Disputed' })).body.execution_id;
    const evidence = file('evidence.txt', 'It only repeats me.');
    await visitor.command(caller().keypair_path, 'dispute', 'open', executionId, '--evidence', evidence);
    await freeze(true);
    const before = await visitor.balances();
    const admin = join(site.dataDir, 'demo', 'admin.json');
    const reason = file('reason.txt', 'So it does.');
    const answer = ['--uphold', '0.01', '--reason-file', reason];
    await visitor.command(admin, 'admin', 'resolve-dispute', executionId, ...answer);
    expect(await visitor.balances()).to.deep.equal(before);
    await site.visit(CALLER, async (page) => {
      await page.goto('/disputes');
      // The command line gave the service the reason's text.
      await page.getByText('So it does.').waitFor();
      await page.getByRole('button', { name: 'Claim award' }).click();
      await dialog(page).getByText('0.01 USDC').waitFor();
      await dialog(page).getByRole('button', { name: 'Sign the claim' }).click();
      await dialog(page)
        .getByText(/frozen/i)
        .first()
        .waitFor();
      await freeze(false);
      await sign(page, 'Sign the claim');
      expect(await visitor.balances()).to.deep.equal({
        ...before,
        [caller().wallet]: before[caller().wallet]! + PRICE,
      });
      await page.getByRole('button', { name: 'Claim award' }).waitFor({ state: 'detached' });

      await page.goto(`/executions/${executionId}`);
      await page.getByText('Dispute upheld', { exact: true }).first().waitFor();
      const amounts = page
        .locator('section')
        .filter({ has: page.getByRole('heading', { name: 'Paid, less the award', exact: true }) });
      await amounts.getByText('0.00 USDC', { exact: true }).waitFor();
      await amounts.getByText('Awarded after the dispute', { exact: true }).waitFor();
      await page.getByText('Agent answered in', { exact: true }).waitFor();
      await page.getByText('Total, from escrow to end', { exact: true }).waitFor();
      const shown = (await page.getByRole('main').textContent())!;
      const durations = [...shown.matchAll(/(?:under )?[\d.]+ m?s(?![a-z])/g)].map(([duration]) => duration);
      expect(durations, shown).to.not.be.empty;
      expect(new Set(durations).size, durations.join(', ')).to.equal(1);
    });
  });

  it('shows that a refund to a frozen account waits', async () => {
    const { visitor } = site;
    const task = 'Too hard';
    const { promise: mayFail, resolve: giveUp } = deferred();
    const { path, close } = await listAgent(site, 'sandbox-later', async (request) => {
      if (request.task !== task) return { result: request.task };
      await mayFail;
      throw new ExecutionFailure('It is too hard.');
    });
    const before = await visitor.balances();
    const call = visitor.send(`/v1${path}/execute`, 0, { task });
    const { wallet } = caller();
    // Freezing overwrites the whole account, so the price must have left it before.
    await until('it is in escrow', async () => (await visitor.balances())[wallet] === before[wallet]! - SLOW_PRICE);
    await freeze(true);
    giveUp();
    const { status, body } = await call;
    await close();
    expect([status, body.error.code]).to.deep.equal([500, 'execution_failed']);
    await site.visit(CALLER, async (page) => {
      await page.goto(`/executions/${body.error.execution_id}`);
      await page.getByText('The caller’s USDC account is missing or frozen.').first().waitFor();
      await page.getByRole('heading', { name: 'In escrow', exact: true }).waitFor();
      await freeze(false);
      await page.getByRole('list').getByText('Refunded 0.02 USDC').waitFor();
      await page.getByRole('link', { name: 'in the explorer' }).first().waitFor();
    });
    expect(await visitor.balances()).to.deep.equal(before);
  });

  it('disputes an archived call by the same dialog as a living one, and the chain then has the dispute', async () => {
    const { visitor } = site;
    const asked = { task: 'Sum it up', parameters: { csv: 'a\n1\n', query: 'SELECT a FROM csv' } };
    const execute = async (): Promise<string> => (await visitor.execute('csv-analyst', asked)).body.execution_id;
    const disputedId = await execute();
    await visitor.command(null, 'local', 'travel', '2');
    await visitor.sendUntil(`/v1/executions/${disputedId}`, 0, ({ body }) => Boolean(body.archive));
    expect(await visitor.exists(visitor.recordOf(disputedId))).to.equal(false);
    const livingId = await execute();
    expect(await visitor.exists(visitor.recordOf(livingId))).to.equal(true);
    const wallet = new PublicKey(caller().wallet);
    const dispute = visitor.seeds('dispute', visitor.recordOf(disputedId).toBytes());
    await site.visit(CALLER, async (page) => {
      /** Opens the dialog of a dispute, and returns its text. */
      const asks = async (id: string): Promise<string> => {
        await page.goto(`/executions/${id}`);
        await page.getByRole('button', { name: 'Open a dispute' }).click();
        await dialog(page).getByText('bond 0.01 SOL, lost if rejected; deposit 0.00204724 SOL, ').waitFor();
        await dialog(page).getByText('Reading …').waitFor({ state: 'detached' });
        return (await dialog(page).textContent())!;
      };
      const usual = await asks(livingId);
      expect(await asks(disputedId)).to.equal(usual);
      await dialog(page).getByLabel('What is wrong').fill('The sum is wrong.');
      const [usdc, lamports] = [await visitor.balances(), await visitor.lamports(wallet)];
      await sign(page, 'Pay and open');
      await page.getByText('The admin should decide by').waitFor();
      const held = await visitor.lamports(dispute);
      expect(held > BOND_LAMPORTS).to.equal(true);
      expect(await visitor.lamports(wallet)).to.equal(lamports - held - SIGNATURE_LAMPORTS);
      expect(await visitor.balances()).to.deep.equal(usdc);
      await visitor.sendUntil(`/v1/executions/${disputedId}`, 0, ({ body }) => body.status === 'disputed');
    });
    const account = await visitor.connection.getAccountInfo(dispute, 'confirmed');
    const fields = decodeOwn('Dispute', account)!;
    const evidenceHash = createHash('sha256').update('The sum is wrong.').digest('hex');
    expect(Buffer.from(fields.evidenceHash).toString('hex')).to.equal(evidenceHash);
    expect(fields).to.deep.include({ record: visitor.recordOf(disputedId), caller: wallet, outcome: 'open' });
    expect(await visitor.exists(visitor.recordOf(disputedId))).to.equal(false);
  });

  it('returns the collateral of a delisted agent after its windows, by the clock of the chain', async () => {
    const { visitor } = site;
    const agent = visitor.agent('sandbox-echo');
    const letter = agent.creator === visitor.agent('csv-analyst').creator ? 'A' : 'B';
    const keypair = join(site.dataDir, 'demo', `creator-${letter.toLowerCase()}.json`);
    await visitor.command(keypair, 'listing', 'delist', agent.agent_id);
    await visitor.sendUntil(`/v1/agents/${agent.agent_id}`, null, ({ status }) => status === 404);
    await visitor.command(null, 'local', 'travel', String(HOURS));
    const before = await visitor.balances();
    const vault = visitor.seeds('collateral_vault', new PublicKey(agent.agent_id).toBytes());
    const held = await visitor.units(vault);
    await site.visit({ as: `Demo creator ${letter}` }, async (page) => {
      await page.goto('/creator');
      await page.getByText('Its collateral can be returned now').waitFor();
      await page.goto(`/creator/${agent.agent_id}`);
      await page.getByRole('tab', { name: 'Manage' }).click();
      await page.getByRole('button', { name: 'Return collateral' }).click();
      await sign(page, 'Return collateral');
      await page.getByText('The collateral is returned to your USDC account.').waitFor();
    });
    expect(await visitor.exists(vault)).to.equal(false);
    expect(await visitor.balances()).to.deep.equal({ ...before, [agent.creator]: before[agent.creator]! + held });
  });

  it('shows an archived execution with its place in the tree, and verifies it', async () => {
    const { visitor } = site;
    const archived = ({ body }: { body: { archive?: unknown } }) => Boolean(body.archive);
    const { body } = await visitor.sendUntil(`/v1/executions/${archivedId}`, 0, archived);
    expect(await visitor.exists(visitor.recordOf(archivedId))).to.equal(false);
    await site.visit(CALLER, async (page) => {
      await page.goto(`/executions/${archivedId}`);
      await page.getByRole('heading', { name: 'Archived' }).first().click();
      await page
        .getByText(`${body.archive.leaf_index} of archive ${body.archive.archive_index}`, { exact: true })
        .waitFor();
      await page.getByRole('button', { name: 'Receipt' }).click();
      const { path } = await download(page, page.getByRole('menuitem', { name: 'Download (JSON)' }));
      await page.goto('/verify');
      await page.getByLabel('Choose a receipt').setInputFiles(path);
      const result = page.getByRole('region', { name: 'Result' });
      await result
        .getByRole('heading', { level: 2 })
        .filter({ hasText: 'Genuine: the creator signed exactly this result' })
        .waitFor();
    });
  });

  it('deletes task and result of an execution that can no longer be disputed, and keeps its hash', async () => {
    const read = async () => (await site.visitor.send(`/v1/executions/${archivedId}`, 0)).body;
    const before = await read();
    await site.visit(CALLER, async (page) => {
      await page.goto(`/executions/${archivedId}`);
      const task = page
        .getByRole('paragraph')
        .filter({ hasText: /^Kept$/ })
        .first();
      await task.waitFor();
      await page.getByRole('button', { name: 'Delete …' }).click();
      await dialog(page).getByText('The record stays on the chain').waitFor();
      expect((await read()).result).to.equal(before.result);
      await until('its end is final, and it is deleted', async () => {
        const answer = page.waitForResponse((response) => response.request().method() === 'DELETE');
        await dialog(page).getByRole('button', { name: 'Delete permanently' }).click();
        return (await answer).ok();
      });
      await dialog(page).waitFor({ state: 'detached' });
      await page.getByText('You deleted it on').waitFor();
      await page.getByText('You deleted the result.').waitFor();
      await task.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Delete …' }).waitFor({ state: 'detached' });
    });
    const { content_deleted_at } = await read();
    const gone = { task: null, result: null, steps: null, ipfs_url: null, content_deleted_at };
    expect(content_deleted_at).to.be.a('string');
    expect(await read()).to.deep.equal({ ...before, ...gone });
  });
});
