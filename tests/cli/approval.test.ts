/**
 * Wallets that a person approves, longer than a transaction is valid: they are asked once more, and nothing is charged
 * twice. The payment is gas, because the program would accept it twice.
 */
import { type Keypair, PublicKey, Transaction, type VersionedTransaction } from '@solana/web3.js';
import { expect } from 'chai';
import { parseUuid, requestHash } from '../../app/sdk/receipt/receipt.ts';
import { openByWallet, showExecution } from '../../app/sdk/wallet/executions.ts';
import { addGas, readGas } from '../../app/sdk/wallet/gas.ts';
import { type MarketplaceChain, openChain } from '../../app/sdk/wallet/marketplace.ts';
import { Refusal } from '../../app/sdk/wallet/refusal.ts';
import { keypairSigner, type Signer } from '../../app/sdk/wallet/signer.ts';
import { startMarketplace, type TestMarketplace } from '../harness/node/marketplace.ts';
import { type RpcProxy, startRpcProxy } from '../harness/node/rpcProxy.ts';

const GAS = 1_000_000n;
const TOOK_LONGER = 'The approval took longer than the 30 s for which a transaction is valid.';
/** A node's answer to a transaction whose blockhash it does not know. */
const NO_BLOCKHASH = { code: -32002, message: 'Transaction simulation failed: Blockhash not found', data: {} };

describe('a wallet that a person approves', function () {
  this.timeout(300_000);
  let market: TestMarketplace;
  let proxy: RpcProxy;
  let chain: MarketplaceChain;
  let keypair: Keypair;

  before(async () => {
    market = await startMarketplace();
    proxy = await startRpcProxy(market.node);
    chain = await openChain({ baseUrl: market.relay.url, rpcUrl: proxy.rpcUrl });
    keypair = market.callers[0]!.wallet;
  });
  afterEach(() => proxy.onCall(null));
  after(async () => {
    await proxy?.close();
    await market?.stop();
  });

  /** Does `meanwhile` before each signature, with the number of earlier ones. */
  function slowWallet(meanwhile: (transaction: Transaction, before: number) => Promise<unknown>) {
    const own = keypairSigner(keypair);
    const reasons: string[] = [];
    let count = 0;
    const wallet: Signer = {
      ...own,
      async signTransaction<T extends Transaction | VersionedTransaction>(transaction: T) {
        count += 1;
        if (transaction instanceof Transaction) await meanwhile(transaction, count - 1);
        return own.signTransaction(transaction);
      },
      onExpired: (reason) => void reasons.push(reason),
    };
    return { wallet, reasons, count: () => count };
  }
  const gas = () => readGas(market.node.connection, keypair.publicKey);
  const usdc = () => market.amountOf(market.callers[0]!.usdc);
  const outlive = () => market.node.outlive();

  it('is asked once more if the approval took too long, and pays once', async () => {
    const slow = slowWallet((_, before) => (before === 0 ? outlive() : Promise.resolve()));
    const earlier = await usdc();
    const options = { wallet: slow.wallet, agentId: new PublicKey(market.agentId), requestHash: requestHash('slow') };
    const { execution_id } = await openByWallet(chain, options);
    expect(await showExecution(chain, parseUuid(execution_id)!)).to.include({ status: 'open', escrow_usdc: '0.25' });
    expect(await usdc()).to.equal(earlier - 250_000n);
    expect([slow.count(), slow.reasons]).to.deep.equal([2, [TOOK_LONGER]]);
  });

  it('is not asked a third time, and nothing has changed', async () => {
    const slow = slowWallet(outlive);
    const earlier = await gas();
    const refusal = await addGas(chain, { wallet: slow.wallet, lamports: GAS }).catch((error) => error);
    expect(refusal).to.be.instanceOf(Refusal).and.include({ code: 'expired' });
    expect(refusal.message).to.equal(`${TOOK_LONGER} Nothing has changed on the chain. Try again.`);
    expect([slow.count(), slow.reasons, await gas()]).to.deep.equal([2, [TOOK_LONGER], earlier]);
  });

  it('is asked once more if a node lost the transaction until it expired', async () => {
    let sent = 0;
    proxy.onCall(async ({ method }, forward) => {
      if (method !== 'sendTransaction') return null;
      sent += 1;
      if (sent > 1) return null;
      await outlive();
      return { json: { ...(await forward()), error: undefined, result: '1'.repeat(64) } };
    });
    const slow = slowWallet(async () => undefined);
    const earlier = await gas();
    await addGas(chain, { wallet: slow.wallet, lamports: GAS });
    expect([slow.count(), sent, await gas()]).to.deep.equal([2, 2, earlier + GAS]);
    expect(slow.reasons).to.have.length(1);
    expect(slow.reasons[0]).to.match(/^The transaction \w+ did not land within the 30 s for which it is valid\.$/);
  });

  it('is not asked again while the first transaction may still land, whatever the node answered', async () => {
    proxy.onCall(async ({ method }, forward) => {
      if (method !== 'sendTransaction') return null;
      const { id } = await forward();
      return { json: { jsonrpc: '2.0', id, error: NO_BLOCKHASH } };
    });
    const slow = slowWallet(async () => undefined);
    const earlier = await gas();
    await addGas(chain, { wallet: slow.wallet, lamports: GAS });
    expect([slow.count(), await gas()]).to.deep.equal([1, earlier + GAS]);
  });

  it('is not asked again because a node that is behind did not know the blockhash yet', async () => {
    let refused = 0;
    proxy.onCall(({ method }) => {
      if (method !== 'sendTransaction' || refused === 2) return null;
      refused += 1;
      return { json: { jsonrpc: '2.0', id: '1', error: NO_BLOCKHASH } };
    });
    const slow = slowWallet(async () => undefined);
    const earlier = await gas();
    await addGas(chain, { wallet: slow.wallet, lamports: GAS });
    expect([slow.count(), refused, await gas()]).to.deep.equal([1, 2, earlier + GAS]);
  });

  it('is not asked again because a node that is behind does not know the transaction', async () => {
    let asked = 0;
    proxy.onCall(async ({ method }, forward) => {
      if (method === 'sendTransaction') {
        const json = await forward();
        await outlive();
        return { json };
      }
      if (method !== 'getSignatureStatuses') return null;
      asked += 1;
      if (asked > 3) return null;
      const { id } = await forward();
      return { json: { jsonrpc: '2.0', id, result: { context: { slot: 1 }, value: [null] } } };
    });
    const slow = slowWallet(async () => undefined);
    const earlier = await gas();
    await addGas(chain, { wallet: slow.wallet, lamports: GAS });
    expect([slow.count(), asked, await gas()]).to.deep.equal([1, 4, earlier + GAS]);
  });

  it('may replace the blockhash by one of a node that is ahead: the transaction may then land later', async () => {
    const behind = 100;
    let take: () => Promise<unknown> = () => Promise.resolve();
    let asked = 0;
    proxy.onCall(async ({ method, params }, forward) => {
      if (
        method === 'getBlockHeight' &&
        (params[0] as { commitment?: string } | undefined)?.commitment === 'processed'
      ) {
        const answer = await forward();
        return { json: { ...answer, result: (answer.result as number) - behind } };
      }
      // The node takes the transaction only after it was asked for its status.
      if (method === 'sendTransaction') {
        take = forward;
        return { json: { jsonrpc: '2.0', id: '1', result: '1'.repeat(64) } };
      }
      if (method !== 'getSignatureStatuses') return null;
      asked += 1;
      if (asked === 2) {
        const slot = await market.node.connection.getSlot('processed');
        await market.node.rpc('surfnet_timeTravel', [{ absoluteSlot: slot + behind }]);
      }
      if (asked === 4) await take();
      return null;
    });
    const slow = slowWallet(async (transaction) => {
      await outlive();
      const { blockhash } = await market.node.connection.getLatestBlockhash();
      transaction.recentBlockhash = blockhash;
    });
    const earlier = await gas();
    await addGas(chain, { wallet: slow.wallet, lamports: GAS });
    expect([slow.count(), slow.reasons, await gas()]).to.deep.equal([1, [], earlier + GAS]);
  });
});
