/**
 * The wallet library with signers that are no keypair: one whose key lives in another process and that signs slowly,
 * and ones that refuse. Payments of the first are checked to the base unit. A refusal moves nothing.
 */

import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { expect } from 'chai';
import nacl from 'tweetnacl';
import { forkSource } from '../../app/process/typescript.ts';
import { generateSigningKey } from '../../app/sdk/creator/creator.ts';
import { findCollateralVault, findTokenAccount } from '../../app/sdk/program/program.ts';
import { parseUuid, requestHash } from '../../app/sdk/receipt/receipt.ts';
import { createKey } from '../../app/sdk/wallet/apiKeys.ts';
import { disputeExecution, showDispute } from '../../app/sdk/wallet/disputes.ts';
import { openByWallet, refund, startByWallet } from '../../app/sdk/wallet/executions.ts';
import { type ListingDraftInput, parseListingDraft } from '../../app/sdk/wallet/listingDraft.ts';
import { createListing, untilShown, updateListing } from '../../app/sdk/wallet/listings.ts';
import { openMarketplace } from '../../app/sdk/wallet/marketplace.ts';
import { Refusal } from '../../app/sdk/wallet/refusal.ts';
import { changeSettings } from '../../app/sdk/wallet/settings.ts';
import { keypairSigner, type Signer } from '../../app/sdk/wallet/signer.ts';
import { goodAnswer, startMarketplace, type TestMarketplace } from '../harness/node/marketplace.ts';

const PRICE = 250_000n;
const DEPOSIT = 5_000_000n;
const USDC = 100_000_000n;
const SIGNING_MS = 30;

type AnyTransaction = Transaction | VersionedTransaction;

/** A wallet in a separate process. */
async function startSigner(): Promise<Signer & { signed: { transactions: number; messages: number }; stop(): void }> {
  const child = forkSource(join(import.meta.dirname, 'signerProcess.ts'), []);
  const [{ address }] = (await once(child, 'message')) as [{ address: string }];
  const publicKey = new PublicKey(address);
  const signed = { transactions: 0, messages: 0 };
  let asked = 0;
  async function sign(bytes: Uint8Array): Promise<Uint8Array> {
    await delay(SIGNING_MS);
    asked += 1;
    const id = asked;
    return new Promise((resolve) => {
      const hear = (answer: { id: number; signature: number[] }) => {
        if (answer.id !== id) return;
        child.off('message', hear);
        resolve(Uint8Array.from(answer.signature));
      };
      child.on('message', hear);
      child.send({ id, bytes: [...bytes] });
    });
  }
  return {
    publicKey,
    signed,
    async signTransaction<T extends AnyTransaction>(transaction: T): Promise<T> {
      if (!(transaction instanceof Transaction)) throw new Error('this wallet signs legacy transactions only');
      signed.transactions += 1;
      // A wallet that exchanges bytes returns another transaction object.
      const copy = Transaction.from(transaction.serialize({ requireAllSignatures: false }));
      copy.addSignature(publicKey, Buffer.from(await sign(copy.serializeMessage())));
      return copy as T;
    },
    async signMessage(message) {
      signed.messages += 1;
      return sign(message);
    },
    stop: () => void child.kill(),
  };
}

describe('a keypair as a signer', () => {
  const keypair = Keypair.generate();
  const { publicKey } = keypair;
  const signer = keypairSigner(keypair);
  const blockhash = Keypair.generate().publicKey.toBase58();
  const instruction = SystemProgram.transfer({ fromPubkey: publicKey, toPubkey: publicKey, lamports: 1 });
  const fits = (message: Uint8Array, signature: Uint8Array | null | undefined) =>
    nacl.sign.detached.verify(message, signature!, publicKey.toBytes());

  it('signs a legacy transaction, beside the signatures of others', async () => {
    const other = Keypair.generate();
    const given = SystemProgram.transfer({ fromPubkey: other.publicKey, toPubkey: publicKey, lamports: 1 });
    const transaction = new Transaction({ feePayer: publicKey, blockhash, lastValidBlockHeight: 1 });
    transaction.add(instruction, given).partialSign(other);
    const signed = await signer.signTransaction(transaction);
    expect(signed.verifySignatures()).to.equal(true);
    expect(fits(signed.serializeMessage(), signed.signature)).to.equal(true);
  });

  it('signs a versioned transaction', async () => {
    const message = new TransactionMessage({
      payerKey: publicKey,
      recentBlockhash: blockhash,
      instructions: [instruction],
    });
    const signed = await signer.signTransaction(new VersionedTransaction(message.compileToV0Message()));
    expect(fits(signed.message.serialize(), signed.signatures[0])).to.equal(true);
  });

  it('signs exactly the bytes of a message', async () => {
    const message = new TextEncoder().encode('crème');
    expect(fits(message, await signer.signMessage(message))).to.equal(true);
  });
});

describe('a wallet without a keypair', function () {
  this.timeout(600_000);
  let market: TestMarketplace;
  let creator: Awaited<ReturnType<typeof startSigner>>;
  let caller: Awaited<ReturnType<typeof startSigner>>;
  let agentId: PublicKey;
  const signingKey = generateSigningKey();

  const usdcOf = (owner: PublicKey) => market.amountOf(findTokenAccount(owner, market.usdcMint));
  const held = async () => ({
    caller: await usdcOf(caller.publicKey),
    creator: await usdcOf(creator.publicKey),
    lamports: await market.node.connection.getBalance(caller.publicKey),
  });
  const draft = (price = '0.25') => {
    const description: ListingDraftInput = {
      name: 'remote',
      tagline: 'Is listed by a wallet far away.',
      description: 'Answers.',
      display_name: 'Ada',
      tags: ['code'],
      price_usdc: price,
      timeout_seconds: 30,
      input_schema: { type: 'object', properties: {} },
      output_schema: { type: 'string' },
      endpoint: market.endpoint,
    };
    return parseListingDraft(description, 'remote');
  };
  const answerWith = (key: typeof signingKey) =>
    market.setBehaviour(({ execution_id, task }, _, reply) => reply(goodAnswer(key, execution_id, task)));
  const open = (wallet: Signer) =>
    openByWallet(market.marketplace, { wallet, agentId, requestHash: requestHash('sums') });

  before(async () => {
    market = await startMarketplace();
    [creator, caller] = await Promise.all([startSigner(), startSigner()]);
    for (const { publicKey } of [creator, caller]) {
      await market.node.fundSol(publicKey, 10e9);
      await market.mintTo(publicKey, USDC);
    }
    answerWith(signingKey);
  });
  after(async () => {
    creator?.stop();
    caller?.stop();
    await market?.stop();
  });

  it('lists an agent with one message for the session, one transaction and the deposit', async () => {
    const told: string[] = [];
    const onProgress = (line: string) => void told.push(line);
    const listed = await createListing(market.marketplace, { wallet: creator, signingKey, draft: draft(), onProgress });
    expect(creator.signed).to.deep.equal({ transactions: 1, messages: 1 });
    expect(told.at(-1)).to.equal('Listed remote.');
    agentId = new PublicKey(listed.agent_id);
    expect(listed.creator).to.equal(creator.publicKey.toBase58());
    expect(await usdcOf(creator.publicKey)).to.equal(USDC - DEPOSIT);
    expect(await market.amountOf(findCollateralVault(agentId))).to.equal(DEPOSIT);
    expect(await untilShown(market.marketplace, listed.agent_id)).to.equal(true);
  });

  it('opens an execution, starts it with a signed message, and disputes the result', async () => {
    const before = await held();
    const { execution_id } = await open(caller);
    expect((await held()).caller).to.equal(before.caller - PRICE);
    const executionId = parseUuid(execution_id)!;
    const answer = await startByWallet(market.marketplace, { wallet: caller, executionId, task: 'sums' });
    expect(answer).to.include({ status: 'completed', result: 'sums' });
    expect((await held()).creator).to.equal(before.creator + PRICE - PRICE / 100n);
    const dispute = { wallet: caller, executionId, evidenceHash: new Uint8Array(32).fill(7), evidenceUri: '' };
    const { signature } = await disputeExecution(market.marketplace, dispute);
    expect(signature).to.match(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/);
    const shown = await showDispute(market.marketplace, executionId);
    expect(shown).to.include({ outcome: 'open', caller: caller.publicKey.toBase58() });
    expect(caller.signed).to.deep.equal({ transactions: 2, messages: 1 });
  });

  it('pays no higher bond or collateral than it was shown when the settings rise before it signs', async () => {
    const { execution_id } = await open(caller);
    const executionId = parseUuid(execution_id)!;
    await startByWallet(market.marketplace, { wallet: caller, executionId, task: 'sums' });
    const { disputeBondLamports: maxBond, tiers, tierCount } = market.marketplace.config;
    await changeSettings(market.marketplace, keypairSigner(market.node.payer), {
      disputeBondLamports: maxBond + 1n,
      tiers: tiers.slice(0, tierCount).map(({ maxPrice, deposit }) => ({ maxPrice, deposit: deposit + 1n })),
    });
    // Like the page, which reads the chain again when the wallet signs.
    const raised = await openMarketplace({ baseUrl: market.relay.url, rpcUrl: market.node.rpcUrl });
    const before = await held();
    const refusalOf = (sent: Promise<unknown>) =>
      sent.then(
        () => 'it was sent',
        (error: Error) => error.message,
      );

    const dispute = { wallet: caller, executionId, evidenceHash: new Uint8Array(32).fill(7), evidenceUri: '' };
    expect(await refusalOf(disputeExecution(raised, { ...dispute, maxBond }))).to.include('(BondAboveMax).');
    const change = { wallet: creator, agentId, draft: draft('0.3'), maxDeposit: DEPOSIT };
    expect(await refusalOf(updateListing(raised, change))).to.include('(DepositAboveMax).');
    const second = generateSigningKey();
    answerWith(second);
    const listing = { wallet: creator, signingKey: second, draft: draft(), maxDeposit: DEPOSIT };
    expect(await refusalOf(createListing(raised, listing))).to.include('(DepositAboveMax).');
    expect(await held()).to.deep.equal(before);

    // A wallet that has seen the new settings can accept them.
    const { bond_lamports } = await disputeExecution(raised, { ...dispute, maxBond: maxBond + 1n });
    expect(bond_lamports).to.equal(String(maxBond + 1n));
    await createListing(raised, { ...listing, maxDeposit: DEPOSIT + 1n });
    expect(await usdcOf(creator.publicKey)).to.equal(before.creator - DEPOSIT - 1n);
    answerWith(signingKey);
  });

  it('opens an execution, and gets the price back after refund_at', async () => {
    const before = await held();
    const { execution_id } = await open(caller);
    const { refundAt } = (await market.record(execution_id))!;
    await market.node.timeTravel(Number(refundAt) + 1);
    const refunded = await refund(market.marketplace, { wallet: caller, executionId: parseUuid(execution_id)! });
    expect(refunded.amount_usdc).to.equal('0.25');
    expect((await held()).caller).to.equal(before.caller);
  });

  const refusing = (publicKey: PublicKey, reason: unknown): Signer => ({
    publicKey,
    signTransaction: () => Promise.reject(reason),
    signMessage: () => Promise.reject(reason),
  });
  /** Wallets that do not sign, and how the error explains it. */
  const cases: [string, () => Signer, RegExp][] = [
    [
      'refuses',
      () => refusing(caller.publicKey, new Error('User rejected the request.')),
      /: User rejected the request\.$/,
    ],
    ['throws no error at all', () => refusing(caller.publicKey, 'closed'), /: closed\.$/],
    [
      'returns what it was given',
      () => ({ ...refusing(caller.publicKey, ''), signTransaction: async (transaction) => transaction }),
      /Signature verification failed/,
    ],
    [
      'returns a signature that does not fit',
      () => ({
        ...refusing(caller.publicKey, ''),
        async signTransaction(transaction) {
          transaction.addSignature(caller.publicKey, Buffer.alloc(64, 1));
          return transaction;
        },
      }),
      /Signature verification failed/,
    ],
  ];
  for (const [what, wallet, reason] of cases) {
    it(`sends nothing and explains the refusal when the wallet ${what}`, async () => {
      const before = await held();
      const refusal = await open(wallet()).catch((error) => error);
      expect(refusal).to.be.instanceOf(Refusal).and.include({ code: 'not_signed' });
      expect(refusal.message)
        .to.include(`The wallet ${caller.publicKey} did not sign the transaction, so nothing was sent: `)
        .and.match(reason);
      expect(await held()).to.deep.equal(before);
    });
  }

  it('lists nothing and creates no key when the wallet refuses the session message', async () => {
    const before = await held();
    const wallet = refusing(creator.publicKey, new Error('User rejected the request.'));
    const refusal = await createListing(market.marketplace, { wallet, signingKey, draft: draft() }).catch((e) => e);
    expect(refusal).to.be.instanceOf(Refusal);
    expect(refusal.message).to.match(/did not sign the message, so nothing was sent: User rejected the request\.$/);
    const poor = refusing(caller.publicKey, new Error('User rejected the request.'));
    const granted: string[] = [];
    const key = { wallet: poor, name: 'none', limits: market.limits };
    const noKey = await createKey(market.marketplace, key, (apiKey) => granted.push(apiKey)).catch((error) => error);
    expect(noKey).to.be.instanceOf(Refusal).and.include({ code: 'not_signed' });
    expect(granted).to.deep.equal([]);
    expect(await held()).to.deep.equal(before);
  });

  it('refuses a message signature of the wrong length here, not at the service', async () => {
    const wallet = { ...refusing(creator.publicKey, ''), signMessage: async () => new Uint8Array(63) };
    const refusal = await createListing(market.marketplace, { wallet, signingKey, draft: draft() }).catch((e) => e);
    expect(refusal).to.be.instanceOf(Refusal);
    expect(refusal.message).to.match(/its signature has 63 bytes\.$/);
  });
});
