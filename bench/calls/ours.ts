/** Our sides of the comparison: the marketplace of the tests, called with an API key or by an x402 client. */
import { once } from 'node:events';
import { Keypair } from '@solana/web3.js';
import { readRents } from '../../tests/harness/node/funds.ts';
import { request, startMarketplace, type TestMarketplace } from '../../tests/harness/node/marketplace.ts';
import { createX402Fetch } from '../../tests/harness/node/x402.ts';
import { PRICE_USDC, processorMs, type Side } from './side.ts';

/** The side that is called with an API key. */
export async function startOurs(slotTimeMs: number): Promise<Side> {
  const market = await startMarketplace({ slotTimeMs, price: PRICE_USDC });
  return toSide(market, async () => {
    const { apiKey } = market.callers[0]!;
    const path = `/v1/agents/${market.agentId}/execute`;
    return (await request(market.relay.url, path, { apiKey, body: { task: 'bench' } })).status;
  });
}

/** The side that is called by x402's own client, which pays into a deposit. */
export async function startOursByX402(slotTimeMs: number): Promise<Side> {
  const market = await startMarketplace({ slotTimeMs, price: PRICE_USDC, feePayer: Keypair.generate() });
  const pay = await createX402Fetch(market.callers[0]!.wallet, market.node.rpcUrl);
  return toSide(market, async () => {
    const response = await pay(`${market.relay.url}/v1/x402/agents/${market.agentId}/execute`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ task: 'bench' }),
    });
    await response.text();
    return response.status;
  });
}

async function toSide(market: TestMarketplace, ask: () => Promise<number>): Promise<Side> {
  const relay = market.relay.process!;
  return {
    async call() {
      const status = await ask();
      if (status !== 200) throw new Error(`the relay answered ${status}`);
    },
    async spent() {
      const answer = once(relay, 'message');
      relay.send('figures');
      const [{ cpu }] = (await answer) as [{ cpu: NodeJS.CpuUsage }];
      return { lamports: await readFees(market), processorMs: processorMs(cpu) };
    },
    rent: Number((await readRents(market)).record),
    stop: () => market.stop(),
  };
}

/** Network fees of all transactions that the relay has signed, lamports. Unlike rent, they are not refunded. */
async function readFees(market: TestMarketplace): Promise<number> {
  const taken = "SELECT coalesce(sum(fee), 0) AS fees FROM transactions WHERE outcome IN ('landed', 'failed')";
  const [{ fees }] = await market.query('ledger', taken);
  return Number(fees);
}
