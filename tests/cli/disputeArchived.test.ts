/**
 * A call that is archived within its dispute window, disputed by the command line as any other: the proof comes from
 * the relay and is checked against the chain. The relay's API then shows the dispute.
 */
import { expect } from 'chai';
import type { RunningRelay } from '../../app/relay/start.ts';
import * as program from '../../app/sdk/program/program.ts';
import { formatUuid } from '../../app/sdk/receipt/receipt.ts';
import { verifyExecution } from '../../app/sdk/receipt/verify.ts';
import { disputeExecution } from '../../app/sdk/wallet/disputes.ts';
import { readExecution } from '../../app/sdk/wallet/executions.ts';
import { openChain } from '../../app/sdk/wallet/marketplace.ts';
import { openSession } from '../../app/sdk/wallet/service.ts';
import { keypairSigner } from '../../app/sdk/wallet/signer.ts';
import { MAX_EVIDENCE_BYTES } from '../../app/sdk/wire/disputeProcedures.ts';
import type { ExecutionArchive } from '../../app/sdk/wire/wire.ts';
import { until } from '../harness/edge/until.ts';
import type { OpenedExecution } from '../indexer/market.ts';
import { type Stage, startStage } from '../relay/sweeper/sweepStage.ts';
import { useTerminal } from './run.ts';

const FEE = 5_000;
const BOND = 10_000_000;
/** What a stranger sends to addresses of closed accounts. */
const STRANGERS_LAMPORTS = 650_240;
/** Ten times the age at which a record is archived. */
const WINDOW_SECONDS = 2_592_000;

describe('the command line: the dispute of an archived call', function () {
  this.timeout(600_000);
  let stage: Stage;
  const terminal = useTerminal(() => stage.node.rpcUrl);
  let relay: RunningRelay;
  let executions: OpenedExecution[];

  before(async () => {
    stage = await startStage();
    const { publicKey: admin } = stage.admin;
    await stage.send([program.updateConfig({ admin, disputeWindowSeconds: WINDOW_SECONDS })], stage.admin);
    executions = await stage.settled(3);
    await stage.pass();
    relay = await stage.relayHere({ ARCHIVE: 'off' });
  });
  after(async () => {
    await relay?.stop();
    await stage?.stop();
  });

  const idOf = (at: number): string => formatUuid(executions[at]!.executionId);
  const archiveOf = async (at: number): Promise<ExecutionArchive | null> => {
    const answer = await fetch(`${relay.url}/v1/executions/${idOf(at)}/archive`);
    return answer.status === 200 ? ((await answer.json()) as ExecutionArchive) : null;
  };
  /** Archives some of the executions as anyone can, and waits until the relay has their proofs. */
  const archives = async (...places: number[]): Promise<void> => {
    const { tree } = program.decodeAccount(
      'Archive',
      (await stage.connection.getAccountInfo(program.findArchive(0), 'confirmed'))!.data,
    );
    const named = places.map((at) => {
      const { executionId, rentSponsor } = executions[at]!;
      return { record: program.findExecution(executionId), rentSponsor };
    });
    await stage.send([program.archiveExecutions({ index: 0, tree, executions: named })], stage.caller);
    for (const at of places) await until('the proof is shown', async () => (await archiveOf(at)) !== null);
  };
  const statusOf = async (at: number) => {
    const { token } = await openSession({ baseUrl: relay.url }, keypairSigner(stage.caller));
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${relay.url}/v1/executions/${idOf(at)}`, { headers });
    const { status, dispute } = (await answer.json()) as { status: string; dispute: object | null };
    return { status, dispute };
  };

  it('opens it by the leaf with the same bond, and the API shows it as disputed', async () => {
    const payer = stage.caller.publicKey;
    const lamports = await stage.connection.getMinimumBalanceForRentExemption(program.constants.archiveTreeBytes);
    await stage.send(program.makeArchive({ payer, index: 0, lamports, held: 0 }), stage.caller);
    await archives(0, 1);
    const records = [0, 1].map((at) => program.findExecution(executions[at]!.executionId));
    const closed = [...records, ...records.map(program.findEscrow), program.findDispute(records[1]!)];
    for (const address of closed) await stage.node.fundSol(address, STRANGERS_LAMPORTS);
    const evidence = terminal.file('evidence.txt', 'The result is wrong.');
    const open = ['dispute', 'open', idOf(0), '--evidence', evidence, '--base-url', relay.url];
    expect(await terminal.refused(stage.creator, ...open)).to.include('(NotCaller)');
    const large = terminal.file('large.txt', 'x'.repeat(MAX_EVIDENCE_BYTES + 1));
    expect(await terminal.refused(stage.caller, 'dispute', 'open', idOf(0), '--evidence', large)).to.include(
      `has ${MAX_EVIDENCE_BYTES + 1} bytes, but the marketplace takes 1 to ${MAX_EVIDENCE_BYTES}.`,
    );
    const before = await stage.lamports(payer);
    const opened = await terminal.done(stage.caller, ...open);
    const held = await stage.lamports(program.findDispute(program.findExecution(executions[0]!.executionId)));
    const rent = await stage.connection.getMinimumBalanceForRentExemption(275);
    expect(held).to.equal(rent + BOND);
    expect(await stage.lamports(payer)).to.equal(before - held - FEE);
    expect(opened).to.include({ execution_id: idOf(0), bond_lamports: String(BOND), evidence_uploaded: true });
    const { call } = await openSession({ baseUrl: relay.url }, keypairSigner(stage.caller));
    const kept = await call('disputes.evidence', { execution_id: idOf(0) });
    expect(Buffer.from(kept.content, 'base64').toString()).to.equal('The result is wrong.');
    expect(kept).to.include({ media_type: 'text/plain', evidence_hash: opened.evidence_hash });
    await until('the dispute is shown', async () => (await statusOf(0)).status === 'disputed');
    expect(await statusOf(0)).to.deep.equal({ status: 'disputed', dispute: { outcome: 'open' } });
    expect(await statusOf(1)).to.deep.equal({ status: 'completed', dispute: null });
    expect(await terminal.refused(stage.caller, ...open)).to.include('(DisputeExists)');
  });

  it('shows the fields of leaf and record alike, and says which it read', async () => {
    const { connection } = stage;
    const find = async () => (await archiveOf(1))!;
    const byLeaf = await readExecution(connection, executions[1]!.executionId, find);
    expect(byLeaf).to.deep.include({ source: 'leaf' });
    expect(byLeaf.execution).to.deep.include({ status: 'completed', price: 250_000n });
    const byRecord = await readExecution(connection, executions[2]!.executionId, find);
    expect(byRecord.source).to.equal('record');
    expect(Object.keys(byLeaf.execution)).to.deep.equal(Object.keys(byRecord.execution));
    const shown = ['--base-url', relay.url];
    const leaf = { status: 'completed', source: 'leaf', escrow_usdc: null };
    expect(await terminal.look('execution', 'show', idOf(0), ...shown)).to.include({ ...leaf, dispute: 'open' });
    expect(await terminal.look('execution', 'show', idOf(1), ...shown)).to.include({ ...leaf, dispute: null });
    expect(await terminal.look('execution', 'show', idOf(2), ...shown)).to.include({
      ...leaf,
      source: 'record',
      dispute: null,
    });
  });

  it('opens a dispute by the leaf if the record was archived after it was read', async () => {
    const chain = await openChain({ baseUrl: relay.url, rpcUrl: stage.node.rpcUrl });
    const { executionId } = executions[2]!;
    const wallet = keypairSigner(stage.caller);
    let signatures = 0;
    const slow: typeof wallet = {
      ...wallet,
      async signTransaction(transaction) {
        signatures += 1;
        // The person who signs takes so long that the record is archived meanwhile.
        if (signatures === 1) await archives(2);
        return wallet.signTransaction(transaction);
      },
    };
    await disputeExecution(chain, {
      ...{ wallet: slow, executionId, evidenceHash: new Uint8Array(32).fill(1), evidenceUri: '' },
      findArchive: async () => (await archiveOf(2))!,
    });
    expect(signatures).to.equal(2);
    await until('the dispute is shown', async () => (await statusOf(2)).status === 'disputed');
  });

  it('pays an upheld dispute of a leaf from the collateral, and the facts of a verification show it', async () => {
    const { admin, caller, creator, listing, usdcMint } = stage;
    const { executionId } = executions[0]!;
    const units = async (account = stage.source) =>
      BigInt((await stage.connection.getTokenAccountBalance(account, 'confirmed')).value.amount);
    const vault = program.findCollateralVault(listing);
    const [before, held] = [await units(), await units(vault)];
    const answer = program.resolveDispute({
      ...{ admin: admin.publicKey, executionId, listing, caller: caller.publicKey, creator: creator.publicKey },
      ...{ rentSponsor: caller.publicKey, usdcMint, upheld: true, amount: 100_000n, reasonHash: new Uint8Array(32) },
    });
    await stage.send([answer], admin);
    expect([await units(), await units(vault)]).to.deep.equal([before + 100_000n, held - 100_000n]);
    await until('the outcome is shown', async () => {
      const { dispute } = await statusOf(0);
      return (dispute as { outcome: string }).outcome === 'upheld';
    });
    const facts = await new Promise<{ status: string | null; dispute: string | null }>((resolve, reject) => {
      const findArchive = async () => await archiveOf(0);
      verifyExecution(idOf(0), { rpcUrl: stage.node.rpcUrl, findArchive, onFacts: resolve }).catch(reject);
    });
    expect(facts).to.include({ status: 'completed', dispute: 'upheld' });
  });
});
