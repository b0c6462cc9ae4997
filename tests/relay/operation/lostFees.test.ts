/**
 * Each fee that the chain took in vain counts once: wherever the relay is killed, whichever relay notes it, and however
 * often the same bytes are signed. On a real ledger, with a node whose answers are given.
 */
import { TOKEN_PROGRAM_ID } from '@solana/spl-token';
import { Keypair, PublicKey, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { expect } from 'chai';
import { describeFailure, UPGRADING } from '../../../app/relay/chain/failures.ts';
import { createReturning } from '../../../app/relay/execution/deposits/returning.ts';
import { type EngineDeps, newProgress, type Step } from '../../../app/relay/execution/deps.ts';
import { createEnding } from '../../../app/relay/execution/ending.ts';
import { createOpening } from '../../../app/relay/execution/open.ts';
import { createRefunding } from '../../../app/relay/execution/refund.ts';
import { readSnapshot } from '../../../app/relay/execution/snapshot.ts';
import type { JournalRow } from '../../../app/relay/ledger/tables.ts';
import { lastOf, paidFees } from '../../../app/relay/ledger/transactions.ts';
import { createLog } from '../../../app/relay/log.ts';
import { accountDiscriminator, PROGRAM_ID, RECORD_OFFSETS, RECORD_SIZE } from '../../../app/sdk/program/program.ts';
import { free } from '../../harness/edge/funding.ts';
import { depositOf, executionOf, signedAnew, TIMES, useJournals } from '../../harness/edge/journals.ts';
import { encodeTokenAccount } from '../../harness/tokenAccount.ts';

const FEE = 5_000n;
const ID = '00000000-0000-8000-8000-000000000001';
const NOT_SHARED = { share: async () => false, exclude: () => undefined };
const STOP = new AbortController().signal;
const NOW = 61n;
const UNUSABLE = 'RefundDestinationUnusable';
const KILLED = new Error('killed');
/** The journal's functions that write. */
const WRITES = ['failed', 'burnt', 'decided', 'void', 'refunding', 'returning', 'returned', 'refundWaits'] as const;

describe('lost fees', () => {
  const { opened, mine, others } = useJournals();

  const [caller, listing, deposit] = [0, 1, 2].map(() => Keypair.generate().publicKey) as [
    PublicKey,
    PublicKey,
    PublicKey,
  ];
  const wallet = caller.toBase58();
  const call = { wallet, listing: listing.toBase58(), request_hash: '00'.repeat(32) };
  const message = new TransactionMessage({
    payerKey: caller,
    recentBlockhash: PublicKey.default.toBase58(),
    instructions: [],
  });
  const bytes = Uint8Array.from(new VersionedTransaction(message.compileToV0Message()).serialize());
  const signed = () => ({ ...signedAnew(), bytes });

  function account(name: 'ExecutionRecord' | 'Deposit') {
    const data = Buffer.alloc(RECORD_SIZE);
    data.set(accountDiscriminator(name));
    if (name === 'ExecutionRecord') caller.toBuffer().copy(data, RECORD_OFFSETS.caller);
    return { owner: PROGRAM_ID, data };
  }
  function vault(owner: PublicKey) {
    return { owner: TOKEN_PROGRAM_ID, data: encodeTokenAccount({ mint: PublicKey.default, owner, amount: 2n }) };
  }

  /** What the node shows and says. */
  const node = {
    record: null as ReturnType<typeof account> | null,
    deposit: null as ReturnType<typeof account> | null,
    /** The caller's USDC account. */
    own: null as ReturnType<typeof vault> | null,
    error: null as string | null,
    hasForgotten: false,
    sent: [] as string[],
    sign: signed,
  };
  beforeEach(() => {
    Object.assign(node, { record: null, deposit: null, own: null, error: null, hasForgotten: false, sent: [] });
    node.sign = signed;
  });
  const read = async (keys: PublicKey[]) => ({
    accounts: keys.length === 2 ? [node.record, null] : [node.record, node.deposit, vault(deposit), node.own, null],
    now: NOW,
    slot: 7,
  });
  const chain = {
    authority: PublicKey.default,
    clock: () => NOW,
    quote: () => ({ open: 0n, settle: 0n }),
    sign: async () => node.sign(),
    read: async () => ({ accounts: [node.own], now: NOW, slot: 7 }),
    readAgreed: read,
    readPast: read,
    hasSucceeded: async () => false,
    simulate: async () => null,
    async submit({ signature }: { signature: string }) {
      node.sent.push(signature);
      return node.hasForgotten
        ? { kind: 'expired' }
        : { kind: 'failed', error: node.error, message: 'refused', slot: 7, instruction: 0, byProgram: true };
    },
  };
  const depsOf = (journal: typeof mine): EngineDeps =>
    ({
      chain,
      journal,
      usdcMint: PublicKey.default,
      lending: free().lending,
      authorities: { names: () => true, poll: async () => undefined },
      closedEnd: async () => null,
      openFailed: () => undefined,
      log: createLog('silent'),
    }) as unknown as EngineDeps;

  const live = () => newProgress({ isFresh: true });
  const WAYS = {
    async open(journal: typeof mine, row: JournalRow): Promise<Step> {
      return createOpening(depsOf(journal), {} as never, NOT_SHARED, STOP).open(row, live());
    },
    async refund(journal: typeof mine, row: JournalRow): Promise<Step> {
      const { retryRefund } = createRefunding(
        depsOf(journal),
        createEnding(depsOf(journal), NOT_SHARED, STOP),
        NOT_SHARED,
      );
      return retryRefund(row, await readSnapshot(chain as never, row));
    },
    async return(journal: typeof mine, row: JournalRow): Promise<Step> {
      return createReturning(depsOf(journal), { isByRemovedAuthority: () => false }, STOP).sendBack(row, live());
    },
  };

  async function begin(kind: keyof typeof WAYS): Promise<JournalRow> {
    if (kind === 'return') {
      const row = await mine.claimDeposit(depositOf(ID, { ...call, deposit: deposit.toBase58() }), 1, free());
      await mine.depositSigned(row, signed());
      await mine.depositConfirmed(row);
      await mine.paid(row, 1);
      await mine.returning(row, signed(), { code: 'agent_paused', message: '', culprit: 'listing', rebuilds: 0n });
      node.deposit = account('Deposit');
      return row;
    }
    const row = await mine.claim(
      executionOf(ID, { ...call, key_id: '00'.repeat(16), nonce: '00'.repeat(16) }),
      1,
      free(),
    );
    await mine.openSigned(row, signed(), 60n);
    if (kind === 'open') return row;
    await mine.openConfirmed(row, TIMES, 1);
    await mine.refunding(row, signed(), { reason: 1, code: 'execution_failed', message: '', rebuilds: 0n });
    node.record = account('ExecutionRecord');
    return row;
  }
  const stored = async () => (await mine.get(ID))!;
  const owed = async () => (await mine.sumsOf(wallet, call.listing, Date.now())).owed;

  /** The journal of a relay that is killed before its nth write. */
  function killedBefore(nth: number): typeof mine {
    let writes = 0;
    const journal = { ...mine } as Record<string, unknown>;
    for (const name of WRITES) {
      journal[name] = (...args: unknown[]) => {
        if (writes === nth) throw KILLED;
        writes += 1;
        return (mine[name] as (...all: unknown[]) => unknown)(...args);
      };
    }
    return journal as typeof mine;
  }

  for (const kind of ['open', 'refund', 'return'] as const) {
    for (const error of kind === 'open' ? ['InsufficientFunds'] : [UNUSABLE, null]) {
      for (const forgets of [false, true]) {
        const what = `of a refused ${kind}${error === null ? ' without a reason' : ''}`;
        const then = forgets ? ', also if the node has forgotten it after that' : '';
        it(`${what} count once wherever the relay is killed${then}`, async () => {
          let kills = 0;
          for (let nth = forgets ? 1 : 0; ; nth += 1) {
            await opened.clear();
            Object.assign(node, { error, hasForgotten: false, record: null, deposit: null });
            const row = await begin(kind);
            const killed = await WAYS[kind](killedBefore(nth), row).then(
              () => false,
              (thrown) => {
                expect(thrown).to.equal(KILLED);
                return true;
              },
            );
            if (killed) {
              kills += 1;
              node.hasForgotten = forgets;
              await WAYS[kind](mine, await stored());
            }
            expect([(await stored()).lost_fees, await owed()], `before write ${nth}`).to.deep.equal([FEE, FEE]);
            const first = (await stored()).transactions.find((one) => one.kind === kind)!;
            expect([first.outcome, first.culprit]).to.deep.equal(['failed', 'wallet']);
            if (!killed) break;
          }
          expect(kills).to.equal(forgets ? 1 : 2);
        });
      }
    }
  }

  describe('of an upgrade of the program', () => {
    beforeEach(() => {
      node.error = UPGRADING;
    });
    const of = async (kind: string) => (await stored()).transactions.filter((one) => one.kind === kind);

    it('are named by the runtime’s error, which no program has chosen', () => {
      expect(describeFailure({ InstructionError: [1, 'UnsupportedProgramId'] })).to.deep.equal({
        error: UPGRADING,
        message: 'the program is being upgraded',
        instruction: 1,
        byProgram: false,
      });
    });

    it('are the operator’s: the open is sent once more, and only then refused', async () => {
      const row = await begin('open');
      const refused = lastOf(row, 'open');
      node.sign = () => refused as ReturnType<typeof signed>;
      for (let polls = 0; polls < 3; polls += 1) expect(await WAYS.open(mine, row)).to.equal('wait');
      node.sign = signed;
      expect(await WAYS.open(mine, row)).to.equal('next');
      expect(await of('open')).to.have.length(2);
      expect(await WAYS.open(mine, row)).to.equal('ended');
      expect((await of('open')).map(({ outcome, culprit }) => [outcome, culprit])).to.deep.equal([
        ['failed', 'operator'],
        ['failed', 'operator'],
      ]);
      expect(await stored()).to.include({
        state: 'void',
        error_code: 'service_unavailable',
        lost_fees: 0n,
        listing_fees: 0n,
      });
      expect(await owed()).to.equal(0n);
    });

    for (const kind of ['refund', 'return'] as const) {
      it(`are the operator’s: the ${kind} is sent again`, async () => {
        const row = await begin(kind);
        await WAYS[kind](mine, row);
        const [first, second] = await of(kind);
        expect([first!.outcome, first!.culprit, second!.outcome]).to.deep.equal(['failed', 'operator', null]);
        expect([(await stored()).lost_fees, await owed()]).to.deep.equal([0n, 0n]);
      });
    }
  });

  for (const [what, own] of [
    ['waits for its account', null],
    ['would fail now', vault(caller)],
  ] as const) {
    it(`are none for a refund that ${what} and is never sent, wherever the relay is killed`, async () => {
      const unusable = { ...chain, simulate: async () => ({ error: UNUSABLE }) };
      for (let nth = 1, isKilled = true; isKilled; nth += 1) {
        await opened.clear();
        Object.assign(node, { own, record: account('ExecutionRecord') });
        const row = await mine.claim(executionOf(ID, call), 1, free());
        await mine.openSigned(row, signed(), 60n);
        await mine.openConfirmed(row, TIMES, 1);
        const deps = { ...depsOf(killedBefore(nth)), chain: unusable } as unknown as EngineDeps;
        const { refundIntent } = createRefunding(deps, createEnding(deps, NOT_SHARED, STOP), NOT_SHARED);
        const snapshot = await readSnapshot(chain as never, row);
        isKilled = await refundIntent(row, snapshot, 'unserved', '').then(
          () => false,
          () => true,
        );
        const refunds = (await stored()).transactions.filter((one) => one.kind === 'refund');
        expect(refunds.map(({ outcome }) => outcome)).to.deep.equal(['expired']);
      }
      expect(node.sent).to.deep.equal([]);
    });
  }

  it('count once if two relays note them, for the one that has the row', async () => {
    const stale = await begin('refund');
    await others.takeRowsOfOthersThan([]);
    const refund = lastOf(stale, 'refund');
    expect(await mine.failed(stale, refund, 'wallet')).to.equal(0n);
    expect([stale.lost_fees, (await stored()).lost_fees, await owed()]).to.deep.equal([0n, 0n, 0n]);
    const theirs = (await others.get(ID))!;
    const both = await Promise.all([
      others.failed(theirs, refund, 'wallet'),
      mine.failed(stale, refund, 'wallet'),
      others.failed(theirs, refund, 'wallet'),
    ]);
    expect(both.reduce((sum, fee) => sum + fee, 0n)).to.equal(FEE);
    await mine.takeRowsOfOthersThan([]);
    expect(await mine.burnt(await stored(), refund, 'listing')).to.equal(0n);
    expect(await stored()).to.include({ lost_fees: FEE, listing_fees: 0n });
    expect(await owed()).to.equal(FEE);
  });

  it('count once for bytes that were signed twice with one blockhash', async () => {
    const row = await begin('refund');
    const refund = lastOf(row, 'refund');
    await mine.refunding(row, refund, { reason: 1, code: 'execution_failed', message: '', rebuilds: 1n });
    expect(await mine.failed(row, lastOf(row, 'refund'), 'wallet')).to.equal(FEE);
    expect(await mine.burnt(row, refund, 'wallet')).to.equal(0n);
    // The open has landed.
    expect(paidFees(await stored())).to.equal(2n * FEE);
    expect(row).to.deep.equal(await stored());
  });

  it('of an unpaid deposit count for the call that lost them, and not again for the next call of its id', async () => {
    const claimed = depositOf(ID, { ...call, deposit: deposit.toBase58() });
    const deposited = signed();
    for (const calls of [1n, 2n]) {
      const row = await mine.claimDeposit(claimed, 1, { ...free(), lending: { ...free().lending, sponsorsAll: true } });
      await mine.depositSigned(row, calls === 1n ? deposited : signed());
      await mine.depositConfirmed(row);
      // All are signed at one block height.
      const why = { code: 'payment_required', message: 'moved', culprit: 'wallet', rebuilds: 0n } as const;
      await mine.returning(row, signed(), why);
      expect(await WAYS.return(mine, row)).to.equal('ended');
      expect(await stored()).to.include({ state: 'void', lost_fees: calls * 2n * FEE });
      expect(await owed()).to.equal(calls * 2n * FEE);
    }
  });

  it('that a listing caused do not put off the next try of a wallet that repays', async () => {
    const lost = await mine.claim(executionOf('lost', call), 1, free());
    await mine.openSigned(lost, signed(), 60n);
    await mine.failed(lost, lastOf(lost, 'open'), 'wallet');
    await mine.void(lost, 'insufficient_balance', '', 1);
    await opened.run('UPDATE debts SET lost_ms = 7');
    const lending = { ...free().lending, sponsorsAll: false };
    const ways = free().ways.map((way) => ({ ...way, repaid: FEE }));
    const row = await mine.claim(executionOf(ID, call), Date.now(), { ...free(), ways, lending });
    await mine.openSigned(row, signed(), 60n);
    await mine.failed(row, lastOf(row, 'open'), 'listing');
    await mine.void(row, 'price_changed', '', 2);
    expect(await opened.run('SELECT lamports, lost_ms FROM debts')).to.deep.equal([{ lamports: FEE, lost_ms: 7n }]);
    expect(await stored()).to.include({ lost_fees: 0n, listing_fees: FEE });
  });

  describe('of bytes that a relay signs again with the same blockhash', () => {
    for (const kind of ['refund', 'return'] as const) {
      it(`are not lost again: a ${kind} that waits is sent with the next blockhash`, async () => {
        node.error = UNUSABLE;
        const row = await begin(kind);
        expect(await WAYS[kind](mine, row)).to.equal('rest');
        expect([row.refund_state ?? null, node.sent.length]).to.deep.equal(['pending', 1]);
        // The account is there again, and the wallet has repaid.
        node.own = vault(caller);
        await opened.run('UPDATE executions SET repaid_lamports = lost_fees, opened_at = 1');
        const refused = lastOf(row, kind);
        node.sign = () => refused as ReturnType<typeof signed>;
        const waiting = await stored();
        expect(waiting.refund_state).to.equal('waiting');
        for (let looks = 0; looks < 3; looks += 1) expect(await WAYS[kind](mine, waiting)).to.equal('rest');
        expect(node.sent).to.deep.equal([refused.signature]);
        expect(await stored()).to.deep.equal(waiting);
        node.sign = signed;
        await WAYS[kind](mine, waiting);
        expect(node.sent).to.have.length(2);
        expect(lastOf(await stored(), kind).signature).to.equal(node.sent[1]);
      });

      it(`are not lost again: a ${kind} that failed for another reason waits for the next blockhash`, async () => {
        const row = await begin(kind);
        const refused = lastOf(row, kind);
        node.sign = () => refused as ReturnType<typeof signed>;
        for (let looks = 0; looks < 3; looks += 1) expect(await WAYS[kind](mine, row)).to.equal('wait');
        expect(await stored()).to.include({ rebuilds: 0n, lost_fees: FEE });
        expect((await stored()).transactions.filter((one) => one.kind === kind)).to.have.length(1);
        node.sign = signed;
        await WAYS[kind](mine, row);
        expect(await stored()).to.include({ rebuilds: 1n, lost_fees: FEE });
      });
    }
  });
});
