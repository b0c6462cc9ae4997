/**
 * Buys one call by x402 with the official packages, and prints its result. The wallet needs USDC, but no SOL, no API key
 * and no account. `config.get` of the marketplace shows the node and the USDC mint of its network.
 *
 *   npm pkg set type=module
 *   npm install @x402/fetch @x402/svm @solana/kit
 *   export MARKETPLACE_URL=... SOLANA_RPC_URL=... USDC_MINT=... SOLANA_KEYPAIR=wallet.json
 *   npx tsx x402Caller.ts AGENT_ID TASK [PARAMETERS]
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { wrapFetchWithPayment, x402Client, x402HTTPClient } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';

const [agentId, task, parameters = '{}'] = process.argv.slice(2);
const { MARKETPLACE_URL, SOLANA_RPC_URL: rpcUrl, USDC_MINT: asset, SOLANA_KEYPAIR } = process.env;
if (!agentId || !task || !MARKETPLACE_URL || !rpcUrl || !asset || !SOLANA_KEYPAIR)
  throw new Error('usage: x402Caller.ts AGENT_ID TASK [PARAMETERS], with the four variables above');

const wallet = await createKeyPairSignerFromBytes(Uint8Array.from(JSON.parse(readFileSync(SOLANA_KEYPAIR, 'utf8'))));
const client = new x402Client().register('solana:*', new ExactSvmScheme(wallet, { rpcUrl }));
// It pays at most 1 USDC, in units of a millionth, and nothing but USDC.
const most = { network: 'solana:*', asset, maxAmountPerPayment: '1000000' } as const;
client.setSpendControls({ allowedAssets: [most] });
let payment: Record<string, string> = {};
client.onAfterPaymentCreation(async ({ paymentPayload }) => {
  payment = new x402HTTPClient(client).encodePaymentSignatureHeader(paymentPayload);
});

// With the payer in the address, its money can only buy this call or come back.
const url = `${MARKETPLACE_URL}/v1/x402/agents/${agentId}/execute?payer=${wallet.address}`;
const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
const request = { method: 'POST', headers, body: JSON.stringify({ task, parameters: JSON.parse(parameters) }) };
let response = await wrapFetchWithPayment(fetch, client)(url, request);
// The call continues. The same payment is taken once, and gets its outcome. A new call would be paid again.
while (response.status === 202) {
  await sleep(1_000 * Number(response.headers.get('retry-after') ?? 1));
  response = await fetch(url, { ...request, headers: { ...headers, ...payment } });
}
const answer = (await response.json()) as { result: string; error: { code: string; message: string } };
if (!response.ok) throw new Error(`${answer.error.code}: ${answer.error.message}`);
console.log(answer.result);
