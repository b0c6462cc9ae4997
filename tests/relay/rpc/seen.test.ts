/** A payment shows before it is final. The node's first slot lasts longer than the test, so nothing becomes final here. */
import { Keypair, SystemProgram, Transaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { expect } from 'chai';
import pino from 'pino';
import { createRelayChain, type RelayChain } from '../../../app/relay/chain/relayChain.ts';
import { startNode, type TestNode } from '../../harness/node/node.ts';
import { type RpcProxy, startRpcProxy } from '../../harness/node/rpcProxy.ts';

/** Two of final transactions, one of payments that may not be final. */
const SUBSCRIPTIONS = 3;

describe('a payment that is not final', () => {
  const feePayer = Keypair.generate();
  let node: TestNode;
  let proxy: RpcProxy;
  let chain: RelayChain;
  before(async () => {
    node = await startNode({ slotTimeMs: 3_600_000, deploy: false });
    await node.fundSol(feePayer.publicKey, 1e9);
  });
  after(() => node.stop());
  beforeEach(async () => {
    proxy = await startRpcProxy(node);
  });
  afterEach(async () => {
    chain.close();
    await proxy.close();
  });

  const connect = () => {
    const { rpcUrl, wsUrl } = proxy;
    const log = pino({ level: 'silent' });
    chain = createRelayChain({ rpcUrl, wsUrl, authority: Keypair.generate(), feePayer, log });
  };

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

  /** Resolves once the node has accepted all subscriptions. */
  const subscribed = () =>
    new Promise<void>((resolve) => {
      let accepted = 0;
      proxy.onMessage((message, pass) => {
        pass();
        if (message.method === undefined) accepted += 1;
        if (accepted === SUBSCRIPTIONS) resolve();
      });
    });

  it('is noticed by its notification, while the node answers no question, unless it has failed', async () => {
    const ready = subscribed();
    connect();
    await ready;
    proxy.onCall(() => 'silence');
    const [failing, paying] = [await sign(2e9), await sign(1)];
    const stop = new AbortController();
    const failed = chain.untilSeen(failing.signature, stop.signal);
    const paid = chain.untilSeen(paying.signature, stop.signal);
    await failing.send();
    await paying.send();
    expect(await Promise.race([failed.then(() => 'failed'), paid])).to.equal(true);
    stop.abort();
    expect(await failed).to.equal(false);
  });

  it('is noticed by polling without a WebSocket', async () => {
    proxy.cutSockets(true);
    connect();
    const { signature, send } = await sign(2);
    await send();
    expect(await chain.untilSeen(signature, new AbortController().signal)).to.equal(true);
  });
});
