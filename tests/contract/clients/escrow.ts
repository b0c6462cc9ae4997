/** Opens an execution, refunds it as the relay and reads its record, with the client that Codama generates. */
import {
  type Address,
  appendTransactionMessageInstruction,
  assertIsTransactionWithBlockhashLifetime,
  createKeyPairSignerFromBytes,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  createTransactionMessage,
  getSignatureFromTransaction,
  type Instruction,
  pipe,
  sendAndConfirmTransactionFactory,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
  type TransactionSigner,
} from '@solana/kit';
import * as marketplace from './generated/index.js';

interface Order {
  rpcUrl: string;
  wsUrl: string;
  callerKey: number[];
  relayKey: number[];
  listing: Address;
  collateral: Address;
  record: Address;
  usdcMint: Address;
  /** The caller's USDC account. */
  funds: Address;
  args: { nonce: number[]; executionId: number[]; maxPrice: number; openBefore: number };
}

const order = JSON.parse(process.argv[2] ?? '') as Order;
const rpc = createSolanaRpc(order.rpcUrl);
const confirm = sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions: createSolanaRpcSubscriptions(order.wsUrl) });
const caller = await createKeyPairSignerFromBytes(new Uint8Array(order.callerKey));
const relay = await createKeyPairSignerFromBytes(new Uint8Array(order.relayKey));

async function send(payer: TransactionSigner, instruction: Instruction): Promise<string> {
  const { value: blockhash } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send();
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayerSigner(payer, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(blockhash, paid),
    (timed) => appendTransactionMessageInstruction(instruction, timed),
  );
  const transaction = await signTransactionMessageWithSigners(message);
  assertIsTransactionWithBlockhashLifetime(transaction);
  await confirm(transaction, { commitment: 'confirmed' });
  return getSignatureFromTransaction(transaction);
}

const { listing, collateral, record, usdcMint, funds, args } = order;
const open = await marketplace.getOpenExecutionInstructionAsync({
  caller,
  payer: caller,
  rentSponsor: caller.address,
  listing,
  record,
  source: funds,
  usdcMint,
  args: {
    nonce: new Uint8Array(args.nonce),
    executionId: new Uint8Array(args.executionId),
    maxPrice: args.maxPrice,
    listingVersion: 1,
    timeoutSeconds: 30,
    requestHash: new Uint8Array(32).fill(7),
    openBefore: args.openBefore,
    gasLamports: 0,
  },
});
await send(caller, open);
const opened = await marketplace.fetchExecutionRecord(rpc, record, { commitment: 'confirmed' });

const refund = await marketplace.getRefundExecutionInstructionAsync({
  authority: relay,
  record,
  collateral,
  destination: funds,
  grant: caller.address,
  spender: caller.address,
  rentSponsor: caller.address,
  args: { reason: marketplace.RefundReason.Unserved, gasLamports: 0 },
});
const signature = await send(relay, refund);
const { data: refunded } = await marketplace.fetchExecutionRecord(rpc, record, { commitment: 'confirmed' });

// A leaf of an archive has the same fields.
const leaf = marketplace.getArchivedExecutionEncoder().encode({ record, execution: refunded });
const { execution } = marketplace.getArchivedExecutionDecoder().decode(leaf);

console.log(
  JSON.stringify({
    statuses: [opened.data.status, refunded.status, execution.status].map((it) => marketplace.ExecutionStatus[it]),
    price: Number(execution.price),
    caller: execution.caller,
    signature,
  }),
);
