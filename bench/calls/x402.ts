/** The side of x402's `exact` scheme: payer, seller and facilitator from its own packages, on one of our test nodes. */
import { Keypair } from '@solana/web3.js';
import { startMarketplace } from '../../tests/harness/node/marketplace.ts';
import { createX402Fetch } from '../../tests/harness/node/x402.ts';
import { type Child, startChild } from '../processes.ts';
import { PRICE, PRICE_USDC, processorMs, type Side } from './side.ts';

const FUNDS = 100e9;

/** Starts everything on a fresh node with the same history as ours. */
export async function startX402(slotTimeMs: number): Promise<Side> {
  const market = await startMarketplace({ slotTimeMs, price: PRICE_USDC });
  // The marketplace has written the same history as on our side. Only its node is needed now.
  await market.relay.kill();
  const { node } = market;
  const authority = Keypair.generate();
  await node.fundSol(authority.publicKey, FUNDS);
  const secret = Buffer.from(authority.secretKey).toString('hex');
  const facilitator = await startChild<{ port: number }>('calls/facilitatorProcess.ts', [node.rpcUrl, secret]);
  const seller = await startChild<{ port: number }>('calls/sellerProcess.ts', [
    `http://127.0.0.1:${facilitator.ready.port}`,
    market.creator.publicKey.toBase58(),
    market.usdcMint.toBase58(),
    String(PRICE),
  ]);
  const pay = await createX402Fetch(market.callers[0]!.wallet, node.rpcUrl);
  const usedBy = async (child: Child<unknown>) => processorMs(await child.ask<NodeJS.CpuUsage>({}));
  return {
    async call() {
      const response = await pay(`http://127.0.0.1:${seller.ready.port}/paid`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ task: 'bench' }),
      });
      await response.text();
      if (response.status !== 200) throw new Error(`the seller answered ${response.status}`);
    },
    async spent() {
      // The account pays for nothing else.
      const lamports = FUNDS - (await node.connection.getBalance(authority.publicKey, 'finalized'));
      return { lamports, processorMs: (await usedBy(facilitator)) + (await usedBy(seller)) };
    },
    rent: 0,
    async stop() {
      await facilitator.stop();
      await seller.stop();
      await market.stop();
    },
  };
}
