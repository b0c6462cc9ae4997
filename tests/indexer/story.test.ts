/**
 * Everything that can happen to settings, listings, grants, executions and archives, on a real node. It is indexed
 * twice: from events, and with every log cut, from accounts and instructions alone. Both must show the same rows, equal
 * to the accounts, and both must be the same after a fresh start.
 */
import { Keypair, type PublicKey, type Signer, type TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import { archiveLeaf, unclaimedLeaf } from '../../app/sdk/program/archive.ts';
import * as program from '../../app/sdk/program/program.ts';
import { formatUuid } from '../../app/sdk/receipt/receipt.ts';
import type { Indexer } from '../../indexer/indexer.ts';
import { until } from '../harness/edge/until.ts';
import { proofsOfHashes } from '../program/archiving.ts';
import { createAftermath, EVIDENCE_HASH, EVIDENCE_URI, REASON_HASH, readAccount, SERVICE_FEE } from './aftermath.ts';
import { deployTestCaller, sendUnheard } from './caller.ts';
import { dump, query, type Row, useBench, withoutSlots } from './harness.ts';
import { type Execution, GAS, NO_KEY, type OpenedExecution, PRICE } from './market.ts';

const DAY = 86_400;
const TABLES = [
  ...['configs', 'creators', 'listings', 'grants', 'executions', 'deposits', 'disputes', 'archives'],
  ...['archive_leaves', 'unclaimed_refunds'],
];

/**
 * Removes what depends on when accounts were read: slots, the bond that an ended dispute no longer holds, and some values
 * of closed accounts. Those are the last figures of a grant and the exact second of an end, a dispute or its outcome.
 */
const comparable = (rows: Row[]): Row[] =>
  withoutSlots(rows).map((read) => {
    const row = 'bond_paid' in read ? { ...read, bond_paid: null } : read;
    if (row.closed !== 1n) return row;
    if ('total_spent' in row) return { ...row, total_spent: null, execution_count: null };
    if ('expires_at' in row) return { ...row, prepared_at: null, expires_at: null, ended_at: null };
    if ('resolved_at' in row) return { ...row, opened_at: null, resolved_at: null };
    return { ...row, settled_at: null };
  });

for (const how of ['heard', 'cut'] as const) {
  describe(`indexer, the whole story, from ${how === 'heard' ? 'complete' : 'cut'} logs:`, () => {
    const { market, bench } = useBench();
    let indexer: Indexer;
    let aftermath: ReturnType<typeof createAftermath>;
    let admin: Keypair;
    let keyId: Uint8Array;
    let usedKey: Uint8Array;
    let disputed: OpenedExecution[];
    let refunded: OpenedExecution;
    let unclaimed: OpenedExecution;
    const tree = Keypair.generate();

    before(async () => {
      await deployTestCaller(market.node);
      aftermath = createAftermath(market);
      indexer = await bench.start('live.db');
      admin = market.admin;
    });
    const send = async (instructions: TransactionInstruction[], ...signers: Signer[]): Promise<string> => {
      const signature = await (how === 'heard'
        ? market.send(instructions, ...signers)
        : sendUnheard(market, instructions, ...signers));
      await bench.catchUp(indexer);
      return signature;
    };
    const tables = () => dump(bench.path('live.db'));
    const rowOf = async (table: string, column: string, value: unknown): Promise<Row> =>
      (await tables())[table]!.find((row) => row[column] === value) ?? {};
    const config = async () => (await tables()).configs![0]!;
    const listing = async () => (await tables()).listings![0]!;
    const executionOf = ({ executionId }: Execution) => rowOf('executions', 'execution_id', formatUuid(executionId));
    const disputeOf = ({ executionId }: OpenedExecution) => rowOf('disputes', 'execution_id', formatUuid(executionId));
    const grantOf = (key: Uint8Array) => rowOf('grants', 'key_id', Buffer.from(key).toString('hex'));
    const travel = async (seconds: number) => {
      const { connection } = market.node;
      const slot = await connection.getSlot('confirmed');
      // Time travel also moves the time of blocks that are not final, so wait for finality.
      await until('final', async () => (await connection.getSlot('finalized')) > slot);
      await market.node.timeTravel((await market.node.now()) + seconds);
    };

    /** Sends instructions whose log is never cut, so that the row outlives the account. */
    const sendHeard = async (instructions: TransactionInstruction[], ...signers: Signer[]): Promise<string> => {
      const signature = await market.send(instructions, ...signers);
      await bench.catchUp(indexer);
      return signature;
    };
    /** Opens, with an uncut log, and settles. */
    const settled = async (key: Uint8Array = NO_KEY, lender?: 'gasBalance'): Promise<OpenedExecution> => {
      const { execution, instruction, signer } = await market.openInstruction(key, lender);
      const signature = await sendHeard([instruction], signer);
      await send([market.settleInstruction(execution, 40)], market.relay);
      return { ...execution, signature };
    };

    it('shows a marketplace whose settings change', async () => {
      await send([program.updateConfig({ admin: admin.publicKey, feeBps: 50, recordSeconds: 4_000 })], admin);
      expect(await config()).to.deep.include({ record_seconds: 4_000n });

      const next = Keypair.generate();
      await market.node.fundSol(next.publicKey, 10e9);
      const nextAdmin = next.publicKey;
      const propose = (changeId: bigint, change: Partial<program.ProposeChangeInput>) =>
        program.proposeChange({ admin: admin.publicKey, payer: admin.publicKey, changeId, ...change });
      const of = (changeId: bigint) => ({ changeId, rentSponsor: admin.publicKey });
      const cancel = program.cancelChange({ authority: admin.publicKey, ...of(1n) });
      await send([propose(1n, { nextAdmin }), cancel], admin);
      expect(await config()).to.deep.include({ admin: admin.publicKey.toBase58() });
      // Two events of one transaction: the row shows the state after both.
      await send([propose(2n, { nextAdmin }), program.acceptAdmin({ nextAdmin, ...of(2n) })], admin, next);
      expect(await config()).to.deep.include({ admin: nextAdmin.toBase58() });
      admin = next;
      await send([program.cancelAllChanges({ authority: nextAdmin })], admin);

      const relays = async () => JSON.parse(String((await config()).relay_authorities));
      const others = Array.from({ length: 7 }, () => Keypair.generate().publicKey);
      await travel(1);
      const add = propose(3n, { addedRelayAuthorities: others });
      await send([add, program.applyChange(of(3n))], admin);
      expect(await relays()).to.deep.equal([market.relay.publicKey, ...others].map((key) => key.toBase58()));
      const remove = (relayAuthority: PublicKey) =>
        program.removeRelayAuthority({ authority: nextAdmin, relayAuthority });
      await send(others.map(remove), admin);
      expect(await relays()).to.deep.equal([market.relay.publicKey.toBase58()]);
    });

    it('shows a creator with a badge, and a listing with new terms, a new signing key and more collateral', async () => {
      await send([market.listInstruction()], market.creator);
      const creator = market.creator.publicKey;
      const people = { admin: admin.publicKey, payer: admin.publicKey, creator };
      for (const verified of [true, false]) {
        await send([program.setCreatorVerified({ ...people, verified })], admin);
        const row = await rowOf('creators', 'wallet', creator.toBase58());
        expect(row).to.deep.include({ verified: verified ? 1n : 0n });
        expect(row.verified_at === 0n).to.equal(!verified);
      }
      await send([market.updateInstruction(PRICE + 1n), market.statusInstruction('paused')], market.creator);
      expect(await listing()).to.deep.include({ price: PRICE + 1n, listing_version: 2n, status: 'paused' });
      await send([market.updateInstruction(PRICE), market.statusInstruction('active')], market.creator);
      expect(await listing()).to.deep.include({ price: PRICE, listing_version: 3n, status: 'active' });
      expect(await listing()).to.deep.include({ deposited: 5_000_000n, slashed: 0n, returnable_at: null });
      const { next, instruction } = market.rotateInstruction();
      await send([instruction], market.creator);
      expect(await listing()).to.deep.include({
        signing_key: next.toBase58(),
        status: 'active',
        collateral_returned: 0n,
      });
      await send([aftermath.topUp(1_000_000n)], market.creator);
      expect(await listing()).to.deep.include({ deposited: 6_000_000n, slashed: 0n });
    });

    it('shows a grant whose expiry changes', async () => {
      keyId = await market.grant();
      usedKey = await market.grant();
      const expiresAt = BigInt(await market.node.now()) + 100n;
      const limits = {
        perExecutionMax: 1n,
        periodMax: 2n,
        totalMax: 2n ** 64n - 3n,
        periodSeconds: 4,
        expiresAt,
        maxGasLamports: 5,
      };
      await send([await aftermath.updateGrant(keyId, limits)], market.caller);
      expect(await grantOf(keyId)).to.deep.include({
        expires_at: expiresAt,
        revoked: 0n,
        closed: 0n,
      });
    });

    it('shows a dispute that is rejected', async () => {
      disputed = [await settled(), await settled(), await settled(usedKey, 'gasBalance'), await settled()];
      const gasBalance = program.findSpender(market.caller.publicKey).toBase58();
      const rows = await Promise.all(disputed.map((opened) => executionOf(opened)));
      const sponsors = rows.map(({ rent_sponsor }) => rent_sponsor);
      expect(sponsors).to.deep.equal(
        [0, 1, 2, 3].map((at) => (at === 2 ? gasBalance : market.caller.publicKey.toBase58())),
      );
      for (const opened of disputed) expect(await executionOf(opened)).to.deep.include({ gas_lamports: BigInt(GAS) });
      const [first] = disputed as [OpenedExecution];
      await send([aftermath.dispute(first)], market.caller);
      const record = program.findExecution(first.executionId);
      const dispute = await readAccount(market, 'Dispute', program.findDispute(record));
      expect(await disputeOf(first)).to.deep.include({
        dispute: program.findDispute(record).toBase58(),
        record: record.toBase58(),
        listing: market.listing.toBase58(),
        caller: market.caller.publicKey.toBase58(),
        evidence_hash: EVIDENCE_HASH,
        evidence_uri: EVIDENCE_URI,
        reason_hash: null,
        outcome: 'open',
        bond: 10_000_000n,
        bond_paid: 10_000_000n,
        amount_to_caller: 0n,
        amount_slashed: 0n,
        owed: 0n,
        opened_at: dispute!.openedAt,
        resolved_at: null,
      });
      expect(await executionOf(first)).to.deep.include({ status: 'disputed', dispute_count: 1n });
      await send([aftermath.resolve(first, admin.publicKey, false, 0n)], admin);
      const resolved = await readAccount(market, 'Dispute', program.findDispute(record));
      expect(await disputeOf(first)).to.deep.include({
        outcome: 'rejected',
        bond: 0n,
        bond_paid: 10_000_000n,
        reason_hash: REASON_HASH,
        evidence_uri: EVIDENCE_URI,
        resolved_at: resolved!.resolvedAt,
      });
      expect(await executionOf(first)).to.deep.include({
        status: 'completed',
        dispute_count: 1n,
        creator_amount: 248_750n,
        platform_amount: 1_250n,
        reason: null,
      });
      expect(await listing()).to.deep.include({ deposited: 6_000_000n, slashed: 0n, status: 'active' });
    });

    it('shows an upheld dispute whose slash pauses the listing', async () => {
      const [, second] = disputed as [OpenedExecution, OpenedExecution];
      // The dispute is opened and resolved in one transaction.
      const answer = aftermath.resolve(second, admin.publicKey, true, 2_000_000n);
      await send([aftermath.dispute(second), answer], market.caller, admin);
      expect(await disputeOf(second)).to.deep.include({
        outcome: 'upheld',
        bond: 0n,
        bond_paid: how === 'heard' ? 10_000_000n : null,
        amount_to_caller: PRICE,
        amount_slashed: 2_000_000n,
        owed: 0n,
        evidence_uri: EVIDENCE_URI,
      });
      expect(await executionOf(second)).to.deep.include({ status: 'dispute_upheld', dispute_count: 1n });
      const taken = { slashed: 2_000_000n, forfeited: 2_000_000n - PRICE };
      expect(await listing()).to.deep.include({ deposited: 6_000_000n, ...taken, status: 'paused' });
    });

    it('shows an award that waits until the caller can receive it', async () => {
      const [, , third] = disputed as [OpenedExecution, OpenedExecution, OpenedExecution];
      await send([aftermath.dispute(third)], market.caller);
      await market.node.setFrozen(market.source, true);
      await send([aftermath.resolve(third, admin.publicKey, true, PRICE)], admin);
      await market.node.setFrozen(market.source, false);
      expect(await disputeOf(third)).to.deep.include({ outcome: 'upheld', amount_to_caller: PRICE, owed: PRICE });
      expect(await listing()).to.deep.include({ slashed: 2_000_000n + PRICE });
      await send([aftermath.claim(third, market.creator.publicKey)], market.creator);
      expect(await disputeOf(third)).to.deep.include({ outcome: 'upheld', amount_to_caller: PRICE, owed: 0n });
    });

    it('shows more collateral, a refund by a stranger, and lamports withdrawn from the gas balance', async () => {
      await send([aftermath.topUp(3_000_000n), market.statusInstruction('active')], market.creator);
      expect(await listing()).to.deep.include({ deposited: 9_000_000n, status: 'active' });
      const { execution, instruction, signer } = await market.openInstruction(usedKey, 'gasBalance');
      await send([instruction], signer);
      await travel(700);
      const before = (await tables()).executions;
      await send([aftermath.withdrawGas(1_000_000n)], market.caller);
      expect((await tables()).executions).to.deep.equal(before);
      const { publicKey } = market.creator;
      const signature = await send([market.refundInstruction(execution, 'creatorFailed', publicKey)], market.creator);
      expect(await rowOf('executions', 'execution_id', formatUuid(execution.executionId))).to.deep.include({
        status: 'refunded',
        reason: 5n,
        gas_lamports: BigInt(GAS),
        end_signature: signature,
        closed: 0n,
      });
      expect(await grantOf(usedKey)).to.deep.include({ execution_count: 2n, total_spent: String(PRICE) });
    });

    it('shows a refund, and a dispute that nobody answers', async () => {
      const { execution, instruction, signer } = await market.openInstruction(NO_KEY);
      refunded = { ...execution, signature: await sendHeard([instruction], signer) };
      await send([market.refundInstruction(refunded, 'invalidAnswer')], market.relay);
      const nothing = { result_hash: null, creator_amount: 0n, platform_amount: 0n, execution_time_ms: null };
      const shown = { status: 'refunded', reason: 2n, key_id: null, closed: 0n, ...nothing };
      expect(await executionOf(refunded)).to.deep.include(shown);
      const fourth = disputed[3]!;
      await send([aftermath.dispute(fourth)], market.caller);
      await travel(30 * DAY + 1);
      await send([aftermath.lapse(fourth)], market.caller);
      const account = await readAccount(
        market,
        'Dispute',
        program.findDispute(program.findExecution(fourth.executionId)),
      );
      const ended = {
        outcome: 'lapsed',
        bond: 0n,
        bond_paid: 10_000_000n,
        reason_hash: null,
        resolved_at: account!.resolvedAt,
      };
      expect(await disputeOf(fourth)).to.deep.include(ended);
      expect(await executionOf(fourth)).to.deep.include({ status: 'completed', dispute_count: 1n });
    });

    it('shows deposits: one opens an execution, one is refunded after it expired, one at once', async () => {
      const { price } = (await readAccount(market, 'AgentListing', market.listing))!;
      const quoted = async () => {
        const { execution, terms } = await market.openInstruction(NO_KEY);
        return { execution: { ...execution, rentSponsor: market.relay.publicKey }, ...aftermath.deposit(terms, price) };
      };
      const depositOf = ({ address }: { address: PublicKey }) => rowOf('deposits', 'deposit', address.toBase58());
      const waiting = { status: 'prepared', ended_at: null, end_signature: null, closed: 0n };

      const paid = await quoted();
      await send([paid.prepare], market.relay);
      const account = (await readAccount(market, 'Deposit', paid.address))!;
      expect(await depositOf(paid)).to.deep.include({
        ...waiting,
        caller: market.caller.publicKey.toBase58(),
        rent_sponsor: market.relay.publicKey.toBase58(),
        price: String(price),
        service_fee: SERVICE_FEE,
        prepared_at: account.preparedAt,
        expires_at: account.expiresAt,
      });
      await market.send([paid.pay], market.caller);
      const opened = await send([paid.open], market.relay);
      const ended = { end_signature: opened, closed: 1n };
      expect(await depositOf(paid)).to.deep.include({ status: 'opened', ...ended });
      const shown = { status: 'open', deposit: paid.address.toBase58(), open_signature: opened, price };
      expect(await executionOf(paid.execution)).to.deep.include(shown);
      await send([market.settleInstruction(paid.execution, 42)], market.relay);
      expect(await executionOf(paid.execution)).to.deep.include({ ...shown, status: 'completed' });

      const expired = await quoted();
      await send([expired.prepare], market.relay);
      await market.send([expired.pay], market.caller);
      await travel(601);
      const refunded = await send([expired.refund(market.creator.publicKey)], market.creator);
      expect(await depositOf(expired)).to.deep.include({ status: 'refunded', end_signature: refunded, closed: 1n });
      await send([expired.prepare], market.relay);
      expect(await depositOf(expired)).to.deep.include(waiting);

      const brief = await quoted();
      const both = await send([brief.prepare, brief.refund(market.relay.publicKey)], market.relay);
      const gone = { status: 'refunded', end_signature: both, closed: 1n, price: String(price) };
      expect(await depositOf(brief)).to.deep.include(gone);
    });

    it('shows closed accounts, and a grant that is created again', async () => {
      await send([aftermath.closeRecord(refunded)], market.caller);
      expect(await executionOf(refunded)).to.deep.include({ status: 'refunded', reason: 2n, closed: 1n });
      const { publicKey: wallet } = market.caller;
      await send([program.revokeGrant({ authority: wallet, wallet, keyId: usedKey })], market.caller);
      expect(await grantOf(usedKey)).to.deep.include({ revoked: 1n, closed: 0n, total_spent: String(PRICE) });
      await send([aftermath.closeGrant(usedKey)], market.caller);
      expect(await grantOf(usedKey)).to.deep.include({
        revoked: 1n,
        closed: 1n,
        execution_count: 2n,
        total_spent: String(PRICE),
      });
      await send([aftermath.closeGrant(keyId)], market.caller);
      expect(await grantOf(keyId)).to.deep.include({ revoked: 1n, closed: 1n });
      await send(await market.grantInstructions(keyId), market.caller);
      expect(await grantOf(keyId)).to.deep.include({ revoked: 0n, closed: 0n, execution_count: 0n, total_spent: '0' });
    });

    it('shows ended executions that become leaves, one of them known from its leaf alone', async () => {
      const { execution: leaf, instruction, signer } = await market.openInstruction(NO_KEY);
      await send([instruction], signer);
      await send([market.settleInstruction(leaf, 41)], market.relay);
      await send([aftermath.dispute(leaf)], market.caller);
      await send([aftermath.resolve(leaf, admin.publicKey, false, 0n)], admin);
      await travel(4 * DAY);
      const rent = await market.node.connection.getMinimumBalanceForRentExemption(program.constants.archiveTreeBytes);
      await send(aftermath.createArchive(tree.publicKey, rent), market.caller, tree);
      const archive = {
        archive: program.findArchive(0).toBase58(),
        archive_index: 0n,
        tree: tree.publicKey.toBase58(),
      };
      expect((await tables()).archives![0]).to.deep.include({ ...archive, leaf_count: 0n });
      const [first, second] = disputed as [OpenedExecution, OpenedExecution];
      // Two transactions, as of two strangers. The second also names an execution that is archived already.
      for (const batch of [[first], [leaf, first, second]]) {
        const before = await Promise.all(batch.map((one) => executionOf(one)));
        const records = await Promise.all(
          batch.map(({ executionId }) => readAccount(market, 'ExecutionRecord', program.findExecution(executionId))),
        );
        const signature = await send([aftermath.archive(tree.publicKey, batch)], market.caller);
        for (const [at, one] of batch.entries()) {
          const { slot, ...kept } = before[at]!;
          expect(await executionOf(one)).to.deep.include({ ...kept, closed: 1n });
          const execution = records[at];
          if (!execution) continue;
          const record = program.findExecution(one.executionId);
          expect(await rowOf('archive_leaves', 'record', record.toBase58())).to.deep.include({
            tree: archive.tree,
            execution_id: formatUuid(one.executionId),
            leaf: Buffer.from(archiveLeaf(record, execution)).toString('hex'),
            signature,
          });
        }
      }
      const leaves = (await tables()).archive_leaves!.map(({ leaf_index, execution_id }) => [leaf_index, execution_id]);
      expect(leaves).to.deep.equal([first, leaf, second].map((one, at) => [BigInt(at), formatUuid(one.executionId)]));
      expect((await tables()).archives![0]).to.deep.include({ ...archive, leaf_count: 3n });
      expect(await executionOf(first)).to.deep.include({ status: 'completed', dispute_count: 1n });
      expect(await executionOf(second)).to.deep.include({ status: 'dispute_upheld', dispute_count: 1n });
    });

    it('shows unclaimed refunds of an execution and a deposit as leaves, and their claims', async () => {
      const { execution, instruction, signer } = await market.openInstruction(NO_KEY);
      const stuck = { ...execution, signature: await sendHeard([instruction], signer) };
      const { terms } = await market.openInstruction(NO_KEY);
      const { price } = (await readAccount(market, 'AgentListing', market.listing))!;
      const deposit = aftermath.deposit(terms, price);
      await send([deposit.prepare], market.relay);
      await market.send([deposit.pay], market.caller);
      await travel(5_000);
      await market.node.setFrozen(market.source, true);
      const { creator, caller } = market;
      const moved = await send([aftermath.move(stuck, creator.publicKey, tree.publicKey)], creator);
      const both = await send([deposit.move(creator.publicKey, tree.publicKey)], creator);
      await market.node.setFrozen(market.source, false);
      expect(await executionOf(stuck)).to.deep.include({ status: 'refunded', reason: 5n, end_signature: moved });
      const ended = { status: 'refunded', end_signature: both, closed: 1n };
      expect(await rowOf('deposits', 'deposit', deposit.address.toBase58())).to.deep.include(ended);
      const record = program.findExecution(stuck.executionId);
      const sources = [
        [record, moved, price],
        [deposit.address, both, price + SERVICE_FEE],
      ] as const;
      const hashes = (await tables()).archive_leaves!.map(({ leaf }) => Buffer.from(String(leaf), 'hex'));
      const refunds: program.UnclaimedRefund[] = [];
      for (const [at, [source, signature, amount]] of sources.entries()) {
        const row = (await rowOf('unclaimed_refunds', 'source', source.toBase58()))!;
        const refund = { source, caller: caller.publicKey, amount, unclaimedAt: row.unclaimed_at as bigint };
        const leaf = Buffer.from(unclaimedLeaf(refund));
        const { slot, ...shown } = row;
        expect(shown).to.deep.equal({
          claim: program.findRefundClaim(tree.publicKey, 3 + at).toBase58(),
          tree: tree.publicKey.toBase58(),
          leaf_index: BigInt(3 + at),
          leaf: leaf.toString('hex'),
          source: source.toBase58(),
          caller: caller.publicKey.toBase58(),
          amount,
          unclaimed_at: refund.unclaimedAt,
          signature,
          claimed_at: null,
        });
        hashes.push(leaf);
        refunds.push(refund);
      }
      expect((await tables()).archives![0]).to.deep.include({ leaf_count: 5n });
      const proof = proofsOfHashes(hashes)[4]!.proof;
      const place = { archiveIndex: 0, tree: tree.publicKey, leafIndex: 4, proof };
      const people = { payer: caller.publicKey, destination: market.source };
      await send([program.claimRefund({ ...place, ...people, refund: refunds[1]! })], caller);
      const row = await rowOf('unclaimed_refunds', 'source', deposit.address.toBase58());
      expect(row!.claimed_at).to.be.a('bigint');
      const open = await rowOf('unclaimed_refunds', 'source', record.toBase58());
      expect(open).to.deep.include({ claimed_at: null });
    });

    it('shows a dispute whose account is closed after its execution', async () => {
      const [first] = disputed as [OpenedExecution];
      await send([aftermath.closeDispute(first)], market.caller);
      expect(await disputeOf(first)).to.deep.include({
        outcome: 'rejected',
        bond: 0n,
        bond_paid: 10_000_000n,
        reason_hash: REASON_HASH,
        closed: 1n,
      });
    });

    it('shows forfeits that went to the treasury', async () => {
      const kept = await listing();
      expect(kept).to.deep.include({ forfeited: 2_000_000n - PRICE });
      await send([aftermath.sweepForfeits()], market.caller);
      expect(await listing()).to.deep.equal({ ...kept, forfeited: 0n, slot: (await listing()).slot });
    });

    it('shows a delisted listing whose collateral is returned', async () => {
      const amount = 1_000n;
      const withdraw = program.withdrawTreasury({ admin: admin.publicKey, destination: market.payout, amount });
      const before = await tables();
      await send([withdraw], admin);
      for (const table of TABLES) expect((await tables())[table], table).to.deep.equal(before[table]);
      await send([aftermath.delist()], market.creator);
      const collateral = await readAccount(market, 'CreatorCollateral', program.findCollateral(market.listing));
      expect(await listing()).to.deep.include({ status: 'delisted', returnable_at: collateral!.returnableAt });
      expect(collateral!.returnableAt).to.not.equal(0n);
      await travel(4 * DAY);
      await send([aftermath.returnCollateral()], market.creator);
      expect(await listing()).to.deep.include({ status: 'delisted', collateral_returned: 1n, deposited: 9_000_000n });
    });

    it('shows a paid execution that nobody archived in a year', async () => {
      unclaimed = disputed[2]!;
      const before = await executionOf(unclaimed);
      await travel(program.constants.unarchivedRecordSeconds);
      await send([aftermath.closeRecord(unclaimed)], market.caller);
      expect(await executionOf(unclaimed)).to.deep.equal({
        ...before,
        closed: 1n,
        slot: (await executionOf(unclaimed)).slot,
      });
      expect(before).to.deep.include({ status: 'dispute_upheld', creator_amount: 248_750n, execution_time_ms: 40n });
    });

    it('ends with the rows of the accounts', async () => {
      const { configs, listings, grants, executions, deposits, disputes, unread_accounts } = await tables();
      const counted = [configs, listings, grants, executions, deposits, disputes].map((rows) => rows!.length);
      expect(counted).to.deep.equal([1, 1, 2, 9, 4, 5]);
      expect(unread_accounts).to.deep.equal([]);
      expect(await bench.verified('live.db')).to.be.at.least(15);
    });

    it('produces the same rows after a fresh start from the final accounts', async () => {
      await bench.stop(indexer);
      const live = await tables();
      const rebuilt = await bench.backfill('rebuilt.db');
      if (how === 'heard') expect(rebuilt).to.deep.equal(live);
      for (const table of TABLES) expect(comparable(rebuilt[table]!), table).to.deep.equal(comparable(live[table]!));
      const times = (all: Record<string, Row[]>) => [
        ...all.executions!.map(({ settled_at }) => Number(settled_at)),
        ...all.disputes!.flatMap(({ opened_at, resolved_at }) => [Number(opened_at), Number(resolved_at)]),
      ];
      const later = times(live);
      for (const [at, time] of times(rebuilt).entries()) expect(time).to.be.closeTo(later[at]!, 1);
    });

    it('does not change when everything is applied again', async () => {
      const live = await tables();
      for (const lost of ['DELETE FROM cursor', 'DELETE FROM cursor; DELETE FROM events']) {
        await query(bench.path('live.db'), lost);
        const again = await bench.backfill('live.db');
        for (const table of TABLES)
          expect(withoutSlots(again[table]!), table).to.deep.equal(withoutSlots(live[table]!));
        if (how === 'heard') expect(again).to.deep.equal(live);
      }
    });
  });
}
