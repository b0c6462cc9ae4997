/**
 * package.test.ts runs this outside the repository, in Node and with browser globals only, and type-checks it. Each
 * entry point for browsers does something with a known outcome.
 */
import { createClient } from '@agent-marketplace/sdk/client';
import * as program from '@agent-marketplace/sdk/program';
import * as receipt from '@agent-marketplace/sdk/receipt';
import { keypairSigner } from '@agent-marketplace/sdk/wallet';
import { formatUsdc, Health, parseUsdc } from '@agent-marketplace/sdk/wire';
import { Keypair } from '@solana/web3.js';

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const filled = (length, byte) => new Uint8Array(length).fill(byte);
const SECRET_KEY = Uint8Array.of(
  ...filled(32, 0),
  ...[59, 106, 39, 188, 206, 182, 164, 45, 98, 163, 168, 208, 42, 111, 13, 115],
  ...[101, 50, 21, 119, 29, 226, 67, 166, 58, 192, 72, 161, 139, 89, 218, 41],
);

/** A valid receipt, signed here. */
function receiptOf(id) {
  const execution_id = receipt.formatUuid(id);
  const request_hash = hex(receipt.requestHash('the work', { pages: 2 }));
  const result_hash = receipt.hashResult('done');
  const program_id = program.PROGRAM_ID.toBase58();
  const message = receipt.executionMessage(program_id, execution_id, request_hash, result_hash);
  return {
    version: 1,
    program_id,
    genesis_hash: program_id,
    execution_id,
    record: program.findExecution(id).toBase58(),
    agent_id: program_id,
    caller: program_id,
    signing_key: Keypair.fromSecretKey(SECRET_KEY).publicKey.toBase58(),
    request_hash,
    task: 'the work',
    parameters: { pages: 2 },
    result: 'done',
    result_hash,
    signature: receipt.signResult(SECRET_KEY, result_hash),
    execution_signature: receipt.signMessage(SECRET_KEY, message),
    price_usdc: 0.25,
    fee_bps: 100,
    opened_at: '2026-11-21T09:24:10.000Z',
    settled_at: '2026-11-21T09:24:11.000Z',
    transactions: { open: null, settle: null },
    archive: null,
  };
}

/** A node of this chain without history, whose accounts belong to the program and are empty. */
const nodeOf = (genesis) => async (_, init) => {
  const account = { value: { owner: program.PROGRAM_ID.toBase58(), data: ['', 'base64'] } };
  const answers = { getGenesisHash: genesis, getAccountInfo: account, getSignaturesForAddress: [] };
  return new Response(JSON.stringify({ result: answers[JSON.parse(init.body).method] }));
};

/** The names of the checks of a receipt that ended in `state`. */
async function checked(id, genesis, state) {
  const checks = await receipt.verifyReceipt(receiptOf(id), { rpcUrl: 'http://node', fetch: nodeOf(genesis) });
  return checks.flatMap((check) => (check.state === state ? [check.name] : [])).join(' ');
}

/** Returns the same wherever it runs. */
export async function run() {
  const key = receipt.createApiKey('test');
  const executionId = receipt.deriveExecutionId(filled(32, 1), filled(16, 2));
  const signature = receipt.signMessage(SECRET_KEY, 'the work');
  const wallet = program.findCollateral(program.PROGRAM_ID);
  const open = program.openExecution({
    caller: wallet,
    payer: wallet,
    listing: wallet,
    source: wallet,
    usdcMint: wallet,
    nonce: filled(16, 2),
    executionId,
    maxPrice: 2n ** 64n - 1n,
    listingVersion: 9,
    timeoutSeconds: 60,
    requestHash: receipt.requestHash('the work', { pages: 2 }),
    openBefore: -2n,
    rentSponsor: wallet,
    gasLamports: 100_000,
  });
  const approve = program.approveSpender({ wallet, usdcMint: wallet, amount: 5n });
  const health = { status: 'ok', environment: 'test', release: '0.1.0', build: null, uptime_seconds: 1, problems: [] };
  const client = createClient({ baseUrl: 'http://x', fetch: async () => new Response(JSON.stringify(health)) });
  const admin = program.idl.events.find(({ name }) => name === 'AdminChanged');
  const event = program.decodeEvent(Uint8Array.of(...(admin?.discriminator ?? []), ...filled(112, 3)));
  const signer = keypairSigner(Keypair.fromSecretKey(SECRET_KEY));
  const word = new TextEncoder().encode('the work');
  return JSON.stringify({
    key: receipt.parseApiKey(key)?.environment,
    id: receipt.formatUuid(executionId),
    signature,
    verified: receipt.verifyMessage(SECRET_KEY.subarray(32), 'the work', signature),
    refused: receipt.verifyMessage(SECRET_KEY.subarray(32), 'other work', signature),
    record: program.findExecution(executionId).toBase58(),
    tokens: program.findTokenAccount(wallet, wallet).toBase58(),
    open: hex(open.data),
    approve: hex(approve.data),
    event: event.name,
    health: Health.parse(await client.request('getHealth')).status,
    amount: formatUsdc(parseUsdc(1.5)),
    checked: await checked(executionId, program.PROGRAM_ID.toBase58(), 'passed'),
    lying: await checked(executionId, 'another', 'failed'),
    signed: receipt.formatSignature(await signer.signMessage(word)) === signature,
  });
}
