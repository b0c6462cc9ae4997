/**
 * A marketplace on a real node without a relay. The test signs for everybody, so every transaction that the indexer can
 * meet is one function call.
 */
import { randomBytes } from 'node:crypto';
import {
  type Connection,
  Keypair,
  PublicKey,
  type Signer,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js';
import nacl from 'tweetnacl';
import { sendAndConfirm } from '../../app/local/network.ts';
import * as program from '../../app/sdk/program/program.ts';
import {
  createNonce,
  deriveExecutionId,
  hashResult,
  nonceHalfHour,
  parseResultHash,
  parseSignature,
  requestHash,
  signResult,
} from '../../app/sdk/receipt/receipt.ts';
import { layGround } from '../harness/node/ground.ts';
import { startNode } from '../harness/node/node.ts';

const USDC = 1_000_000n;
export const PRICE = 250_000n;
/** Lamports: the gas that each open reserves, and the initial gas balance of the caller. */
export const GAS = 12_345;
const GAS_BALANCE = 1_000_000_000n;
/** No key: the wallet opens the execution itself. */
export const NO_KEY = new Uint8Array(16);

/** The fields of an execution that its instructions need. */
export interface Execution {
  executionId: Uint8Array;
  keyId: Uint8Array;
  rentSponsor: PublicKey;
}

export interface OpenedExecution extends Execution {
  /** Signature of the transaction that opened it. */
  signature: string;
}

export type Market = Awaited<ReturnType<typeof startMarket>>;

export async function startMarket() {
  const node = await startNode();
  const { connection, payer } = node;
  const [relay, creator, caller] = [Keypair.generate(), Keypair.generate(), Keypair.generate()];
  const { usdcMint } = await layGround(node, relay, [creator, caller]);
  const payout = program.findTokenAccount(creator.publicKey, usdcMint);
  const source = program.findTokenAccount(caller.publicKey, usdcMint);
  let signingKey = nacl.sign.keyPair();
  const listingId = randomBytes(16);
  const listing = program.findListing(creator.publicKey, listingId);
  const terms: program.ListingTerms = {
    price: PRICE,
    timeoutSeconds: 60,
    minTimeoutSeconds: 1,
    tagMask: 0b11,
    metadataHash: randomBytes(32),
    metadataUri: 'https://example.com/agent.json',
  };
  let version = 1;

  const send = (instructions: TransactionInstruction[], ...signers: Signer[]) =>
    sendAndConfirm(connection, instructions, signers);

  /** The open instruction and its terms. The signer lends the rent unless the caller's gas balance does. */
  const openInstruction = async (keyId: Uint8Array, lender?: 'gasBalance') => {
    const nonce = createNonce(nonceHalfHour(BigInt(await node.now())));
    const executionId = deriveExecutionId(caller.publicKey.toBytes(), nonce);
    const signer = keyId === NO_KEY ? caller : relay;
    const rentSponsor = lender ? program.findSpender(caller.publicKey) : signer.publicKey;
    const common = {
      payer: signer.publicKey,
      rentSponsor,
      gasLamports: GAS,
      listing,
      usdcMint,
      nonce,
      executionId,
      maxPrice: 100n * USDC,
      listingVersion: version,
      timeoutSeconds: 30,
      requestHash: requestHash('a task'),
      openBefore: BigInt(await node.now()) + 600n,
    };
    const instruction =
      keyId === NO_KEY
        ? program.openExecution({ ...common, caller: caller.publicKey, source })
        : program.openExecutionWithGrant({
            ...common,
            relayAuthority: relay.publicKey,
            wallet: caller.publicKey,
            keyId,
            feeLamports: 0,
            spenderLendsEscrow: false,
          });
    const execution: Execution = { executionId, keyId, rentSponsor };
    return { execution, instruction, signer, terms: common };
  };

  /** The creator's proof that it holds the current signing key. */
  const proveKey = () => nacl.sign.detached(program.registerMessage(listing), signingKey.secretKey);

  const limits = async (): Promise<program.GrantLimits> => ({
    perExecutionMax: 2n ** 64n - 1n,
    periodMax: 2n ** 64n - 1n,
    totalMax: 2n ** 64n - 1n,
    periodSeconds: 86_400,
    expiresAt: BigInt(await node.now()) + 86_400n,
    maxGasLamports: GAS,
  });

  const wallet = caller.publicKey;
  await send([program.depositGas({ from: wallet, wallet, lamports: GAS_BALANCE })], caller);

  const market = {
    node,
    admin: payer,
    relay,
    creator,
    caller,
    usdcMint,
    listing,
    payout,
    /** The caller's USDC account. */
    source,
    send,
    openInstruction,
    limits,

    listInstruction: () =>
      program.listAgent({
        creator: creator.publicKey,
        payer: creator.publicKey,
        listingId,
        signingKey: new PublicKey(signingKey.publicKey),
        possession: proveKey(),
        source: payout,
        payout,
        usdcMint,
        maxDeposit: 1_000n * USDC,
        terms,
      }),

    list: () => send([market.listInstruction()], creator),

    /** Replaces the signing key. All later settles use the new key. */
    rotateInstruction() {
      signingKey = nacl.sign.keyPair();
      const next = new PublicKey(signingKey.publicKey);
      const people = { creator: creator.publicKey, payer: creator.publicKey };
      const instruction = program.rotateSigningKey({ ...people, listing, signingKey: next, possession: proveKey() });
      return { next, instruction };
    },

    updateInstruction(price: bigint) {
      version += 1;
      const change = {
        creator: creator.publicKey,
        listing,
        payout,
        maxDeposit: 1_000n * USDC,
        terms: { ...terms, price },
      };
      return program.updateListing(change);
    },

    statusInstruction: (status: program.ListingStatus) =>
      program.setListingStatus({ creator: creator.publicKey, listing, status }),

    verify(verified: boolean) {
      const people = { admin: payer.publicKey, payer: payer.publicKey, creator: creator.publicKey };
      return send([program.setCreatorVerified({ ...people, verified })], payer);
    },

    async grantInstructions(keyId: Uint8Array) {
      const approve = program.approveSpender({ wallet, usdcMint, amount: 1_000n * USDC });
      return [program.createGrant({ wallet, payer: wallet, keyId, limits: await limits() }), approve];
    },

    async grant(): Promise<Uint8Array> {
      const keyId = randomBytes(16);
      await send(await market.grantInstructions(keyId), caller);
      return keyId;
    },

    revoke: (keyId: Uint8Array) =>
      send([program.revokeGrant({ authority: caller.publicKey, wallet: caller.publicKey, keyId })], caller),

    /** Opens by the wallet itself, or through the grant of a key. */
    async open(keyId: Uint8Array = NO_KEY): Promise<OpenedExecution> {
      const { execution, instruction, signer } = await openInstruction(keyId);
      return { ...execution, signature: await send([instruction], signer) };
    },

    settleInstruction({ executionId, rentSponsor }: Execution, executionTimeMs: number, to = payout) {
      const resultHash = hashResult(`result of ${Buffer.from(executionId).toString('hex')}`);
      const signed = signResult(signingKey.secretKey, resultHash);
      return program.settleExecution({
        relayAuthority: relay.publicKey,
        executionId,
        caller: caller.publicKey,
        listing,
        payout: to,
        rentSponsor,
        resultHash: parseResultHash(resultHash),
        signature: parseSignature(signed)!,
        executionTimeMs,
        gasLamports: GAS,
      });
    },

    settle: (opened: OpenedExecution, executionTimeMs = 40) =>
      send([market.settleInstruction(opened, executionTimeMs)], relay),

    refundInstruction: (
      { executionId, keyId, rentSponsor }: Execution,
      reason: program.RefundReason,
      authority: PublicKey = relay.publicKey,
    ) =>
      program.refundExecution({
        authority,
        executionId,
        listing,
        caller: caller.publicKey,
        keyId,
        destination: source,
        rentSponsor,
        reason,
        gasLamports: GAS,
      }),

    refund: (opened: OpenedExecution, reason: program.RefundReason) =>
      send([market.refundInstruction(opened, reason)], relay),

    /** Sends a transaction that fails on chain, after its fee was paid; returns its signature. */
    fail: () => sendFailing(connection, [market.statusInstruction('delisted')], creator),

    /** Runs executions in parallel: every third is refunded, the others settle, half of them with a grant. */
    async run(count: number, keyId: Uint8Array): Promise<void> {
      await Promise.all(
        Array.from({ length: count }, async (_, index) => {
          const opened = await market.open(index % 2 === 0 ? keyId : NO_KEY);
          if (index % 3 === 0) await market.refund(opened, program.REFUND_REASONS[index % 5]!);
          else await market.settle(opened, 10 + index);
        }),
      );
    },
  };
  return market;
}

async function sendFailing(
  connection: Connection,
  instructions: TransactionInstruction[],
  payer: Keypair,
): Promise<string> {
  const latest = await connection.getLatestBlockhash('confirmed');
  const transaction = new Transaction({ feePayer: payer.publicKey, ...latest }).add(...instructions);
  transaction.sign(payer);
  const signature = await connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true });
  for (;;) {
    const { value } = await connection.getSignatureStatus(signature);
    if (value?.confirmationStatus === 'finalized') {
      if (!value.err) throw new Error('the transaction was meant to fail');
      return signature;
    }
  }
}
