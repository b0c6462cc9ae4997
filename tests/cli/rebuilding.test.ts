/**
 * Disputes and claims by proofs that are rebuilt from the chain's own transactions: no relay and no index runs, or the
 * service lies.
 */
import { type ConfirmedSignatureInfo, Connection, Keypair, PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { expect } from 'chai';
import { encodeArchived, readArchiveTree } from '../../app/sdk/program/archive.ts';
import * as program from '../../app/sdk/program/program.ts';
import { formatUuid } from '../../app/sdk/receipt/receipt.ts';
import { disputeExecution } from '../../app/sdk/wallet/disputes.ts';
import { readExecution } from '../../app/sdk/wallet/executions.ts';
import { openChain } from '../../app/sdk/wallet/marketplace.ts';
import { keypairSigner } from '../../app/sdk/wallet/signer.ts';
import { useServers } from '../harness/edge/listen.ts';
import { until } from '../harness/edge/until.ts';
import { type RpcProxy, startRpcProxy } from '../harness/node/rpcProxy.ts';
import { type Market, type OpenedExecution, PRICE, startMarket } from '../indexer/market.ts';
import { NOBODY } from './receiptStage.ts';
import { type Run, useTerminal } from './run.ts';

const BOND = 10_000_000;
const FEE = 5_000;
/** Leaves below a node of the canopy. */
const BLOCK = 1_024;
/** Records that one transaction archives. */
const BATCH = 12;

describe('the command line: proofs from the chain alone', function () {
  this.timeout(600_000);
  let market: Market;
  const terminal = useTerminal(() => market.node.rpcUrl);
  let executions: OpenedExecution[];
  let evidence: string;
  let tree: PublicKey;
  const stranger = Keypair.generate();

  before(async () => {
    market = await startMarket();
    evidence = terminal.file('evidence.txt', 'The result is wrong.');
    await market.node.fundSol(stranger.publicKey, 10e9);
    await market.list();
    executions = await Promise.all(Array.from({ length: 5 }, () => market.open()));
    for (const opened of executions) await market.settle(opened);
    await market.node.timeTravel((await market.node.now()) + program.constants.recordSecondsMin + 60);
    const payer = stranger.publicKey;
    const bytes = program.constants.archiveTreeBytes;
    const lamports = await market.node.connection.getMinimumBalanceForRentExemption(bytes);
    await market.send(program.makeArchive({ payer, index: 0, lamports, held: 0 }), stranger);
    tree = program.findSeededTree(payer, 0);
  });
  after(async () => {
    await market?.node.stop();
  });

  const idOf = (at: number): string => formatUuid(executions[at]!.executionId);
  const recordOf = (at: number): PublicKey => program.findExecution(executions[at]!.executionId);
  const archive = (records: PublicKey[]) => {
    const { rentSponsor } = executions[0]!;
    const named = records.map((record) => ({ record, rentSponsor }));
    return market.send([program.archiveExecutions({ index: 0, tree, executions: named })], stranger);
  };
  /** Archives copies of a record under other ids, which begin with these numbers. */
  const archiveCopies = async (of: PublicKey, from: number, to: number): Promise<void> => {
    const count = to - from;
    const account = (await market.node.connection.getAccountInfo(of, 'confirmed'))!;
    const fields = program.decodeAccount('ExecutionRecord', account.data);
    const records = await Promise.all(
      Array.from({ length: count }, async (_, at) => {
        const executionId = Buffer.alloc(16, 1);
        executionId.writeUInt32LE(from + at);
        const record = program.findExecution(executionId);
        const copy = encodeArchived({ ...fields, executionId, ...program.findExecutionBumps(executionId) });
        const data = Buffer.concat([account.data.subarray(0, 8), copy]).toString('hex');
        const shown = { data, lamports: account.lamports, owner: program.PROGRAM_ID.toBase58() };
        await market.node.rpc('surfnet_setAccount', [record.toBase58(), shown]);
        return record;
      }),
    );
    const batches = Array.from({ length: Math.ceil(count / BATCH) }, (_, at) =>
      records.slice(at * BATCH, (at + 1) * BATCH),
    );
    await Promise.all(batches.map(archive));
  };
  const treeCount = async (): Promise<number> =>
    readArchiveTree((await market.node.connection.getAccountInfo(tree, 'finalized'))!.data).count;

  /** Disputes an execution, and checks what it cost and what the chain then has. */
  const disputes = async (at: number, baseUrl: string): Promise<Run> => {
    const payer = market.caller.publicKey;
    const before = await market.node.connection.getBalance(payer);
    const words = ['dispute', 'open', idOf(at), '--evidence', evidence, '--base-url', baseUrl];
    const run = await terminal.run(market.caller, words);
    expect(run.code, run.stderr).to.equal(0);
    const account = await market.node.connection.getAccountInfo(program.findDispute(recordOf(at)));
    const dispute = program.decodeOwn('Dispute', account)!;
    expect(dispute).to.deep.include({ record: recordOf(at), caller: payer, price: PRICE, outcome: 'open' });
    const rent = await market.node.connection.getMinimumBalanceForRentExemption(account!.data.length);
    expect(account!.lamports).to.equal(rent + BOND);
    expect(await market.node.connection.getBalance(payer)).to.equal(before - rent - BOND - FEE);
    return run;
  };
  const REBUILT = "The proof is rebuilt from the chain's transactions ...\n";

  it('disputes the only leaf of a tree while no relay answers', async () => {
    await archive([recordOf(0)]);
    const { stderr } = await disputes(0, NOBODY);
    expect(stderr).to.include(`No server answers at ${NOBODY}. ${REBUILT}`);
    const again = ['dispute', 'open', idOf(0), '--evidence', evidence, '--base-url', NOBODY];
    expect(await terminal.refused(market.caller, ...again)).to.include('(DisputeExists)');
  });

  it('disputes a leaf in a full block and one in the next block, among the leaves of other transactions', async () => {
    const half = BLOCK / 2;
    await archiveCopies(recordOf(3), 0, half);
    await archive([recordOf(1)]);
    await archiveCopies(recordOf(3), half, BLOCK);
    await archive([recordOf(2)]);
    expect(await treeCount()).to.equal(1 + half + 1 + half + 1);
    await disputes(1, NOBODY);
    await disputes(2, NOBODY);
  });

  describe('through a node that a test changes', () => {
    let proxy: RpcProxy;
    let connection: Connection;
    before(async () => {
      proxy = await startRpcProxy(market.node);
      connection = new Connection(proxy.rpcUrl, 'finalized');
    });
    after(() => proxy?.close());
    const read = async (at: number) => {
      const found = await readExecution(connection, executions[at]!.executionId);
      if (found.source !== 'leaf') throw new Error('it was not archived');
      return found;
    };

    it('reads past transactions that it does not need or the node lacks', async () => {
      const plain = await read(1);
      const [archived] = await market.node.connection.getSignaturesForAddress(recordOf(1), { limit: 2 }).then((all) =>
        // The newest is the dispute.
        all.slice(1),
      );
      let count = 0;
      const lacking = (length: number) =>
        Array.from({ length }, () => {
          count += 1;
          const bytes = Buffer.alloc(64, 7);
          bytes.writeUInt32LE(count);
          return { ...archived!, signature: bs58.encode(bytes) };
        });
      const [newest, newer, older, oldest] = [100, 50, 20, 20].map(lacking);
      // The lists of a node have a thousand entries, also of failed transactions.
      const failed = lacking(1_000).map((entry) => ({ ...entry, err: 'AccountNotFound' }));
      const listed = async (address: string): Promise<ConfirmedSignatureInfo[]> => {
        const all = await market.node.connection.getSignaturesForAddress(new PublicKey(address), {}, 'finalized');
        if (address !== tree.toBase58()) return [...all, ...oldest!];
        const at = all.findIndex(({ signature }) => signature === archived!.signature);
        return [...newest!, ...all.slice(0, at), ...failed, ...newer!, all[at]!, ...older!, ...all.slice(at + 1)];
      };
      const asked = new Set<string>();
      proxy.onCall(async ({ method, params }, forward) => {
        if (method === 'getTransaction') asked.add(params[0] as string);
        if (method !== 'getSignaturesForAddress') return null;
        const [address, range] = params as [string, { before?: string; until?: string; limit: number }];
        const all = await listed(address);
        const place = (name: string) => all.findIndex(({ signature }) => signature === name);
        const from = range.before ? place(range.before) + 1 : 0;
        const to = range.until ? place(range.until) : all.length;
        const result = all.slice(from, Math.min(to, from + range.limit));
        return { json: { ...(await forward()), error: undefined, result } };
      });
      const found = await read(1).finally(() => proxy.onCall(null));
      expect(found).to.deep.equal(plain);
      const askedOf = (some: { signature: string }[]) => some.filter(({ signature }) => asked.has(signature)).length;
      expect([newer!, older!].map(askedOf)).to.deep.equal([50, 20]);
      // They stand in the last list of eight that is read.
      expect(askedOf(newest!)).to.be.below(8);
      expect(askedOf(oldest!)).to.be.below(8);
    });

    it('reads the new leaves too if so many are added meanwhile that a proof without them is refused', async () => {
      const count = await treeCount();
      const added = program.constants.archiveBuffer + 1;
      const grow = async () => {
        await archiveCopies(recordOf(3), BLOCK, BLOCK + added);
        await until('the leaves are final', async () => (await treeCount()) === count + added);
      };
      let growing: Promise<void> | null = null;
      proxy.onCall(async ({ method, params }) => {
        if (method === 'getSignaturesForAddress' && params[0] === tree.toBase58()) {
          growing ??= grow();
          await growing;
        }
        return null;
      });
      const { leaf } = await read(2).finally(() => proxy.onCall(null));
      expect([leaf.leafIndex, leaf.tree.count]).to.deep.equal([count - 1, count + added]);
    });
  });

  describe('a service that lies', () => {
    let answer: unknown;
    let url: string;
    const serve = useServers();
    before(async () => {
      url = await serve((_, response) => {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(answer));
      });
    });

    it('does not hinder the claim of a refund by silence', async () => {
      const opened = await market.open();
      const id = formatUuid(opened.executionId);
      const { node, source } = market;
      const { connection } = node;
      const held = async () => BigInt((await connection.getTokenAccountBalance(source, 'confirmed')).value.amount);
      const before = await held();
      const record = await connection.getAccountInfo(program.findExecution(opened.executionId), 'confirmed');
      const { refundAt } = program.decodeAccount('ExecutionRecord', record!.data);
      await node.timeTravel(Number(refundAt) + program.constants.unclaimedSeconds + 1);
      await node.setFrozen(source, true);
      await terminal.done(stranger, 'refund', 'move', id);
      await node.setFrozen(source, false);
      answer = { refunds: [] };
      const shown = await terminal.look('refund', 'show', id, '--base-url', url);
      expect(shown.refunds).to.have.length(1);
      expect(shown.refunds[0]).to.include({ amount_usdc: '0.25', is_claimed: false });
      await terminal.done(market.caller, 'refund', 'claim', id, '--base-url', url);
      expect(await held()).to.equal(before + PRICE);
      const again = await terminal.refused(market.caller, 'refund', 'claim', id, '--base-url', NOBODY);
      expect(again).to.include('has been claimed');
      expect((await terminal.look('refund', 'show', id, '--base-url', NOBODY)).refunds[0].is_claimed).to.equal(true);
    });

    it('rebuilds the whole tree from a file that has an unclaimed refund among the executions', async () => {
      const file = terminal.path('leaves.ndjson');
      const rebuilt = await terminal.look('archive', 'rebuild', '0', '--out', file);
      expect(rebuilt).to.include({ leaves: await treeCount(), is_equal: true });
      const again = await terminal.look('archive', 'rebuild', '0', '--from', file);
      expect(again).to.deep.equal({ ...rebuilt, leaves_from: 'the given leaves' });
    });
  });

  it('says that a record or a refund has no leaf', async () => {
    const { executionId } = await market.open();
    const other = Keypair.generate().publicKey.toBytes().slice(0, 16);
    const { connection } = market.node;
    expect((await readExecution(connection, executionId)).source).to.equal('record');
    const missing = await readExecution(connection, other).catch((error: Error) => error.message);
    expect(missing).to.equal(
      `No record of the execution ${formatUuid(other)} exists on this chain, and the node has no transaction that archived it.`,
    );
    const refund = await terminal.run(market.caller, ['refund', 'claim', formatUuid(other), '--base-url', NOBODY]);
    expect(refund.stderr).to.include(
      `The node has no transaction that moved a refund of ${program.findExecution(other)} to the unclaimed ones.`,
    );
  });

  describe('a slow wallet', () => {
    it('disputes by the leaf if the record was archived after it was read, and reads both alike', async () => {
      const chain = await openChain({ baseUrl: NOBODY, rpcUrl: market.node.rpcUrl });
      const { executionId } = executions[4]!;
      const byRecord = await readExecution(chain.connection, executionId);
      const own = keypairSigner(market.caller);
      let signatures = 0;
      const wallet: typeof own = {
        ...own,
        async signTransaction(transaction) {
          signatures += 1;
          // The person who signs takes so long that the record is archived meanwhile.
          if (signatures === 1) await archive([recordOf(4)]);
          return own.signTransaction(transaction);
        },
      };
      await disputeExecution(chain, { wallet, executionId, evidenceHash: new Uint8Array(32).fill(1), evidenceUri: '' });
      expect(signatures).to.equal(2);
      const byLeaf = await readExecution(chain.connection, executionId);
      expect([byRecord.source, byLeaf.source]).to.deep.equal(['record', 'leaf']);
      expect(Object.keys(byLeaf.execution)).to.deep.equal(Object.keys(byRecord.execution));
    });
  });
});
