/**
 * Everything that can happen to settings, listings, grants and executions, indexed twice on a real node: once from events,
 * once with every log cut, so that only accounts and instructions tell. Both must show the same rows, which are those of
 * the accounts, and both must come out the same from a new start.
 */
import { Keypair, PublicKey, type Signer, type TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { formatUuid } from '../../app/sdk/receipt/receipt.ts';
import type { Indexer } from '../../indexer/indexer.ts';
import { openIndex } from '../../indexer/open.ts';
import { createAftermath, EVIDENCE_HASH, EVIDENCE_URI, REASON_HASH, readAccount } from './aftermath.ts';
import { deployTestCaller, sendUnheard } from './caller.ts';
import { dump, IndexerBench, type Row, withoutSlots } from './harness.ts';
import { type Market, NO_KEY, type OpenedExecution, PRICE, startMarket } from './market.ts';

const DAY = 86_400;
const TABLES = ['configs', 'creators', 'listings', 'grants', 'executions', 'disputes'];

/**
 * Without what depends on when accounts were read: slots, and of what is gone the last figure of a grant and the exact
 * second of a refund.
 */
const comparable = (rows: Row[]): Row[] =>
  withoutSlots(rows).map((row) => {
    if (row.closed !== 1n) return row;
    return 'total_spent' in row ? { ...row, total_spent: null } : { ...row, settled_at: null };
  });

for (const how of ['heard', 'cut'] as const) {
  describe(`indexer, the whole story, logs ${how}`, () => {
    let market: Market;
    let bench: IndexerBench;
    let indexer: Indexer;
    let aftermath: ReturnType<typeof createAftermath>;
    let admin: Keypair;
    let keyId: Uint8Array;
    let usedKey: Uint8Array;
    let disputed: OpenedExecution[];
    let refunded: OpenedExecution;

    before(async () => {
      market = await startMarket();
      await deployTestCaller(market.node);
      bench = new IndexerBench(market.node);
      aftermath = createAftermath(market);
      indexer = await bench.start('live.db');
      admin = market.admin;
    });
    after(async () => {
      await bench?.close();
      await market?.node.stop();
    });

    const send = async (instructions: TransactionInstruction[], ...signers: Signer[]): Promise<string> => {
      const signature = await (how === 'heard'
        ? market.send(instructions, ...signers)
        : sendUnheard(market, instructions, ...signers));
      await bench.catchUp(indexer);
      return signature;
    };
    const tables = () => dump(bench.path('live.db'));
    const rowOf = (table: string, column: string, value: unknown): Row =>
      tables()[table]!.find((row) => row[column] === value) ?? {};
    const config = () => tables().configs![0]!;
    const listing = () => tables().listings![0]!;
    const executionOf = ({ executionId }: OpenedExecution) =>
      rowOf('executions', 'execution_id', formatUuid(executionId));
    const disputeOf = ({ executionId }: OpenedExecution) => rowOf('disputes', 'execution_id', formatUuid(executionId));
    const grantOf = (key: Uint8Array) => rowOf('grants', 'key_id', Buffer.from(key).toString('hex'));
    const travel = async (seconds: number) => market.node.timeTravel((await market.node.now()) + seconds);

    /** Opened and settled, or refunded, with the record's account still there. */
    const settled = async (key: Uint8Array = NO_KEY): Promise<OpenedExecution> => {
      const { executionId, instruction, sponsor } = await market.openInstruction(key);
      const opened = { executionId, keyId: key, signature: await send([instruction], sponsor) };
      await send(market.settleInstructions(opened, 40), market.relay);
      return opened;
    };

    it('a marketplace whose settings change', async () => {
      await send([program.updateConfig({ admin: admin.publicKey, opensPaused: true, feeBps: 50 })], admin);
      expect(config()).to.deep.include({ opens_paused: 1n, fee_bps: 50n, pending_admin: null });
      await send([program.updateConfig({ admin: admin.publicKey, opensPaused: false })], admin);
      expect(config()).to.deep.include({ opens_paused: 0n, fee_bps: 50n });

      const next = Keypair.generate();
      await market.node.fundSol(next.publicKey, 10e9);
      const propose = (pendingAdmin: PublicKey) => program.proposeAdmin({ admin: admin.publicKey, pendingAdmin });
      await send([propose(next.publicKey)], admin);
      expect(config()).to.deep.include({ pending_admin: next.publicKey.toBase58(), admin: admin.publicKey.toBase58() });
      await send([propose(PublicKey.default)], admin);
      expect(config()).to.deep.include({ pending_admin: null });
      // Two events of one transaction: the row shows the state after both.
      await send([propose(next.publicKey), program.acceptAdmin({ pendingAdmin: next.publicKey })], admin, next);
      expect(config()).to.deep.include({ pending_admin: null, admin: next.publicKey.toBase58() });
      admin = next;

      const relayAuthority = Keypair.generate().publicKey;
      await send([program.setRelayAuthority({ admin: admin.publicKey, relayAuthority })], admin);
      expect(config()).to.deep.include({ relay_authority: relayAuthority.toBase58() });
      const back = { admin: admin.publicKey, relayAuthority: market.relay.publicKey };
      await send([program.setRelayAuthority(back)], admin);
      expect(config()).to.deep.include({ relay_authority: market.relay.publicKey.toBase58() });
    });

    it('a listing with a new signing key and more collateral', async () => {
      await send(market.listInstructions(), market.creator);
      expect(listing()).to.deep.include({ deposited: 5_000_000n, slashed: 0n, returnable_at: null });
      const { next, instructions } = market.rotateInstructions();
      await send(instructions, market.creator);
      expect(listing()).to.deep.include({ signing_key: next.toBase58(), status: 'active', collateral_returned: 0n });
      await send([aftermath.topUp(1_000_000n)], market.creator);
      expect(listing()).to.deep.include({ deposited: 6_000_000n, slashed: 0n });
    });

    it('a grant whose limits change', async () => {
      keyId = await market.grant();
      usedKey = await market.grant();
      const expiresAt = BigInt(await market.node.now()) + 100n;
      const limits = { perExecutionMax: 1n, periodMax: 2n, totalMax: 2n ** 64n - 3n, periodSeconds: 4, expiresAt };
      await send([await aftermath.updateGrant(keyId, limits)], market.caller);
      expect(grantOf(keyId)).to.deep.include({
        per_execution_max: '1',
        period_max: '2',
        total_max: '18446744073709551613',
        period_seconds: 4n,
        expires_at: expiresAt,
        revoked: 0n,
        closed: 0n,
      });
    });

    it('a dispute that is rejected', async () => {
      disputed = [await settled(), await settled(), await settled(usedKey), await settled()];
      const [first] = disputed as [OpenedExecution];
      await send([aftermath.dispute(first)], market.caller);
      const record = program.findExecution(first.executionId);
      const dispute = await readAccount(market, 'Dispute', program.findDispute(record));
      expect(disputeOf(first)).to.deep.include({
        dispute: program.findDispute(record).toBase58(),
        record: record.toBase58(),
        listing: market.listing.toBase58(),
        caller: market.caller.publicKey.toBase58(),
        evidence_hash: EVIDENCE_HASH,
        evidence_uri: EVIDENCE_URI,
        reason_hash: null,
        outcome: 'open',
        bond: 10_000_000n,
        amount_to_caller: 0n,
        amount_to_treasury: 0n,
        owed: 0n,
        opened_at: dispute!.openedAt,
        resolved_at: null,
      });
      expect(executionOf(first)).to.deep.include({ status: 'disputed', dispute_count: 1n });
      await send([aftermath.resolve(first, admin.publicKey, false, 0n)], admin);
      const resolved = await readAccount(market, 'Dispute', program.findDispute(record));
      expect(disputeOf(first)).to.deep.include({
        outcome: 'rejected',
        bond: 0n,
        reason_hash: REASON_HASH,
        evidence_uri: EVIDENCE_URI,
        resolved_at: resolved!.resolvedAt,
      });
      expect(executionOf(first)).to.deep.include({ status: 'completed', dispute_count: 1n, creator_amount: 248_750n });
      expect(listing()).to.deep.include({ deposited: 6_000_000n, slashed: 0n, status: 'active' });
    });

    it('an upheld dispute, whose slash pauses the listing', async () => {
      const [, second] = disputed as [OpenedExecution, OpenedExecution];
      // Opened and answered in one transaction.
      const answer = aftermath.resolve(second, admin.publicKey, true, 2_000_000n);
      await send([aftermath.dispute(second), answer], market.caller, admin);
      expect(disputeOf(second)).to.deep.include({
        outcome: 'upheld',
        bond: 0n,
        amount_to_caller: PRICE,
        amount_to_treasury: 2_000_000n - PRICE,
        owed: 0n,
        evidence_uri: EVIDENCE_URI,
      });
      expect(executionOf(second)).to.deep.include({ status: 'dispute_upheld', dispute_count: 1n });
      expect(listing()).to.deep.include({ deposited: 6_000_000n, slashed: 2_000_000n, status: 'paused' });
    });

    it('an award that waits until the caller can receive it', async () => {
      const [, , third] = disputed as [OpenedExecution, OpenedExecution, OpenedExecution];
      await send([aftermath.dispute(third)], market.caller);
      await market.node.setFrozen(market.source, true);
      await send([aftermath.resolve(third, admin.publicKey, true, PRICE)], admin);
      await market.node.setFrozen(market.source, false);
      expect(disputeOf(third)).to.deep.include({ outcome: 'upheld', amount_to_caller: PRICE, owed: PRICE });
      expect(listing()).to.deep.include({ slashed: 2_000_000n + PRICE });
      await send([aftermath.claim(third, market.creator.publicKey)], market.creator);
      expect(disputeOf(third)).to.deep.include({ outcome: 'upheld', amount_to_caller: PRICE, owed: 0n });
    });

    it('a refund, and a dispute that nobody answers', async () => {
      await send([aftermath.topUp(3_000_000n), market.statusInstruction('active')], market.creator);
      expect(listing()).to.deep.include({ deposited: 9_000_000n, status: 'active' });
      // Its open is heard, so that its row outlives its account.
      refunded = await market.open(usedKey);
      await send([market.refundInstruction(refunded, 'invalidAnswer')], market.relay);
      expect(executionOf(refunded)).to.deep.include({ status: 'refunded', reason: 2n, closed: 0n });
      const fourth = disputed[3]!;
      await send([aftermath.dispute(fourth)], market.caller);
      await travel(30 * DAY + 1);
      await send([aftermath.lapse(fourth)], market.caller);
      const account = await readAccount(
        market,
        'Dispute',
        program.findDispute(program.findExecution(fourth.executionId)),
      );
      const ended = { outcome: 'lapsed', bond: 0n, reason_hash: null, resolved_at: account!.resolvedAt };
      expect(disputeOf(fourth)).to.deep.include(ended);
      expect(executionOf(fourth)).to.deep.include({ status: 'completed', dispute_count: 1n });
    });

    it('accounts that are closed, and a grant that is made again', async () => {
      await send([aftermath.closeRecord(refunded, market.relay.publicKey)], market.caller);
      expect(executionOf(refunded)).to.deep.include({ status: 'refunded', reason: 2n, closed: 1n });
      await send([aftermath.closeGrant(usedKey)], market.caller);
      expect(grantOf(usedKey)).to.deep.include({
        revoked: 1n,
        closed: 1n,
        execution_count: 2n,
        total_spent: String(PRICE),
      });
      await send([aftermath.closeGrant(keyId)], market.caller);
      expect(grantOf(keyId)).to.deep.include({ revoked: 1n, closed: 1n, per_execution_max: '1' });
      await send(await market.grantInstructions(keyId), market.caller);
      expect(grantOf(keyId)).to.deep.include({ revoked: 0n, closed: 0n, execution_count: 0n, total_spent: '0' });
      expect(grantOf(keyId).per_execution_max).to.equal('18446744073709551615');
    });

    it('a listing that ends, and collateral that goes back', async () => {
      const amount = 1_000n;
      const withdraw = program.withdrawTreasury({ admin: admin.publicKey, destination: market.payout, amount });
      const before = tables();
      await send([withdraw], admin);
      for (const table of TABLES) expect(tables()[table], table).to.deep.equal(before[table]);
      await send([aftermath.delist()], market.creator);
      const collateral = await readAccount(market, 'CreatorCollateral', program.findCollateral(market.listing));
      expect(listing()).to.deep.include({ status: 'delisted', returnable_at: collateral!.returnableAt });
      expect(collateral!.returnableAt).to.not.equal(0n);
      await travel(4 * DAY);
      await send([aftermath.returnCollateral()], market.creator);
      expect(listing()).to.deep.include({ status: 'delisted', collateral_returned: 1n, deposited: 9_000_000n });
    });

    it('ends with rows that are those of the accounts', async () => {
      const { configs, listings, grants, executions, disputes, unread_accounts } = tables();
      expect([configs, listings, grants, executions, disputes].map((rows) => rows!.length)).to.deep.equal([
        1, 1, 2, 5, 4,
      ]);
      expect(unread_accounts).to.deep.equal([]);
      const held = (await readAccount(market, 'Config', program.findConfig()))!;
      expect(configs![0]).to.deep.include({
        admin: held.admin.toBase58(),
        relay_authority: held.relayAuthority.toBase58(),
        fee_bps: BigInt(held.feeBps),
        opens_paused: held.opensPaused ? 1n : 0n,
      });
      const agent = (await readAccount(market, 'AgentListing', market.listing))!;
      const book = (await readAccount(market, 'CreatorCollateral', program.findCollateral(market.listing)))!;
      expect(listings![0]).to.deep.include({
        status: agent.status,
        signing_key: agent.signingKey.toBase58(),
        listing_version: BigInt(agent.listingVersion),
        deposited: book.deposited,
        slashed: book.slashed,
        returnable_at: book.returnableAt,
        collateral_returned: book.returned ? 1n : 0n,
      });
      for (const row of grants!) {
        const grant = await readAccount(market, 'KeyGrant', new PublicKey(String(row.grant_address)));
        expect(row.closed).to.equal(grant ? 0n : 1n);
        if (grant) expect(row).to.deep.include({ created_at: grant.createdAt, expires_at: grant.expiresAt });
      }
      for (const row of executions!) {
        const record = await readAccount(market, 'ExecutionRecord', new PublicKey(String(row.record)));
        expect(row.closed).to.equal(record ? 0n : 1n);
        const status = row.status === 'dispute_upheld' ? 'disputeUpheld' : row.status;
        if (record) expect([status, row.settled_at]).to.deep.equal([record.status, record.settledAt]);
      }
      for (const row of disputes!) {
        const dispute = (await readAccount(market, 'Dispute', new PublicKey(String(row.dispute))))!;
        const { outcome, bond, owed, openedAt, resolvedAt } = dispute;
        expect(row).to.deep.include({ outcome, bond, owed, opened_at: openedAt, resolved_at: resolvedAt });
        expect(row).to.deep.include({
          amount_to_caller: dispute.amountToCaller,
          amount_to_treasury: dispute.amountToTreasury,
        });
      }
    });

    it('comes out the same from a new start, whose accounts are all from the end', async () => {
      await bench.stop(indexer);
      const live = tables();
      const rebuilt = await bench.backfill('rebuilt.db');
      if (how === 'heard') expect(rebuilt).to.deep.equal(live);
      for (const table of TABLES) expect(comparable(rebuilt[table]!), table).to.deep.equal(comparable(live[table]!));
      const [refundedAt, rebuiltAt] = [live, rebuilt].map(
        ({ executions }) => executions!.find(({ closed }) => closed === 1n)!.settled_at as bigint,
      ) as [bigint, bigint];
      expect(Math.abs(Number(rebuiltAt - refundedAt))).to.be.at.most(1);
    });

    it('does not change when everything is applied again', async () => {
      const live = tables();
      for (const lost of ['DELETE FROM cursor', 'DELETE FROM cursor; DELETE FROM events']) {
        const { sqlite, close } = openIndex(bench.path('live.db'));
        sqlite.exec(lost);
        close();
        const again = await bench.backfill('live.db');
        for (const table of TABLES)
          expect(withoutSlots(again[table]!), table).to.deep.equal(withoutSlots(live[table]!));
        if (how === 'heard') expect(again).to.deep.equal(live);
      }
    });
  });
}
