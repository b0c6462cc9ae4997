/**
 * The embedded node alone behaves like a cluster, with blockhashes, commitments and time. answers.test.ts compares its
 * answers, the rent, and the effects of transactions, with a validator's.
 */
import {
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionInstruction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { expect } from 'chai';
import { History } from '../../app/local/node/history.ts';
import { until } from '../harness/edge/until.ts';
import { startNode, type TestNode } from '../harness/node/node.ts';
import { signVersionOne } from '../harness/node/versionOne.ts';

/** Longer than the tests take. Slots pass only when a test moves the chain, so no pause of a process is too long. */
const SLOT_MS = 3_600_000;
const FEE = 5_000;
const FINALITY_SLOTS = 31;
const BLOCKHASH_SLOTS = 150;
const MEMO = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

interface Answer {
  result?: unknown;
  error?: { code: number; message: string; data?: { err: unknown; logs: string[] } };
}

describe('the embedded node', () => {
  let node: TestNode;
  let payer: Keypair;

  before(async () => {
    node = await startNode({ slotTimeMs: SLOT_MS, finalitySlots: FINALITY_SLOTS, deploy: false });
  });
  beforeEach(async () => {
    payer = Keypair.generate();
    await node.fundSol(payer.publicKey, LAMPORTS_PER_SOL);
  });
  after(() => node?.stop());

  const balance = (key: PublicKey) => node.connection.getBalance(key, 'processed');
  const transfer = (lamports: number, to = Keypair.generate().publicKey) =>
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports });
  const memo = (text: string) => new TransactionInstruction({ programId: MEMO, keys: [], data: Buffer.from(text) });

  async function sign(...instructions: TransactionInstruction[]) {
    const { blockhash, lastValidBlockHeight } = await node.connection.getLatestBlockhash('confirmed');
    const transaction = new Transaction({ feePayer: payer.publicKey, blockhash, lastValidBlockHeight });
    transaction.add(...instructions).sign(payer);
    return { bytes: transaction.serialize(), signature: bs58.encode(transaction.signature!), transaction };
  }

  const leap = async (slots: number) =>
    node.rpc('surfnet_timeTravel', [{ absoluteSlot: (await node.connection.getSlot('processed')) + slots }]);
  /** Sends without preflight, as the relay does. */
  const send = (bytes: Uint8Array) => node.connection.sendRawTransaction(bytes, { skipPreflight: true });
  const statusOf = async (signature: string) =>
    (await node.connection.getSignatureStatuses([signature], { searchTransactionHistory: true })).value[0] ?? null;

  /** Sends a transaction, ends its slot, and returns its status. */
  async function land({ bytes, signature }: { bytes: Uint8Array; signature: string }) {
    await send(bytes);
    await leap(1);
    const status = await statusOf(signature);
    expect(status?.confirmationStatus).to.equal('confirmed');
    return status!;
  }

  async function post(body: unknown): Promise<Answer & Answer[]> {
    const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    return (await (await fetch(node.rpcUrl, request)).json()) as never;
  }
  const ask = (method: string, ...params: unknown[]) => post({ jsonrpc: '2.0', id: 1, method, params });

  describe('transactions', () => {
    it('do not crash the node when the bytes are no transaction', async () => {
      const { bytes } = await sign(transfer(LAMPORTS_PER_SOL / 10), memo('x'));
      const { blockhash } = await node.connection.getLatestBlockhash('confirmed');
      // The signatures of version 1 come last, so every byte before them is part of the message.
      const one = await signVersionOne([transfer(LAMPORTS_PER_SOL / 10), memo('x')], [payer], blockhash);
      const places = [
        ...Array.from(bytes.keys(), (at) => ({ bytes, at })).slice(65),
        ...Array.from(one.bytes.keys(), (at) => ({ bytes: one.bytes, at })).slice(0, -64),
      ];
      for (const { bytes, at } of places) {
        const broken = Buffer.from(bytes);
        broken[at]! ^= 0xff;
        // In one request, because there are hundreds.
        const texts = [broken, broken.subarray(0, at)].map((each) => each.toString('base64'));
        const encoding = 'base64';
        await post(
          texts.flatMap((text) => [
            { jsonrpc: '2.0', id: 1, method: 'sendTransaction', params: [text, { encoding, skipPreflight: true }] },
            { jsonrpc: '2.0', id: 2, method: 'simulateTransaction', params: [text, { encoding }] },
          ]),
        );
      }
      expect(await node.rpc('getHealth')).to.equal('ok');
      expect(await balance(payer.publicKey)).to.equal(LAMPORTS_PER_SOL);
    });
  });

  describe('blockhashes', () => {
    it('are valid for 150 blocks: then preflight refuses, and a transaction without preflight is dropped', async () => {
      const { blockhash, lastValidBlockHeight } = await node.connection.getLatestBlockhash('confirmed');
      expect(lastValidBlockHeight - (await node.connection.getBlockHeight('confirmed'))).to.equal(BLOCKHASH_SLOTS);
      const { bytes, signature } = await sign(transfer(LAMPORTS_PER_SOL / 10));
      await leap(BLOCKHASH_SLOTS + 3);
      expect((await node.connection.isBlockhashValid(blockhash, { commitment: 'processed' })).value).to.equal(false);
      const params = [bytes.toString('base64'), { encoding: 'base64', preflightCommitment: 'confirmed' }] as const;
      expect((await ask('sendTransaction', ...params)).error).to.deep.include({
        code: -32_002,
        message: 'Transaction simulation failed: Blockhash not found',
      });
      const fresh = (await sign(transfer(LAMPORTS_PER_SOL / 10))).bytes.toString('base64');
      for (const [base64, err] of [
        [fresh, null],
        [params[0], 'BlockhashNotFound'],
      ]) {
        const tried = await ask('simulateTransaction', base64, { encoding: 'base64', commitment: 'confirmed' });
        expect((tried.result as { value: { err: unknown } }).value.err).to.equal(err);
      }
      expect(await send(bytes)).to.equal(signature);
      await leap(2);
      expect(await statusOf(signature)).to.equal(null);
      expect(await balance(payer.publicKey)).to.equal(LAMPORTS_PER_SOL);
    });
  });

  describe('commitments', () => {
    it('show a change at processed at once, at confirmed one slot and at finalized 31 slots later', async () => {
      const { bytes, signature } = await sign(transfer(LAMPORTS_PER_SOL / 10));
      await send(bytes);
      const { slot, confirmationStatus } = (await statusOf(signature))!;
      expect(confirmationStatus).to.equal('processed');
      const rest = 0.9 * LAMPORTS_PER_SOL - FEE;
      expect(await balance(payer.publicKey)).to.equal(rest);
      expect(await node.connection.getBalance(payer.publicKey, 'confirmed')).to.equal(LAMPORTS_PER_SOL);
      await leap(1);
      expect((await statusOf(signature))?.confirmationStatus).to.equal('confirmed');
      expect(await node.connection.getBalance(payer.publicKey, 'confirmed')).to.equal(rest);
      expect(await node.connection.getBalance(payer.publicKey, 'finalized')).to.equal(LAMPORTS_PER_SOL);
      expect(await node.connection.getTransaction(signature, { commitment: 'finalized' })).to.equal(null);
      expect(await node.connection.getSignaturesForAddress(payer.publicKey, {}, 'finalized')).to.have.length(0);
      await leap(FINALITY_SLOTS - 2);
      expect((await statusOf(signature))?.confirmationStatus).to.equal('confirmed');
      await leap(1);
      expect((await statusOf(signature))?.confirmationStatus).to.equal('finalized');
      expect((await node.connection.getEpochInfo('finalized')).absoluteSlot).to.equal(slot);
      expect(await node.connection.getBalance(payer.publicKey, 'finalized')).to.equal(rest);
      expect((await statusOf(signature))?.confirmations).to.equal(null);
    });

    it('have different slots, and a read at a later minimum slot is refused', async () => {
      const [newest, final] = await post([
        { jsonrpc: '2.0', id: 1, method: 'getSlot', params: [{ commitment: 'processed' }] },
        { jsonrpc: '2.0', id: 2, method: 'getSlot', params: [{ commitment: 'finalized' }] },
      ]).then((answers) => answers.map(({ result }) => result as number));
      expect(newest! - final!).to.equal(FINALITY_SLOTS);
      const answer = await ask('getAccountInfo', MEMO.toBase58(), { minContextSlot: newest, commitment: 'finalized' });
      expect(answer.error).to.deep.include({ code: -32_016, message: 'Minimum context slot has not been reached' });
      expect(
        (await ask('getAccountInfo', MEMO.toBase58(), { minContextSlot: final, encoding: 'base64' })).error,
      ).to.equal(undefined);
    });

    it('notify subscribers when they are reached', async () => {
      const { bytes, signature } = await sign(transfer(LAMPORTS_PER_SOL / 10));
      const heard = (commitment: 'processed' | 'confirmed' | 'finalized') =>
        new Promise<string>((resolve) => {
          node.connection.onSignature(signature, ({ err }) => resolve(`${commitment} ${err}`), commitment);
        });
      const order: string[] = [];
      const all = (['processed', 'confirmed', 'finalized'] as const).map((commitment) =>
        heard(commitment).then((text) => order.push(text)),
      );
      const changed = new Promise<number>((resolve) => {
        node.connection.onAccountChange(payer.publicKey, ({ lamports }) => resolve(lamports), {
          commitment: 'confirmed',
        });
      });
      const logged = new Promise<string[]>((resolve) => {
        node.connection.onLogs(payer.publicKey, ({ logs }) => resolve(logs), 'confirmed');
      });
      let isSubscribed = false;
      node.connection.onSlotChange(() => (isSubscribed = true));
      await until('the last subscription is notified', async () => {
        await leap(1);
        return isSubscribed;
      });
      await send(bytes);
      await leap(1);
      await leap(FINALITY_SLOTS);
      await Promise.all(all);
      expect(order).to.deep.equal(['processed null', 'confirmed null', 'finalized null']);
      expect(await changed).to.equal(0.9 * LAMPORTS_PER_SOL - FEE);
      expect((await logged).at(-1)).to.equal('Program 11111111111111111111111111111111 success');
      expect(await heard('confirmed'), 'told at once when it is past').to.equal('confirmed null');
    });
  });

  it('forgets the oldest transaction, its addresses and its time when its storage is full', () => {
    const history = new History(3);
    for (let i = 0; i < 5; i += 1) {
      const addresses = ['payer', `payee ${i}`];
      const [bytes, slot] = [Buffer.alloc(1), 10 + Math.floor(i / 2)];
      history.add({ signature: `s${i}`, slot, blockTime: 1_000 + slot, err: null, bytes, meta: '{}', addresses });
    }
    const of = (address: string) => history.of(address, { limit: 10, maxSlot: 99 }).map(({ signature }) => signature);
    expect(of('payer')).to.deep.equal(['s4', 's3', 's2']);
    expect([of('payee 1'), of('payee 2')]).to.deep.equal([[], ['s2']]);
    expect([10, 11, 12].map((slot) => history.time(slot))).to.deep.equal([null, 1_011, 1_012]);
    expect(history.get('s1')).to.equal(null);
    expect(history.count).to.equal(5);
  });

  it('moves its clock forward by time or slots for every commitment, and never back', async () => {
    const now = await node.now();
    const later = now + 80 * 3_600;
    const slot = await node.connection.getSlot('processed');
    await node.timeTravel(later);
    expect(await node.now()).to.equal(later);
    expect(await node.connection.getSlot('processed')).to.equal(slot);
    expect((await sendMemo()).slot).to.equal(slot);
    expect(await node.connection.getBlockTime(slot)).to.equal(later);
    await node.rpc('surfnet_timeTravel', [{ absoluteSlot: slot + 100_000 }]);
    expect(await node.connection.getSlot('finalized')).to.equal(slot + 100_000 - FINALITY_SLOTS);
    const info = await node.connection.getEpochInfo('processed');
    expect(info.absoluteSlot - info.blockHeight!, 'slots without blocks').to.be.above(99_000);
    // `now` reads the confirmed slot, one before the newest. Real time passes too, less than a slot.
    const slotSeconds = SLOT_MS / 1_000;
    expect(await node.now()).to.be.within(later + 99_999 * slotSeconds, later + 100_000 * slotSeconds);
    const back = await ask('surfnet_timeTravel', { absoluteTimestamp: now * 1_000 });
    expect(back.error?.message).to.include('only move forward');
    await sendMemo();
  });

  const sendMemo = async () => land(await sign(memo('now')));
});
