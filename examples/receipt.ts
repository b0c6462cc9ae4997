/**
 * Checks a receipt that somebody gave you, by itself and with a Solana node of your choice. It uses no other server.
 *
 *   RPC_URL=... npx tsx examples/receipt.ts RECEIPT_FILE
 */
import { readFileSync } from 'node:fs';
import { verifyReceipt } from '../app/sdk/receipt/verify.ts';

const [path] = process.argv.slice(2);
const { RPC_URL } = process.env;
if (!path || !RPC_URL) throw new Error('usage: RPC_URL=... receipt.ts RECEIPT_FILE');

const checks = await verifyReceipt(JSON.parse(readFileSync(path, 'utf8')), { rpcUrl: RPC_URL });
for (const { name, state, reason } of checks) console.log(name, state, reason ?? '');
if (checks.some(({ state }) => state === 'failed')) process.exitCode = 1;
