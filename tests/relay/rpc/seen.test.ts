/** A payment shows before it is final. The node's first slot lasts longer than the test, so nothing becomes final here. */
import { Keypair, SystemProgram, Transaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { expect } from 'chai';
import pino from 'pino';
import { createNodes, type Nodes } from '../../../app/relay/chain/nodes.ts';
import { createClock } from '../../../app/relay/chain/reader.ts';
import { createSeen, type Seen } from '../../../app/relay/chain/seen.ts';
import { FAST } from '../../../app/solana/finality.ts';
import { createRpcFetch } from '../../../app/solana/rpc.ts';
import { startNode, type TestNode } from '../../harness/node/node.ts';
import { type RpcProxy, startRpcProxy } from '../../harness/node/rpcProxy.ts';

const HOUR_MS = 3_600_000;

describe('a payment that is not final', () => {
  const feePayer = Keypair.generate();
  let node: TestNode;
  let proxy: RpcProxy;
  let nodes: Nodes;
  let seen: Seen | undefined;
  before(async () => {
    node = await startNode({ slotTimeMs: HOUR_MS, deploy: false });
    await node.fundSol(feePayer.publicKey, 1e9);
  });
  after(() => node.stop());
  beforeEach(async () => {
    proxy = await startRpcProxy(node);
    nodes = createNodes({
      nodes: [{ rpcUrl: proxy.rpcUrl, wsUrl: proxy.wsUrl }],
      finality: FAST,
      clock: createClock(),
      log: pino({ level: 'silent' }),
      closing: new AbortController().signal,
      fetch: createRpcFetch(),
    });
  });
  afterEach(async () => {
    seen?.close();
    nodes.close();
    await proxy.close();
  });

  /** Resolves once the node has accepted the subscription. */
  const subscribed = () =>
    new Promise<void>((resolve) => {
      proxy.onMessage((message, pass) => {
        pass();
        if (message.method === undefined) resolve();
      });
    });

  /** A signed transfer of the fee payer to itself. It fails if it has less. */
  async function sign(lamports: number): Promise<{ signature: string; send(): Promise<unknown> }> {
    const { publicKey } = feePayer;
    const { blockhash, lastValidBlockHeight } = await node.connection.getLatestBlockhash('processed');
    const transfer = SystemProgram.transfer({ fromPubkey: publicKey, toPubkey: publicKey, lamports });
    const payment = new Transaction({ feePayer: publicKey, blockhash, lastValidBlockHeight }).add(transfer);
    payment.sign(feePayer);
    const send = () => node.connection.sendRawTransaction(payment.serialize(), { skipPreflight: true });
    return { signature: bs58.encode(payment.signature!), send };
  }

  it('is noticed by its notification, unless it has failed', async () => {
    const ready = subscribed();
    seen = createSeen(nodes, feePayer.publicKey, HOUR_MS);
    await ready;
    const [failing, paying] = [await sign(2e9), await sign(1)];
    const stop = new AbortController();
    const failed = seen.untilSeen(failing.signature, stop.signal);
    const paid = seen.untilSeen(paying.signature, stop.signal);
    await failing.send();
    await paying.send();
    expect(await Promise.race([failed.then(() => 'failed'), paid])).to.equal(true);
    stop.abort();
    expect(await failed).to.equal(false);
    expect(await seen.untilSeen(paying.signature, stop.signal)).to.equal(false);
  });

  it('is noticed without a WebSocket', async () => {
    proxy.cutSockets(true);
    seen = createSeen(nodes, feePayer.publicKey);
    const { signature, send } = await sign(2);
    await send();
    expect(await seen.untilSeen(signature, new AbortController().signal)).to.equal(true);
  });

  it('is no longer waited for once it is stopped, while the node does not answer', async () => {
    const asked = new Promise<void>((resolve) => {
      proxy.onCall(() => {
        resolve();
        return 'silence';
      });
    });
    seen = createSeen(nodes, feePayer.publicKey, 1);
    const stop = new AbortController();
    const waiting = seen.untilSeen(bs58.encode(Buffer.alloc(64, 7)), stop.signal);
    await asked;
    stop.abort();
    expect(await waiting).to.equal(false);
  });
});
