/**
 * The wallet library with signers that are no keypair: one that exchanges bytes and signs slowly, and ones that refuse.
 * Payments of the first are checked to the base unit. A refusal moves nothing. Wallets that a person approves longer than
 * a transaction is valid are asked once more, and nothing is charged twice: the payment is gas there, because the
 * program would accept it twice.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Keypair, PublicKey, Transaction, type VersionedTransaction } from '@solana/web3.js';
import { expect } from 'chai';
import nacl from 'tweetnacl';
import { generateSigningKey } from '../../app/sdk/creator/creator.ts';
import { findCollateralVault, findTokenAccount } from '../../app/sdk/program/program.ts';
import { parseUuid, requestHash } from '../../app/sdk/receipt/receipt.ts';
import { createKey } from '../../app/sdk/wallet/apiKeys.ts';
import { disputeExecution, showDispute } from '../../app/sdk/wallet/disputes.ts';
import { openByWallet, showExecution, startByWallet } from '../../app/sdk/wallet/executions.ts';
import { addGas, readGas } from '../../app/sdk/wallet/gas.ts';
import { createListing, untilShown, updateListing } from '../../app/sdk/wallet/listings.ts';
import { type MarketplaceChain, openChain, openMarketplace } from '../../app/sdk/wallet/marketplace.ts';
import { Refusal } from '../../app/sdk/wallet/refusal.ts';
import { changeSettings } from '../../app/sdk/wallet/settings.ts';
import { keypairSigner, type Signer } from '../../app/sdk/wallet/signer.ts';
import { goodAnswer, type TestMarketplace } from '../harness/node/marketplace.ts';
import { type RpcProxy, startRpcProxy } from '../harness/node/rpcProxy.ts';

const PRICE = 250_000n;
const DEPOSIT = 5_000_000n;
const USDC = 100_000_000n;
const SIGNING_MS = 30;

const GAS = 1_000_000n;
const TOOK_LONGER = 'The approval took longer than the 30 s for which a transaction is valid.';
/** A node's answer to a transaction whose blockhash it does not know. */
const NO_BLOCKHASH = { code: -32002, message: 'Transaction simulation failed: Blockhash not found', data: {} };

type AnyTransaction = Transaction | VersionedTransaction;

/** A wallet that exchanges bytes, and signs after a moment. */
function createSigner(): Signer & { signed: { transactions: number; messages: number } } {
  const { publicKey, secretKey } = Keypair.generate();
  const signed = { transactions: 0, messages: 0 };
  async function sign(bytes: Uint8Array): Promise<Uint8Array> {
    await delay(SIGNING_MS);
    return nacl.sign.detached(bytes, secretKey);
  }
  return {
    publicKey,
    signed,
    async signTransaction<T extends AnyTransaction>(transaction: T): Promise<T> {
      if (!(transaction instanceof Transaction)) throw new Error('this wallet signs legacy transactions only');
      signed.transactions += 1;
      // It returns another transaction object.
      const copy = Transaction.from(transaction.serialize({ requireAllSignatures: false }));
      copy.addSignature(publicKey, Buffer.from(await sign(copy.serializeMessage())));
      return copy as T;
    },
    async signMessage(message) {
      signed.messages += 1;
      return sign(message);
    },
  };
}

/** Declares the tests. */
export function signsElsewhere(market: TestMarketplace): void {
  describe('a wallet', () => {
    const [creator, caller] = [createSigner(), createSigner()];
    let agentId: PublicKey;
    const signingKey = generateSigningKey();

    const usdcOf = (owner: PublicKey) => market.amountOf(findTokenAccount(owner, market.usdcMint));
    const held = async () => ({
      caller: await usdcOf(caller.publicKey),
      creator: await usdcOf(creator.publicKey),
      lamports: await market.node.connection.getBalance(caller.publicKey),
    });
    const draft = (price?: string) => market.draftOf('remote', market.endpoint, price);
    const answerWith = (key: typeof signingKey) =>
      market.setBehaviour(({ execution_id, task }, _, reply) => reply(goodAnswer(key, execution_id, task)));
    const open = (wallet: Signer) =>
      openByWallet(market.marketplace, { wallet, agentId, requestHash: requestHash('sums') });

    before(async () => {
      for (const { publicKey } of [creator, caller]) {
        await market.node.fundSol(publicKey, 10e9);
        await market.mintTo(publicKey, USDC);
      }
      answerWith(signingKey);
    });
    after(() => market.setBehaviour(null));

    it('lists an agent with one message for the session, one transaction and the deposit', async () => {
      const told: string[] = [];
      const onProgress = (line: string) => void told.push(line);
      const listed = await createListing(market.marketplace, {
        wallet: creator,
        signingKey,
        draft: draft(),
        onProgress,
      });
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

    describe('that a person approves', () => {
      let proxy: RpcProxy;
      let chain: MarketplaceChain;
      let keypair: Keypair;

      before(async () => {
        proxy = await startRpcProxy(market.node);
        chain = await openChain({ baseUrl: market.relay.url, rpcUrl: proxy.rpcUrl });
        keypair = market.callers[0]!.wallet;
      });
      afterEach(() => proxy.onCall(null));
      after(() => proxy?.close());

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
        const options = {
          wallet: slow.wallet,
          agentId: new PublicKey(market.agentId),
          requestHash: requestHash('slow'),
        };
        const { execution_id } = await openByWallet(chain, options);
        expect(await showExecution(chain, parseUuid(execution_id)!)).to.include({
          status: 'open',
          escrow_usdc: '0.25',
        });
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
  });
}
