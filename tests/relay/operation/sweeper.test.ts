/** The sweeper on a real node: every lamport of rent goes home, once, whatever happens to whoever sends it. */
import { createRequire } from 'node:module';
import { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { archiveOf } from '../../../app/relay/calls/archived.ts';
import * as program from '../../../app/sdk/program/program.ts';
import { formatUuid } from '../../../app/sdk/receipt/receipt.ts';
import type { ExecutionArchive } from '../../../app/sdk/wire/wire.ts';
import { type RpcProxy, startRpcProxy } from '../../harness/node/rpcProxy.ts';
import { createAftermath } from '../../indexer/aftermath.ts';
import { eventually } from '../../indexer/harness.ts';
import type { OpenedExecution } from '../../indexer/market.ts';
import { type Stage, startStage } from './sweepStage.ts';

const compression = createRequire(import.meta.url)(
  '@solana/spl-account-compression',
) as typeof import('@solana/spl-account-compression');

const FEE = 5_000;
/** Each is killed once. */
const STEPS = ['signed', 'stored', 'sent', 'landed', 'nodes'] as const;

describe('the sweeper', function () {
  this.timeout(120_000);
  let stage: Stage;
  /** Leaves that there should be by now. */
  let leaves = 0;
  before(async () => {
    stage = await startStage();
  });
  after(() => stage.stop());

  const rentOf = async (executions: OpenedExecution[]): Promise<number> => {
    const addresses = executions.map(({ executionId }) => program.findExecution(executionId));
    const accounts = await stage.connection.getMultipleAccountsInfo(addresses, 'confirmed');
    return accounts.reduce((sum, account) => sum + account!.lamports, 0);
  };
  const archiveRead = ({ executionId }: OpenedExecution): Promise<ExecutionArchive | null> =>
    stage.look((views) => archiveOf({ views }, formatUuid(executionId)));

  /** By the SPL package and nothing of ours: the fields make the leaf, and the leaf with its proof the account's root. */
  async function proveBySpl(archive: ExecutionArchive): Promise<void> {
    const account = await stage.connection.getAccountInfo(new PublicKey(archive.tree), 'confirmed');
    const tree = compression.ConcurrentMerkleTreeAccount.fromBuffer(Buffer.from(account!.data));
    expect(tree.getMaxDepth()).to.equal(20);
    const address = Buffer.concat([
      Buffer.from('agent-marketplace:archive:v1'),
      new PublicKey(archive.record).toBuffer(),
    ]);
    const leaf = Buffer.from(compression.hash(address, Buffer.from(archive.fields, 'base64')));
    expect(leaf.toString('hex')).to.equal(archive.leaf);
    const proof = archive.proof.map((node) => Buffer.from(node, 'hex'));
    const root = tree.getCurrentRoot();
    expect(compression.MerkleTree.verify(root, { leafIndex: archive.leaf_index, leaf, root, proof })).to.equal(true);
    const wrong = Buffer.from(leaf);
    wrong[0]! ^= 1;
    const forged = { leafIndex: archive.leaf_index, leaf: wrong, root, proof };
    expect(compression.MerkleTree.verify(root, forged)).to.equal(false);
  }

  it('makes the first archive and archives what is ripe, and the sponsor has all rent back', async () => {
    const executions = await stage.settled(3);
    const early = await stage.sweep();
    await eventually('the index has them', () =>
      stage.look(async (views) => (await views.selectFrom('chain.executions').selectAll().execute()).length === 3),
    );
    // Three days are not over.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await stage.recordsLeft(executions)).to.equal(3);
    await early.end();

    await stage.pass();
    const rent = await rentOf(executions);
    const caller = await stage.lamports(stage.caller.publicKey);
    const relay = await stage.lamports(stage.relay.publicKey);
    const sweeper = await stage.sweep();
    await stage.followed(3);
    expect(await stage.recordsLeft(executions)).to.equal(0);
    expect(await stage.lamports(stage.caller.publicKey)).to.equal(caller + rent);
    const [tree, archive] = await Promise.all([
      stage.connection.getMinimumBalanceForRentExemption(program.constants.archiveTreeBytes),
      stage.lamports(program.findArchive(0)),
    ]);
    // One transaction made the archive, one archived all three.
    expect(await stage.lamports(stage.relay.publicKey)).to.equal(relay - tree - archive - 2 * FEE);
    const figures = await sweeper.figures();
    expect(figures).to.include({ locked: 0, archivable: 0, returned: rent, archivedExecutions: 3, mismatchedTrees: 0 });
    for (const execution of executions) await proveBySpl((await archiveRead(execution))!);
    await sweeper.end();
    leaves = 3;
  });

  for (const step of STEPS) {
    it(`killed when ${step}: what is left is done once, for one fee`, async () => {
      const executions = await stage.settled(2);
      await stage.pass();
      const rent = await rentOf(executions);
      const caller = await stage.lamports(stage.caller.publicKey);
      const relay = await stage.lamports(stage.relay.publicKey);
      const doomed = await stage.sweep({ DIE_AT: step });
      await doomed.gone;
      const sweeper = await stage.sweep();
      leaves += 2;
      await stage.followed(leaves);
      expect(await stage.recordsLeft(executions)).to.equal(0);
      expect(await stage.lamports(stage.caller.publicKey)).to.equal(caller + rent);
      expect(await stage.lamports(stage.relay.publicKey)).to.equal(relay - FEE);
      for (const execution of executions) await proveBySpl((await archiveRead(execution))!);
      await sweeper.end();
    });
  }

  it('run by two relays at once, one of which dies: each record is one leaf, twelve share a fee', async () => {
    const executions = await stage.settled(14);
    await stage.pass();
    const rent = await rentOf(executions);
    const caller = await stage.lamports(stage.caller.publicKey);
    const relay = await stage.lamports(stage.relay.publicKey);
    const [first, second] = await Promise.all([stage.sweep(), stage.sweep()]);
    await eventually('the first leaf', async () => (await stage.leaves()).length > leaves);
    await first.kill();
    leaves += 14;
    await stage.followed(leaves);
    const rows = await stage.leaves();
    expect(rows.map(({ leaf_index }) => Number(leaf_index))).to.deep.equal([...rows.keys()]);
    expect(new Set(rows.map(({ record }) => record)).size).to.equal(leaves);
    expect(await stage.lamports(stage.caller.publicKey)).to.equal(caller + rent);
    expect(await stage.lamports(stage.relay.publicKey)).to.equal(relay - 2 * FEE);
    await second.end();
  });

  /** All is swept once, by a relay beside one whose node fails once that is so far. */
  async function expectTakenOver(
    node: Parameters<RpcProxy['onCall']>[0],
    settings: Record<string, string>,
    isSoFar: () => Promise<boolean>,
  ): Promise<void> {
    const executions = await stage.settled(2);
    await stage.pass();
    const relay = await stage.lamports(stage.relay.publicKey);
    const proxy = await startRpcProxy(stage.node);
    proxy.onCall(node);
    const failing = await stage.sweep({ SOLANA_RPC_URL: proxy.rpcUrl, ...settings });
    await eventually('it is so far', isSoFar);
    const sweeper = await stage.sweep();
    leaves += 2;
    await stage.followed(leaves);
    expect(await stage.recordsLeft(executions)).to.equal(0);
    expect(await stage.lamports(stage.relay.publicKey)).to.equal(relay - FEE);
    await Promise.all([failing.end(), sweeper.end()]);
    await proxy.close();
  }

  it('a relay whose node fails leaves the sweeping to one whose node does not', () =>
    expectTakenOver(
      () => ({ status: 500 }),
      {},
      async () => (await stage.place()).isTaken,
    ));

  it('what a relay has signed whose node then falls silent is done by another, once', () => {
    const silent = ['sendTransaction', 'getSignatureStatuses'];
    return expectTakenOver(
      ({ method }) => (silent.includes(method) ? { status: 500 } : null),
      { PATIENCE_MS: '2000' },
      async () => (await stage.place()).signature !== null,
    );
  });

  it('a stranger who archives first costs nothing, and is followed even where nothing is swept', async () => {
    const executions = await stage.settled(2);
    await stage.pass();
    const stranger = Keypair.generate();
    await stage.node.fundSol(stranger.publicKey, 1e9);
    const idle = await stage.sweep({ MODE: 'off' });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await stage.recordsLeft(executions)).to.equal(2);
    const relay = await stage.lamports(stage.relay.publicKey);
    const { tree } = program.decodeAccount(
      'Archive',
      (await stage.connection.getAccountInfo(program.findArchive(0), 'confirmed'))!.data,
    );
    const named = executions.map(({ executionId, rentSponsor }) => {
      return { record: program.findExecution(executionId), rentSponsor };
    });
    await stage.send([program.archiveExecutions({ index: 0, tree, executions: named })], stranger);
    leaves += 2;
    await stage.followed(leaves);
    const sweeper = await stage.sweep();
    expect(await stage.lamports(stage.relay.publicKey)).to.equal(relay);
    for (const execution of executions) await proveBySpl((await archiveRead(execution))!);
    await Promise.all([idle.end(), sweeper.end()]);
  });

  it('closes refunded records that a relay opened, three days after their end', async () => {
    const keyId = await stage.grant();
    const opened = [await stage.open(keyId), await stage.open(keyId)];
    for (const execution of opened) await stage.refund(execution, 'unserved');
    const own = await stage.open();
    await stage.refund(own, 'unserved');
    await stage.pass();
    const rent = await rentOf(opened);
    const relay = await stage.lamports(stage.relay.publicKey);
    const caller = await stage.lamports(stage.caller.publicKey);
    const sweeper = await stage.sweep();
    await eventually('both are closed', async () => (await stage.recordsLeft(opened)) === 0);
    // Its sponsor is the relay, whose open it was; what the wallet opened and took back itself stays its own affair.
    await eventually('the fee is paid', async () => {
      return (await stage.lamports(stage.relay.publicKey)) === relay + rent - FEE;
    });
    expect(await stage.recordsLeft([own])).to.equal(1);
    expect(await stage.lamports(stage.caller.publicKey)).to.equal(caller);
    await sweeper.end();
  });

  it('closes an ended dispute 30 days after its outcome, and what it was about becomes a leaf', async () => {
    const [execution] = await stage.settled(1);
    const aftermath = createAftermath(stage);
    await stage.send([aftermath.dispute(execution!)], stage.caller);
    await stage.send([aftermath.resolve(execution!, stage.admin.publicKey, false, 0n)], stage.admin);
    const dispute = program.findDispute(program.findExecution(execution!.executionId));
    await stage.pass(program.constants.endedDisputeSeconds);
    const caller = await stage.lamports(stage.caller.publicKey);
    const rent = (await stage.lamports(dispute)) + (await rentOf([execution!]));
    const relay = await stage.lamports(stage.relay.publicKey);
    const sweeper = await stage.sweep();
    leaves += 1;
    await stage.followed(leaves);
    await eventually('the dispute is closed', async () => (await stage.lamports(dispute)) === 0);
    expect(await stage.lamports(stage.caller.publicKey)).to.equal(caller + rent);
    expect(await stage.lamports(stage.relay.publicKey)).to.equal(relay - 2 * FEE);
    await sweeper.end();
  });

  it('makes the next archive when one is nine tenths full, and fills the one before', async () => {
    const { archiveSuccessorCount, archiveCapacity } = program.constants;
    const archives = async () => {
      const addresses = [0, 1, 2].map(program.findArchive);
      const accounts = await stage.connection.getMultipleAccountsInfo(addresses, 'confirmed');
      return accounts.map((account) => account && program.decodeAccount('Archive', account.data).count);
    };
    const sweepOne = async (environment = {}) => {
      const executions = await stage.settled(1);
      await stage.pass();
      const sweeper = await stage.sweep(environment);
      return { executions, sweeper };
    };
    await stage.setLeafCount(0, archiveSuccessorCount);
    const kept = await sweepOne({ MODE: 'existing' });
    await eventually('it is archived', async () => (await stage.recordsLeft(kept.executions)) === 0);
    expect(await archives()).to.deep.equal([archiveSuccessorCount + 1, null, null]);
    await kept.sweeper.end();

    await stage.setLeafCount(0, archiveCapacity - 1);
    const { executions, sweeper } = await sweepOne();
    await eventually('it is archived', async () => (await stage.recordsLeft(executions)) === 0);
    expect(await archives()).to.deep.equal([archiveCapacity, 0, null]);
    await sweeper.end();

    const last = await sweepOne();
    await eventually('it is archived', async () => (await stage.recordsLeft(last.executions)) === 0);
    expect(await archives()).to.deep.equal([archiveCapacity, 1, null]);
    // Leaves that were never there lie before those of the first tree, so only the second one's are proven.
    await eventually('it is proven', async () => (await archiveRead(last.executions[0]!)) !== null);
    await proveBySpl((await archiveRead(last.executions[0]!))!);
    await last.sweeper.end();
  });
});
