/**
 * Attacks of strangers and payers on the x402 API, and their cost. No money goes to a wrong place, and the fee payer
 * signs only payments of its own quotes.
 */
import { createApproveInstruction, createCloseAccountInstruction, createTransferInstruction } from '@solana/spl-token';
import {
  type AccountMeta,
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  TransactionInstruction as Instruction,
  Keypair,
  PublicKey,
  SYSVAR_CLOCK_PUBKEY,
  SystemProgram,
  type TransactionInstruction,
} from '@solana/web3.js';
import { expect } from 'chai';
import { quoteOf, secretOf, toRequirements } from '../../../app/relay/calls/x402/quote.ts';
import { generateSigningKey } from '../../../app/sdk/creator/creator.ts';
import {
  decodeAccount,
  findExecution,
  findTokenAccount,
  findTreasury,
  refundDeposit,
} from '../../../app/sdk/program/program.ts';
import { deriveExecutionId } from '../../../app/sdk/receipt/receipt.ts';
import { createListing, updateListing } from '../../../app/sdk/wallet/listings.ts';
import { openMarketplace } from '../../../app/sdk/wallet/marketplace.ts';
import { sendTransaction } from '../../../app/sdk/wallet/send.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { until } from '../../harness/edge/until.ts';
import { createBuyers, PAYMENT_LAMPORTS, TOTAL } from '../../harness/node/buyers.ts';
import { type Answer, goodAnswer, PRICE, useMarketplace } from '../../harness/node/marketplace.ts';
import { stopAt } from '../../harness/node/standstill.ts';
import {
  type Accepted,
  decodeHeader,
  makePayment,
  type PaymentChange,
  paymentHeader,
} from '../../harness/node/x402.ts';

const LIGHTHOUSE = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95';

describe('attacks on the x402 API', function () {
  this.timeout(300_000);
  const feePayer = Keypair.generate();
  const wallet = Keypair.generate();

  const market = useMarketplace({ feePayer, slotTimeMs: 200, environment: { STANDSTILL: '1' } });
  before(() => market.mintTo(wallet.publicKey, 100_000_000n));

  const { ask, quote, buy, rich, usdcOf, lamports, isGone, ownOpen, prepareFor } = createBuyers(market, wallet);
  const reasonOf = ({ status, body }: Answer) =>
    status === 402 ? body.error.details.reason : `${status} ${body.error?.code}`;
  /** Buys a call. While it stands still at this point, `then` happens; `later` once it goes on. Returns its answer. */
  async function interrupt(
    point: string,
    payer: Keypair,
    then: (accepted: Accepted) => Promise<unknown>,
    later?: () => Promise<unknown>,
  ) {
    const task = stopAt(point, payer.publicKey.toBase58());
    const accepted = await quote({ task });
    const answering = buy({ task }, { accepted, by: payer });
    await market.relay.untilStanding(task, answering);
    await then(accepted);
    market.relay.release(task);
    await later?.();
    return { accepted, answer: await answering };
  }
  /** The relay signs with a blockhash for seconds. After `outlive` it has expired. */
  const untilCurrent = () =>
    until('the relay has a newer blockhash', async () => (await buy({ task: 'current' })).status === 200);
  /** Moves a payer's money to another wallet. */
  const away = async (payer: Keypair) => {
    await market.node.fundSol(payer.publicKey, 1e9);
    const { connection } = market.node;
    const source = findTokenAccount(payer.publicKey, market.usdcMint);
    const to = market.callers[1]!.usdc;
    await sendTransaction(
      connection,
      [createTransferInstruction(source, to, payer.publicKey, TOTAL)],
      keypairSigner(payer),
    );
  };
  /** The relay's refund of a deposit to its payer. */
  function returnOf({ payTo }: Accepted, payer: Keypair) {
    const { authority, usdcMint } = market;
    const to = { destination: findTokenAccount(payer.publicKey, usdcMint), usdcMint };
    const relayKey = { authority: authority.publicKey, rentSponsor: authority.publicKey };
    return refundDeposit({ ...relayKey, ...to, deposit: new PublicKey(payTo) });
  }
  async function readDeposit(address: string) {
    const account = await market.node.connection.getAccountInfo(new PublicKey(address), 'confirmed');
    return decodeAccount('Deposit', account!.data);
  }

  describe('a payment that is not a plain transfer of the quoted amount', () => {
    const stranger = Keypair.generate();
    const first = (change: (usual: TransactionInstruction[]) => TransactionInstruction[]): PaymentChange => ({
      instructions: change,
    });
    /** Names a signer in the memo. */
    const withSigner = ({ publicKey: pubkey }: Keypair) =>
      first(([limit, price, transfer, memo]) => {
        const keys = [{ pubkey, isSigner: true, isWritable: pubkey.equals(feePayer.publicKey) }];
        return [limit!, price!, transfer!, new Instruction({ ...memo!, keys })];
      });
    const reading = (programId: PublicKey, ...accounts: PublicKey[]) => {
      const keys = accounts.map((pubkey) => ({ pubkey, isSigner: false, isWritable: false }));
      return new Instruction({ programId, keys, data: Buffer.from([15]) });
    };
    const CHANGES: Record<string, () => PaymentChange & { by?: Keypair; says?: string }> = {
      'a base unit less': () => ({ amount: TOTAL - 1n }),
      'a base unit more': () => ({ amount: TOTAL + 1n }),
      'other decimals': () => ({ decimals: 9 }),
      'another destination': () => ({ destination: findTokenAccount(stranger.publicKey, market.usdcMint) }),
      'another source': () => ({ source: findTokenAccount(market.creator.publicKey, market.usdcMint) }),
      'another mint': () => ({ mint: Keypair.generate().publicKey }),
      'another fee payer': () => ({ feePayer: stranger.publicKey }),
      'a fee above the limit': () => ({ unitPrice: 5_000_000n }),
      'a signature of somebody else': () => ({
        bytes: (bytes) => {
          bytes[70] = bytes[70]! ^ 1;
          return bytes;
        },
      }),
      'no signature of the payer': () => ({ signer: stranger }),
      'a byte after its end': () => ({ bytes: (bytes) => Buffer.concat([bytes, Buffer.of(0)]) }),
      'half of its bytes': () => ({ bytes: (bytes) => bytes.subarray(0, 200) }),
      'more bytes than a packet': () => ({ bytes: () => Buffer.alloc(1_300, 1) }),
      'the legacy format': () => ({ version: 'legacy' }),
      'no compute-unit limit': () => first((usual) => usual.slice(1)),
      'no compute-unit price': () => first(([limit, , ...rest]) => [limit!, ...rest]),
      'two compute-unit limits': () => first((usual) => [...usual, usual[0]!]),
      'a limit of loaded accounts': () =>
        first((usual) => [
          new Instruction({ programId: ComputeBudgetProgram.programId, keys: [], data: Buffer.from([4, 1, 0, 0, 0]) }),
          ...usual,
        ]),
      'a plain Transfer': () =>
        first(([limit, price, transfer, memo]) => {
          const [source, , destination, owner] = transfer!.keys;
          const plain = createTransferInstruction(source!.pubkey, destination!.pubkey, owner!.pubkey, TOTAL);
          return [limit!, price!, plain, memo!];
        }),
      'a second transfer': () => first((usual) => [...usual, usual[2]!]),
      'an approval': () =>
        first((usual) => {
          const [source, , , owner] = usual[2]!.keys;
          return [...usual, createApproveInstruction(source!.pubkey, stranger.publicKey, owner!.pubkey, TOTAL)];
        }),
      'five memos': () => first((usual) => [...usual, ...Array(4).fill(usual[3])]),
      'nine assertions': () =>
        first((usual) => [...Array(9).fill(reading(new PublicKey(LIGHTHOUSE), wallet.publicKey)), ...usual]),
      'a transfer of the fee payer’s SOL': () =>
        first((usual) => [
          ...usual,
          SystemProgram.transfer({ fromPubkey: feePayer.publicKey, toPubkey: stranger.publicKey, lamports: 1 }),
        ]),
      'the fee payer in a memo': () => withSigner(feePayer),
      'an assertion about another account': () =>
        first((usual) => [...usual, reading(new PublicKey(LIGHTHOUSE), SYSVAR_CLOCK_PUBKEY)]),
      'an assertion about no account, but the clock': () =>
        first((usual) => [...usual, reading(new PublicKey(LIGHTHOUSE))]),
      'a vault or source that it cannot write': () => ({
        message: ({ header }) => {
          header.numReadonlyUnsignedAccounts += 1;
        },
      }),
      'a third signer': () => withSigner(stranger),
      'an address lookup table': () => {
        const addresses = [market.usdcMint];
        const state = {
          deactivationSlot: 2n ** 64n - 1n,
          lastExtendedSlot: 0,
          lastExtendedSlotStartIndex: 0,
          addresses,
        };
        return {
          lookupTables: [new AddressLookupTableAccount({ key: Keypair.generate().publicKey, state })],
          says: 'it uses address lookup tables',
        };
      },
      'an account named twice': () => ({
        message: ({ staticAccountKeys, header }) => {
          staticAccountKeys.push(staticAccountKeys.at(-1)!);
          header.numReadonlyUnsignedAccounts += 1;
        },
        says: 'it lists an account twice',
      }),
      'the relay’s own key as payer': () => ({
        by: market.authority,
        says: 'its payer must not be a key of this service',
      }),
      'the fee payer as payer': () => ({ by: feePayer, says: 'it must have two signers' }),
      ...Object.fromEntries(
        [0, 1].map((at) => [
          `an account of the compute-budget instruction ${at + 1}`,
          () => ({
            ...first((usual) => {
              usual[at]!.keys.push({ pubkey: stranger.publicKey, isSigner: false, isWritable: false });
              return usual;
            }),
            says: 'the compute-budget instructions must have no accounts',
          }),
        ]),
      ),
      'a fifth account of the transfer': () =>
        first((usual) => {
          usual[2]!.keys.push({ pubkey: stranger.publicKey, isSigner: false, isWritable: false });
          return usual;
        }),
    };

    it('is refused with a new quote, and neither key signs or pays anything', async () => {
      const body = { task: 'changed' };
      const accepted = await quote(body);
      const before = await Promise.all([lamports(feePayer), lamports(market.authority), usdcOf(wallet)]);
      const found: Record<string, string> = {};
      for (const [name, change] of Object.entries(CHANGES)) {
        const { says = '', ...changed } = change();
        const answer = await buy(body, { accepted, ...changed });
        found[name] = reasonOf(answer);
        expect(answer.body.error.message, name).to.include(says);
        expect(answer.headers.get('payment-required'), name).to.be.a('string');
      }
      const all = Object.fromEntries(Object.keys(CHANGES).map((name) => [name, 'payment_invalid']));
      expect(found).to.deep.equal(all);
      expect(await Promise.all([lamports(feePayer), lamports(market.authority), usdcOf(wallet)])).to.deep.equal(before);
      // A correct payment of the same quote is accepted.
      expect((await buy(body, { accepted })).status).to.equal(200);
    });

    it('accepts it in any order, if its other instructions are memos of either program, or assertions of Lighthouse', async () => {
      const of = (program: string, data: Buffer, keys: AccountMeta[] = []) =>
        new Instruction({ programId: new PublicKey(program), keys, data });
      const memo = of('Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo', Buffer.from('of the first memo program'));
      const own = { pubkey: wallet.publicKey, isSigner: false, isWritable: false };
      const lighthouse = of(LIGHTHOUSE, Buffer.from([5]), [own]);
      const withMemo = first((usual) => [...usual.slice(0, 3), memo]);
      const sold = await buy({ task: 'memos' }, withMemo);
      expect(sold.status, sold.text).to.equal(200);
      const guards = (count: number) => Array<TransactionInstruction>(count).fill(lighthouse);
      const LAYOUTS: [name: string, change: (usual: TransactionInstruction[]) => TransactionInstruction[]][] = [
        ['guards at the end', (usual) => [...usual, ...guards(2)]],
        [
          'guards around the transfer, as of Phantom',
          ([limit, price, transfer, memo]) => [limit!, price!, ...guards(3), transfer!, memo!, lighthouse],
        ],
        ['guards first', (usual) => [...guards(8), ...usual]],
        ['the budget last', ([limit, price, transfer, memo]) => [lighthouse, memo!, transfer!, price!, limit!]],
        [
          'a memo between the budget',
          ([limit, price, transfer, memo]) => [price!, memo!, limit!, transfer!, lighthouse],
        ],
      ];
      for (const [name, change] of LAYOUTS) {
        const accepted = await quote({ task: name });
        const failed = await buy({ task: name }, { accepted, ...first(change) });
        // This node does not have Lighthouse: the payment passes all checks, but would fail.
        expect([reasonOf(failed), failed.body.error.message], name).to.deep.equal([
          'payment_failed',
          'The payment would fail on-chain. Nothing was paid.',
        ]);
        // The same order without Lighthouse is sold.
        const plain = first((usual) => change(usual).filter((one) => one !== lighthouse));
        expect((await buy({ task: name }, { accepted, ...plain })).status, name).to.equal(200);
      }
    });
  });

  it('accepts no quote that it did not make, and no malformed header', async () => {
    const body = { task: 'forged' };
    const accepted = await quote(body);
    const forge = (change: object) => ({ ...accepted, ...change });
    const extra = (change: object) => forge({ extra: { ...accepted.extra, ...change } });
    const other = await quote({ task: 'another' });
    const forged: Record<string, Accepted> = {
      'a lower amount': forge({ amount: '1' }),
      'another deposit': forge({ payTo: Keypair.generate().publicKey.toBase58() }),
      'a lower price': extra({ price: '1' }),
      'no service fee': extra({ service_fee: '0' }),
      'another payer': extra({ payer: wallet.publicKey.toBase58() }),
      'another nonce': extra({ nonce: '00'.repeat(16) }),
      'a later expiry': extra({ expires_at: '2999-01-01T00:00:00.000Z' }),
      'an expiry in another form': extra({ expires_at: accepted.extra.expires_at.replace(/\.\d+Z/, 'Z') }),
      'the ticket of another quote': extra({ ticket: other.extra.ticket }),
      'an empty ticket': extra({ ticket: '' }),
      'an impossible amount': extra({ price: '99999999999999999999' }),
      'another network': forge({ network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' }),
      'another timeout': forge({ maxTimeoutSeconds: 1_000 }),
    };
    for (const [name, one] of Object.entries(forged)) {
      const header = paymentHeader(one, await makePayment(market.node, accepted, wallet));
      expect(reasonOf(await ask(body, { headers: { 'payment-signature': header } })), name).to.equal('payment_invalid');
    }
    for (const header of ['', 'x', Buffer.from('{}').toString('base64'), Buffer.from('[1').toString('base64')]) {
      expect(reasonOf(await ask(body, { headers: { 'payment-signature': header } })), header).to.equal(
        'payment_invalid',
      );
    }
    // A valid quote of another request buys nothing here.
    expect(reasonOf(await buy(body, { accepted: other }))).to.equal('quote_changed');
  });

  it('refuses a payment that has expired, and sells the same quote for a new one', async () => {
    const accepted = await quote({ task: 'late' });
    const { blockhash } = await market.node.connection.getLatestBlockhash();
    await market.node.outlive();
    expect(reasonOf(await buy({ task: 'late' }, { accepted, blockhash }))).to.equal('quote_expired');
    const never = Keypair.generate().publicKey.toBase58();
    expect(reasonOf(await buy({ task: 'late' }, { accepted, blockhash: never }))).to.equal('quote_expired');
    await untilCurrent();
    expect((await buy({ task: 'late' }, { accepted })).status).to.equal(200);
  });

  it('refuses a quote after two minutes by the clock of the relay', async () => {
    const accepted = await quote({ task: 'old' });
    const left = Date.parse(accepted.extra.expires_at) - Date.now();
    expect(left).to.be.within(60_000, 120_000);
    const x402 = { feePayer: feePayer.publicKey, secret: secretOf(feePayer), ownKeys: [], usdcMint: market.usdcMint };
    const { listing, nonce, payer, price, ...extra } = accepted.extra;
    const terms = quoteOf(x402, {
      listing,
      listingVersion: extra.listing_version,
      requestHash: extra.request_hash,
      timeoutSeconds: extra.timeout_seconds,
      nonce: Buffer.from(nonce, 'hex'),
      payer,
      price: BigInt(price),
      serviceFee: BigInt(extra.service_fee),
    });
    const fees = { serviceFee: () => terms.serviceFee, leastServiceFee: terms.serviceFee };
    const quotedUntil = (ms: number) => toRequirements({ ...x402, network: accepted.network, ...fees }, terms, ms);
    expect(reasonOf(await buy({ task: 'old' }, { accepted: quotedUntil(Date.now() - 1) }))).to.equal('quote_expired');
    expect((await buy({ task: 'old' }, { accepted: quotedUntil(Date.now() + 60_000) })).status).to.equal(200);
  });

  it('accepts the newest blockhash, and takes the payment for alive until 150 blocks after the newest one', async () => {
    const body = { task: 'newest blockhash' };
    const accepted = await quote(body);
    const { connection } = market.node;
    const height = () => connection.getBlockHeight('processed');
    const before = await height();
    const { blockhash } = await connection.getLatestBlockhash('processed');
    expect((await buy(body, { accepted, blockhash })).status).to.equal(200);
    const [row] = await market.query(
      'ledger',
      `SELECT payment_last_valid_height AS last FROM executions WHERE task = '${body.task}'`,
    );
    expect(Number(row.last)).to.be.within(before + 150, (await height()) + 150);
  });

  it('accepts as many payments of one balance as it covers, however many arrive at once', async () => {
    const payer = await rich(2n * TOTAL + 1n);
    const bodies = Array.from({ length: 30 }, (_, n) => ({ task: `one balance ${n}` }));
    const quotes = await Promise.all(bodies.map((body) => quote(body)));
    const before = await lamports(feePayer);
    const answers = await Promise.all(bodies.map((body, n) => buy(body, { accepted: quotes[n], by: payer })));
    let sold = answers.filter(({ status }) => status === 200).length;
    // A new wallet has one payment in progress at a time; the others are refused at once. On a busy machine a blockhash may
    // be too old by then, and a payment that was accepted may find the money gone before it is signed.
    expect(sold).to.be.at.most(2);
    const others = answers.filter(({ status }) => status !== 200).map(reasonOf);
    expect(['insufficient_funds', '503 service_unavailable', 'quote_expired', 'payment_failed']).to.include.members([
      ...new Set(others),
    ]);
    // On a busy machine none of them may be accepted in time. A client repeats its payment.
    while (sold === 0) {
      const again = await buy({ task: 'once more' }, { by: payer });
      if (again.status === 200) sold += 1;
      else expect(reasonOf(again)).to.equal('503 service_unavailable');
    }
    expect(await usdcOf(payer)).to.equal(2n * TOTAL + 1n - BigInt(sold) * TOTAL);
    expect(before - (await lamports(feePayer))).to.equal(sold * PAYMENT_LAMPORTS);
  });

  it('refuses a payer without the money, without an account, and with a frozen one', async () => {
    const poor = await rich(TOTAL - 1n);
    const nobody = Keypair.generate();
    const frozen = await rich();
    await market.setFrozen(findTokenAccount(frozen.publicKey, market.usdcMint), true);
    for (const payer of [poor, nobody, frozen]) {
      expect(reasonOf(await buy({ task: 'poor' }, { by: payer }))).to.equal('insufficient_funds');
    }
  });

  it('lets one of two payers use a quote, and takes nothing from the other', async () => {
    const [one, two] = [await rich(), await rich()];
    const body = { task: 'two payers' };
    const accepted = await quote(body);
    const answers = await Promise.all([one, two].map((by) => buy(body, { accepted, by })));
    const sold = answers.filter(({ status }) => status === 200);
    expect(sold.length, answers.map(({ text }) => text).join()).to.equal(1);
    expect((await usdcOf(one)) + (await usdcOf(two))).to.equal(TOTAL);
    const loser = (await usdcOf(one)) === 0n ? two : one;
    const atOnce = answers.find(({ status }) => status !== 200)!;
    for (const answer of [atOnce, await buy(body, { accepted, by: loser })]) {
      expect(reasonOf(answer), answer.text).to.equal('quote_used');
      expect(decodeHeader(answer, 'payment-required').accepts[0].payTo).to.not.equal(accepted.payTo);
    }
  });

  it('serves calls although lamports came to the addresses of their records, before or after the payment', async () => {
    const fund = ({ publicKey }: Keypair, { extra }: Accepted) => {
      const id = deriveExecutionId(publicKey.toBytes(), Buffer.from(extra.nonce, 'hex'));
      return market.node.fundSol(findExecution(id), 650_240);
    };
    const [early, late] = [await rich(), await rich()];
    const body = { task: 'funded record' };
    const accepted = await quote(body);
    await fund(early, accepted);
    const answer = await buy(body, { accepted, by: early });
    expect(answer.status, answer.text).to.equal(200);
    expect(await usdcOf(early)).to.equal(0n);

    const other = await interrupt('paid:after', late, (quoted) => fund(late, quoted));
    expect(other.answer.status, other.answer.text).to.equal(200);
    expect(await usdcOf(late)).to.equal(0n);
    for (const { payTo } of [accepted, other.accepted]) {
      expect(await isGone(new PublicKey(payTo))).to.equal(true);
    }
  });

  it('sends the payment back if its payer has opened the same execution itself in the meantime', async () => {
    const payer = await rich(2n * TOTAL);
    await market.node.fundSol(payer.publicKey, 1e9);
    const calledBefore = market.calls.size;
    const { accepted, answer } = await interrupt('paid:after', payer, async (quoted) =>
      sendTransaction(market.node.connection, [await ownOpen(payer, quoted)], keypairSigner(payer)),
    );
    expect(answer.status, answer.text).to.equal(503);
    expect(decodeHeader(answer, 'payment-response')).to.include({ success: false, amount: String(TOTAL) });
    // One price is in the payer's own escrow. Of the payment only the service fee is lost.
    expect(await usdcOf(payer)).to.equal(2n * TOTAL - PRICE - 5_000n);
    expect(await isGone(new PublicKey(accepted.payTo))).to.equal(true);
    expect(market.calls.size).to.equal(calledBefore);
  });

  it('calls no creator for a record of other terms that the payer opened itself after a refund of the deposit', async () => {
    const payer = await rich(2n * TOTAL);
    await market.node.fundSol(payer.publicKey, 1e9);
    const calledBefore = market.calls.size;
    const openAgain = async (accepted: Accepted) => {
      const back = returnOf(accepted, payer);
      await sendTransaction(market.node.connection, [back], keypairSigner(market.authority));
      const own = await ownOpen(payer, accepted, { requestHash: Buffer.alloc(32, 7) });
      await sendTransaction(market.node.connection, [own], keypairSigner(payer));
    };
    // The relay waits until the payment cannot land again.
    const { answer } = await interrupt('paid:after', payer, openAgain, () => market.node.outlive());
    expect(answer.status, answer.text).to.equal(503);
    expect(market.calls.size).to.equal(calledBefore);
    expect(await usdcOf(payer)).to.equal(2n * TOTAL - PRICE - 5_000n);
    await untilCurrent();
  });

  it('signs no payment into a deposit that a thief of the relay’s key has prepared again for itself', async () => {
    const [payer, thief] = [await rich(), Keypair.generate()];
    const before = await lamports(feePayer);
    const { accepted, answer } = await interrupt('depositConfirmed:before', payer, (quoted) => {
      const again = [returnOf(quoted, payer), prepareFor(quoted, thief)];
      return sendTransaction(market.node.connection, again, keypairSigner(market.authority));
    });
    expect(reasonOf(answer), answer.text).to.equal('payment_failed');
    expect([await usdcOf(payer), before - (await lamports(feePayer))]).to.deep.equal([TOTAL, 0]);
    expect((await readDeposit(accepted.payTo)).caller.toBase58()).to.equal(thief.publicKey.toBase58());
  });

  it('takes no payment and sends back the paid ones if the listing changes, and gives it no more quotes after the third of a day', async () => {
    const own = await openMarketplace({ baseUrl: market.relay.url, rpcUrl: market.node.rpcUrl });
    const creator = keypairSigner(market.creator);
    const signingKey = generateSigningKey();
    const draftAt = (price: string) => market.draftOf('changing', market.endpoint, price);
    market.setBehaviour((body, _response, reply) => reply(goodAnswer(signingKey, body.execution_id, 'changed')));
    const listed = await createListing(own, { wallet: creator, signingKey, draft: draftAt('0.25') });
    const agent = listed.agent_id;
    const priceNow = async (task: string): Promise<Accepted | null> => {
      const answer = await ask({ task }, { agent });
      return answer.status === 402 ? decodeHeader(answer, 'payment-required').accepts[0] : null;
    };
    const payer = await rich(4n * TOTAL + 100_000n);
    for (let n = 0; n < 3; n += 1) {
      const isPaid = n !== 1;
      const task = stopAt(isPaid ? 'paid:after' : 'depositConfirmed:before', `changing ${n}`);
      let accepted: Accepted = null;
      await until('the present price is quoted', async () => {
        accepted = await priceNow(task);
        return accepted?.extra.listing_version === n + 1;
      });
      const answering = buy({ task }, { accepted, agent, by: payer });
      await market.relay.untilStanding(task, answering);
      const agentId = new PublicKey(agent);
      await updateListing(own, { wallet: creator, agentId, draft: draftAt(n % 2 === 0 ? '0.26' : '0.25') });
      market.relay.release(task);
      const answer = await answering;
      expect([answer.status, answer.body.error.code], answer.text).to.deep.equal([409, 'price_changed']);
      expect(decodeHeader(answer, 'payment-response')?.success).to.equal(isPaid ? false : undefined);
    }
    expect(await usdcOf(payer)).to.equal(4n * TOTAL + 100_000n - 2n * 5_000n);
    const refused = await ask({ task: 'once more' }, { agent });
    expect([refused.status, refused.body.error.message]).to.deep.equal([
      503,
      "The agent's listing changed 3 times during calls of the last 24 hours, so this service gives no quotes for it now. Retry later.",
    ]);
    market.setBehaviour(null);
  });

  describe('a payment that would fail after its deposit', () => {
    /** Expects that this payment, whose bytes pass their check, is refused, and that neither key pays anything for it. */
    async function requireFree(task: string, payer: Keypair, change: PaymentChange): Promise<void> {
      const held = () => Promise.all([lamports(market.authority), lamports(feePayer), usdcOf(payer)]);
      const before = await held();
      const accepted = await quote({ task });
      const answer = await buy({ task }, { accepted, by: payer, ...change });
      expect([reasonOf(answer), answer.body.error.message]).to.deep.equal([
        'payment_failed',
        'The payment would fail on-chain. Nothing was paid.',
      ]);
      const deposit = new PublicKey(accepted.payTo);
      expect(await market.node.connection.getAccountInfo(deposit, 'processed')).to.equal(null);
      expect(await held()).to.deep.equal(before);
    }

    it('costs the operator nothing: a memo that is not UTF-8, after a good one, or too few compute units', async () => {
      const payer = await rich();
      const programId = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
      const memoOf = (...bytes: number[]) => new Instruction({ programId, keys: [], data: Buffer.from(bytes) });
      const instructions = (usual: Instruction[]) => [...usual.slice(0, 3), memoOf(0x41), memoOf(0xff, 0xfe)];
      for (let n = 0; n < 3; n += 1) await requireFree(`fails: ${n}`, payer, { instructions });
      const few = ComputeBudgetProgram.setComputeUnitLimit({ units: 600 });
      await requireFree('too few units', payer, { instructions: ([, ...rest]) => [few, ...rest] });
      // Nothing is reserved or counted either.
      const sold = await buy({ task: 'pays' }, { by: payer });
      expect(sold.status, sold.text).to.equal(200);
    });
  });

  it('refuses a payment that fails because its money has moved once it has expired: it costs its fee', async () => {
    const payer = await rich();
    const before = await lamports(feePayer);
    const spent = async () => before - (await lamports(feePayer));
    const moveAway = () => away(payer);
    const { accepted, answer } = await interrupt('send-pay:before', payer, moveAway, async () => {
      await until('the payment has failed', async () => (await spent()) === PAYMENT_LAMPORTS);
      await market.node.outlive();
    });
    expect(reasonOf(answer), answer.text).to.equal('payment_failed');
    expect(await spent()).to.equal(PAYMENT_LAMPORTS);
    expect(await isGone(new PublicKey(accepted.payTo))).to.equal(true);
    await untilCurrent();
  });

  it('closes a deposit that a payer with a closed account left one base unit in: the treasury gets the unit', async () => {
    const payer = await rich();
    await market.node.fundSol(payer.publicKey, 1e9);
    const treasury = findTreasury();
    const before = await market.amountOf(treasury);
    const [source, owner] = [findTokenAccount(payer.publicKey, market.usdcMint), payer.publicKey];
    const { accepted, answer } = await interrupt('depositConfirmed:before', payer, ({ payTo }) => {
      const vault = findTokenAccount(new PublicKey(payTo), market.usdcMint);
      const moved = [
        createTransferInstruction(source, vault, owner, 1n),
        createTransferInstruction(source, market.callers[1]!.usdc, owner, TOTAL - 1n),
        createCloseAccountInstruction(source, owner, owner),
      ];
      return sendTransaction(market.node.connection, moved, keypairSigner(payer));
    });
    expect(reasonOf(answer), answer.text).to.equal('payment_failed');
    expect(await isGone(new PublicKey(accepted.payTo))).to.equal(true);
    expect((await market.amountOf(treasury)) - before).to.equal(1n);
  });

  it('accepts no more payments from an address after ten that did not arrive, not even at the same time', async () => {
    const proxied = await market.startRelayProcess({
      WITHOUT_INDEXER: '1',
      TRUST_PROXY: '1',
      STANDSTILL: '1',
      PUBLIC_RATE_PER_SECOND: '1',
      PUBLIC_RATE_BURST: '150',
    });
    const from = (address: string) => (by: Keypair, accepted: Accepted, task: string) =>
      buy({ task }, { by, accepted, url: proxied.url, headers: { 'x-forwarded-for': address } });
    try {
      const failing = from('203.0.113.9');
      const other = from('203.0.113.10');
      const quoteAt = (task: string) => quote({ task }, { url: proxied.url });
      // Each moves its money away while the relay waits for the deposit.
      const begin = async (n: number) => {
        const payer = await rich();
        const task = stopAt('depositConfirmed:before', `unpaid ${n}`);
        return { payer, task, answering: failing(payer, await quoteAt(task), task) };
      };
      const begun = await Promise.all(Array.from({ length: 10 }, (_, n) => begin(n)));
      await until('ten stand', async () => begun.every(({ task }) => proxied.standing.has(task)));
      for (const n of [10, 11, 12]) expect((await (await begin(n)).answering).status).to.equal(503);
      await Promise.all(begun.map(({ payer }) => away(payer)));
      for (const { task } of begun) proxied.release(task);
      const answers = await Promise.all(begun.map(({ answering }) => answering));
      expect(answers.map(reasonOf)).to.deep.equal(Array(10).fill('payment_failed'));
      const payer = await rich(2n * TOTAL);
      const accepted = await quoteAt('honest');
      expect((await failing(payer, accepted, 'honest')).status).to.equal(503);
      expect((await other(payer, accepted, 'honest')).status).to.equal(200);
      // Repeats of the same payment cost nothing either, so each counts as ten requests.
      const header = paymentHeader(accepted, await makePayment(market.node, accepted, payer));
      const repeat = async () => {
        const headers = { 'x-forwarded-for': '203.0.113.11', 'payment-signature': header };
        return (await ask({ task: 'honest' }, { url: proxied.url, headers })).status;
      };
      const repeats = await Promise.all(Array.from({ length: 120 }, repeat));
      expect(new Set(repeats)).to.deep.equal(new Set([200, 429]));
    } finally {
      await proxied.kill();
    }
  });
});
