/**
 * `execution receipt` and `execution verify` on a real node: a valid receipt, changed receipts, and a receipt after its
 * record was archived.
 */
import { type Keypair, PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { expect } from 'chai';
import { decodeArchived } from '../../app/sdk/program/archive.ts';
import { leafOf, rootOf } from '../../app/sdk/program/archiveTree.ts';
import { findArchive, findDispute, findEscrow, PROGRAM_ID } from '../../app/sdk/program/program.ts';
import {
  CHECKS,
  type Check,
  type ExecutionFacts,
  verifyExecution,
  verifyReceipt,
} from '../../app/sdk/receipt/verify.ts';
import { openSession } from '../../app/sdk/wallet/service.ts';
import { keypairSigner } from '../../app/sdk/wallet/signer.ts';
import { MAX_EVIDENCE_BYTES } from '../../app/sdk/wire/disputeProcedures.ts';
import type { Receipt } from '../../app/sdk/wire/receipt.ts';
import { run } from '../harness/edge/tools.ts';
import { until } from '../harness/edge/until.ts';
import { FEE, PRICE } from '../harness/node/marketplace.ts';
import { changing } from '../harness/node/rpcProxy.ts';
import { ROOT } from '../local/start.ts';
import { dearer, flipped, grownProofs, type Proof, showsData } from './receiptChanges.ts';
import { checksAtUntrustedNodes } from './receiptNodes.ts';
import { NOBODY, named, of, PURE, useReceiptStage } from './receiptStage.ts';
import { runHere } from './run.ts';

describe('the command line: receipts', function () {
  this.timeout(600_000);
  const stage = useReceiptStage();
  let stranger: Keypair;
  let receipt: Receipt;
  let file: string;

  before(() => {
    stranger = stage.market.callers[1]!.wallet;
  });

  it('receipt saves a receipt, and every check passes at any node without the service', async () => {
    const before = await stage.market.balances();
    const id = await stage.pay('sum');
    file = stage.terminal.path('receipt.json');
    expect(await stage.take(id, '--file', file)).to.deep.equal({ execution_id: id, file });
    receipt = await stage.take(id);
    expect(receipt).to.deep.include({
      execution_id: id,
      task: 'sum',
      result: 'done: sum',
      price_usdc: 0.25,
      archive: null,
    });
    expect(receipt.execution_signature).to.match(/^ed25519:/);
    const after = await stage.market.balances();
    expect(after.callers[0]).to.equal(before.callers[0]! - PRICE);

    const { code, stdout, stderr } = await stage.run(file);
    expect(code, stderr).to.equal(0);
    const { checks, ...counts } = JSON.parse(stdout) as { checks: Check[] };
    expect(counts).to.deep.equal({ passed: CHECKS.length, failed: 0, not_checked: 0, status: 'completed' });
    const paid = Object.fromEntries(of(checks, 'settlement').compared.map(({ what, got }) => [what, got]));
    expect(paid).to.include({
      outcome: 'succeeded',
      'base units to the creator': `${after.creator - before.creator}`,
      'base units to the treasury': `${after.treasury - before.treasury}`,
      'base units left in the escrow': '0',
      "owner of the creator's account": stage.market.creator.publicKey.toBase58(),
    });
    expect([after.creator - before.creator, after.treasury - before.treasury]).to.deep.equal([PRICE - FEE, FEE]);
    expect(of(checks, 'record')).to.deep.include({ source: stage.market.node.rpcUrl, reason: null });
    for (const check of checks)
      for (const { got, expected, what } of check.compared) expect(got, what).to.equal(expected);
  });

  it('verify prints the same checks as lines, and the nodes it asked', async () => {
    const { code, stdout } = await runHere(['execution', 'verify', file, '--rpc-url', stage.market.node.rpcUrl]);
    expect(code).to.equal(0);
    expect(stdout).to.include(`passed       settlement (${stage.market.node.rpcUrl})\n`);
    expect(stdout).to.include('             base units to the creator: 247500\n');
    expect(stdout).to.match(/passed: 11\nfailed: 0\nnot_checked: 0\nstatus: completed\n$/);
  });

  it('verify asks the service for a node when none is named, and works without a node', async () => {
    const asked = await runHere(['execution', 'verify', file, '--base-url', stage.market.relay.url, '--json']);
    expect(JSON.parse(asked.stdout)).to.include({ passed: CHECKS.length });
    const alone = await runHere(['execution', 'verify', file, '--base-url', NOBODY, '--json']);
    expect(alone.code).to.equal(0);
    expect(JSON.parse(alone.stdout)).to.include({ passed: PURE.length, failed: 0, not_checked: 6 });
    expect(alone.stderr).to.include('No node was given').and.include(`No server answers at ${NOBODY}`);
  });

  it("verify shows the chain's data of an execution for an id alone", async () => {
    const { code, stdout } = await stage.run(receipt.execution_id);
    expect(code).to.equal(0);
    const { checks } = JSON.parse(stdout) as { checks: Check[] };
    expect(named(checks, 'passed')).to.deep.equal(['program', 'record', 'opening', 'settlement']);
    expect(named(checks, 'failed')).to.deep.equal([]);
    const paid = of(checks, 'settlement').compared.map(({ what }) => what);
    expect(paid).to.include.members(['signature of signing_key over result_hash', 'base units to the creator']);
  });

  it('shows no receipt for a refunded execution, and verifies its id as refunded in full', async () => {
    const before = await stage.market.balances();
    const error = await stage.client
      .request('executeAgent', { agent_id: stage.market.agentId, body: { task: 'fail' } })
      .catch((thrown) => thrown);
    const id = error.executionId as string;
    const words = ['execution', 'receipt', id, '--base-url', stage.market.relay.url];
    const refusal = 'The call failed, so it has no receipt (not_settled)\n';
    await until(
      'the refund is shown',
      async () => (await stage.client.request('getExecution', { execution_id: id })).status === 'failed',
    );
    expect(await stage.terminal.refused(stage.market.callers[0]!.wallet, ...words)).to.equal(refusal);
    expect(await stage.terminal.refused(stranger, ...words)).to.include('(execution_not_found)');
    expect(await stage.market.balances()).to.deep.equal(before);
    const refunded = { failed: 0, status: 'refunded', refunded_usdc: 0.25 };

    const { code, stdout, stderr } = await stage.run(id);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const { checks, ...ending } = JSON.parse(stdout) as { checks: Check[]; refund_transaction: string };
    expect(ending).to.include(refunded);
    expect(named(checks, 'passed')).to.deep.equal(['program', 'record', 'opening', 'settlement']);
    const returned = of(checks, 'settlement').compared.map(({ what, got }) => [what, got]);
    expect(Object.fromEntries(returned)).to.include({
      transaction: ending.refund_transaction,
      'base units back to the caller': `${PRICE}`,
      'base units left in the escrow': '0',
      "owner of the caller's account": stage.market.callers[0]!.wallet.publicKey.toBase58(),
    });

    // Its record can be closed by now: the transactions still show the refund.
    stage.proxy.onCall(changing('getAccountInfo', (result) => ({ ...result, value: null })));
    const closed = await stage.run(id, stage.proxy.rpcUrl);
    expect({ code: closed.code, ...JSON.parse(closed.stdout) }).to.include({ code: 0, ...refunded });
    // The transfer must be the full refund.
    const transfer = (amount: bigint) => {
      const data = Buffer.alloc(9, 3);
      data.writeBigUInt64LE(amount, 1);
      return `"${bs58.encode(data)}"`;
    };
    const shorter = (text: string) => text.replaceAll(transfer(PRICE), transfer(PRICE - 1n));
    stage.proxy.onCall(changing('getTransaction', (result) => JSON.parse(shorter(JSON.stringify(result)))));
    const short = await stage.run(id, stage.proxy.rpcUrl);
    stage.proxy.onCall(null);
    expect(short.code).to.equal(1);
    const found = JSON.parse(short.stdout);
    expect(named(found.checks, 'failed')).to.deep.equal(['settlement']);
    expect(found).to.not.have.any.keys('refunded_usdc');
  });

  it('examples/receipt.ts reports the same checks, and fails for a changed receipt', async () => {
    const argv = ['--import', 'tsx', 'examples/receipt.ts', stage.write('changed.json', { ...receipt, result: 'x' })];
    const env = { ...process.env, RPC_URL: stage.market.node.rpcUrl };
    const { code, stdout } = await run(process.execPath, argv, { cwd: ROOT, env });
    expect(code, stdout).to.equal(1);
    const states = stdout
      .trim()
      .split('\n')
      .map((line) => line.trim());
    expect(states).to.deep.equal(CHECKS.map((name) => `${name} ${name === 'result_hash' ? 'failed' : 'passed'}`));
  });

  it('refuses input that is neither an id nor a receipt', async () => {
    const told = async (given: string) => {
      const { code, stderr } = await stage.run(given);
      expect(code).to.equal(1);
      return stderr;
    };
    expect(await told(stage.terminal.path('none.json'))).to.include(
      'is not an execution_id, and cannot be read as a file',
    );
    expect(await told(stage.terminal.file('junk.json', '{'))).to.include('is not a receipt: it is not JSON');
    expect(await told(stage.write('shape.json', { ...receipt, caller: 7 }))).to.equal(
      'The receipt is not valid: a check failed.\n',
    );
  });

  // tests/sdk/verify.test.ts changes what needs no node. tests/clients/python.test.ts changes each field, and each of an
  // archive proof, for both implementations of the checks.
  checksAtUntrustedNodes(stage, () => receipt);

  describe('after its record was archived', () => {
    let later: Receipt;
    let archived: Receipt;
    const travel = async (seconds: number) => stage.market.node.timeTravel((await stage.market.node.now()) + seconds);
    const archive = (...words: string[]) => stage.terminal.done(stranger, 'archive', 'run', ...words);
    const settledBefore = async (id: string) => {
      const shown = async () => (await stage.take(id)).archive !== null;
      await until('the proof is shown', shown);
      return stage.take(id);
    };

    before(async () => {
      await travel(80_000);
      later = await stage.take(await stage.pay('later'));
      await archive('--make-tree');
      archived = await settledBefore(receipt.execution_id);
      await travel(80_000);
      await archive();
      later = await settledBefore(later.execution_id);
    });

    it('includes the proof in a new receipt, and every check passes', async () => {
      expect(archived).to.deep.equal({ ...receipt, archive: archived.archive });
      const checks = await stage.verifyBy(null, archived);
      expect(named(checks, 'passed')).to.deep.equal([...CHECKS]);
      expect(of(checks, 'record').compared.map(({ what }) => what)).to.include.members([
        'root from fields and proof',
        'archive.transaction',
        'price_usdc',
      ]);
    });

    it('checks an old receipt with a proof from anyone, without trust in the sender', async () => {
      expect((await stage.market.node.connection.getAccountInfo(findArchive(0)))?.owner.equals(PROGRAM_ID)).to.equal(
        true,
      );
      const alone = await stage.run(file);
      expect(alone.code).to.equal(0);
      const { checks } = JSON.parse(alone.stdout) as { checks: Check[] };
      expect(named(checks, 'not_checked')).to.deep.equal(['program', 'record']);
      expect(of(checks, 'record').reason).to.include('no proof of its leaf was given');
      const helped = await stage.run(file, stage.market.node.rpcUrl, stage.market.relay.url);
      expect(JSON.parse(helped.stdout)).to.include({ passed: CHECKS.length, failed: 0 });
      const byId = await stage.run(receipt.execution_id, stage.market.node.rpcUrl, stage.market.relay.url);
      expect(named(JSON.parse(byId.stdout).checks, 'passed')).to.deep.equal([
        'program',
        'record',
        'opening',
        'settlement',
      ]);
      const findArchive0 = async () => later.archive;
      const misled = await verifyReceipt(receipt, { rpcUrl: stage.market.node.rpcUrl, findArchive: findArchive0 });
      expect(named(misled, 'failed')).to.deep.equal(['record']);
    });

    it('reports an unknown archive as unknown', async () => {
      for (const archive_index of [1, 70_000]) {
        const checks = await stage.verifyBy(null, { ...archived, archive: { ...archived.archive!, archive_index } });
        expect(named(checks, 'failed')).to.deep.equal([]);
        expect(of(checks, 'record').reason).to.equal(`The node has no archive ${archive_index}.`);
      }
    });

    // tests/clients/python.test.ts has proofs that are still valid and ones that need a new one.
    it('does not believe an old proof that was forged, whatever comes with it', async () => {
      const { record, archive: proof } = archived as Receipt & { archive: Proof };
      const { early, full, late, grown } = await grownProofs(record, proof);
      stage.proxy.onCall(showsData(proof.tree, grown));
      let facts: ExecutionFacts | null = null as ExecutionFacts | null;
      const onFacts = (found: ExecutionFacts): void => {
        facts = found;
      };
      const check = async (changed: Partial<Receipt>, fresh?: Proof): Promise<Check> => {
        const options = { rpcUrl: stage.proxy.rpcUrl, onFacts, ...(fresh && { findArchive: async () => fresh }) };
        return of(await verifyReceipt({ ...archived, ...changed }, options), 'record');
      };
      // Whoever forges a proof computes leaf and root anew.
      const forge = (change: Partial<Proof>): Proof => {
        const { fields, proof: nodes, leaf_index: index, ...rest } = { ...full, ...change };
        const leaf = leafOf(new PublicKey(record).toBytes(), Buffer.from(fields, 'base64'));
        const root = rootOf(
          leaf,
          index,
          nodes.map((node) => Buffer.from(node, 'hex')),
        );
        const [leafHex, rootHex] = [leaf, root].map((bytes) => Buffer.from(bytes).toString('hex'));
        return { ...rest, fields, proof: nodes, leaf_index: index, leaf: leafHex!, root: rootHex! };
      };
      const archive = forge({ fields: dearer(full.fields) });
      const changed = { archive, price_usdc: 0.250001 };
      expect(decodeArchived(Buffer.from(archive.fields, 'base64')).price).to.equal(PRICE + 1n);
      for (const at of [0, 9])
        expect(
          (await check({ archive: forge({ proof: full.proof.with(at, flipped(full.proof[at]!)) }) })).state,
        ).to.equal('not_checked');
      expect((await check({ archive: forge({ leaf_index: 1_024 }) })).state).to.equal('not_checked');
      expect((await check(changed)).state).to.equal('not_checked');
      expect((await check(changed, archive)).state).to.equal('not_checked');
      expect((await check(changed, late)).state).to.equal('failed');
      // The fields that are not proven reach no other check.
      expect([facts!.status, facts!.price]).to.deep.equal([null, null]);
      for (const wrong of [{ proof: ['xyz'] }, { leaf: 7 }, { fields: 'AAAAA' }, { archive_index: -1 }]) {
        const given = { ...late, ...wrong } as Proof;
        expect((await check({ archive: early }, given)).reason).to.include('None was given');
      }
      stage.proxy.onCall(null);
    });

    it('is disputed by its leaf, and an upheld dispute pays from the collateral and shows in a verification', async () => {
      const { market, terminal, client } = stage;
      const { wallet } = market.callers[0]!;
      const { execution_id: id } = receipt;
      const large = terminal.file('large.txt', 'x'.repeat(MAX_EVIDENCE_BYTES + 1));
      expect(await terminal.refused(wallet, 'dispute', 'open', id, '--evidence', large)).to.include(
        `has ${MAX_EVIDENCE_BYTES + 1} bytes, but the marketplace takes 1 to ${MAX_EVIDENCE_BYTES}.`,
      );
      const evidence = terminal.file('evidence.txt', 'The result is wrong.');
      const open = ['dispute', 'open', id, '--evidence', evidence, '--base-url', market.relay.url];
      expect(await terminal.refused(stranger, ...open)).to.include('(NotCaller)');
      // What a stranger sends to the addresses of closed accounts changes nothing.
      const record = new PublicKey(receipt.record);
      const closed = [record, findEscrow(record), findDispute(record)];
      for (const address of closed) await market.node.fundSol(address, 650_240);
      const opened = await terminal.done(wallet, ...open);
      expect(opened).to.include({ execution_id: id, evidence_uploaded: true });
      const { call } = await openSession({ baseUrl: market.relay.url }, keypairSigner(wallet));
      const kept = await call('disputes.evidence', { execution_id: id });
      expect(Buffer.from(kept.content, 'base64').toString()).to.equal('The result is wrong.');
      expect(kept).to.include({ media_type: 'text/plain', evidence_hash: opened.evidence_hash });
      const read = () => client.request('getExecution', { execution_id: id });
      await until('the dispute is shown', async () => (await read()).status === 'disputed');
      const shown = await terminal.look('execution', 'show', id, '--base-url', market.relay.url);
      expect(shown).to.include({ status: 'completed', source: 'leaf', escrow_usdc: null, dispute: 'open' });

      const { callers, ...others } = await market.balances();
      const decision = ['--uphold', '0.1', '--reason-file', evidence, '--hash-only'];
      await terminal.done(market.node.payer, 'admin', 'resolve-dispute', id, ...decision);
      const paid = { ...others, callers: [callers[0]! + 100_000n, callers[1]!] };
      expect(await market.balances()).to.deep.equal(paid);
      await until('the outcome is shown', async () => (await read()).dispute?.outcome === 'upheld');
      const { archive } = await stage.take(id);
      let facts: ExecutionFacts | null = null as ExecutionFacts | null;
      await verifyExecution(id, {
        rpcUrl: market.node.rpcUrl,
        findArchive: async () => archive,
        onFacts: (found) => {
          facts = found;
        },
      });
      expect(facts).to.include({ status: 'completed', dispute: 'upheld' });
    });
  });
});
