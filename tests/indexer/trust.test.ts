/**
 * The indexer's trust in logs, on a real node. Forged log lines change nothing. After a truncated log it reads the
 * accounts. It stops at an event that it does not know.
 */
import { createHash } from 'node:crypto';
import type { Signer, TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import { decodeEvent } from '../../app/sdk/program/events.ts';
import idlJson from '../../app/sdk/program/idl/marketplace.json' with { type: 'json' };
import { closeExecution, constants, findDispute, findExecution, PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { until } from '../harness/edge/until.ts';
import { printed, relayed } from '../harness/vm/caller.ts';
import { TEST_CALLER_ID } from '../harness/vm/outcome.ts';
import { createAftermath, readAccount } from './aftermath.ts';
import { deployTestCaller, logsOf, sendUnheard as sendCut } from './caller.ts';
import { dump, executionIn, query, useBench } from './harness.ts';
import { NO_KEY } from './market.ts';

describe('indexer, trust', () => {
  const { market, bench, rpc, start } = useBench();
  before(async () => {
    await deployTestCaller(market.node);
    await market.list();
  });
  const sendUnheard = (instructions: TransactionInstruction[], ...signers: Signer[]) =>
    sendCut(market, instructions, ...signers);

  it('stops at an unknown event, and names the transaction', async () => {
    const known = new Set(idlJson.events.map(({ discriminator }) => Buffer.from(discriminator).toString('hex')));
    const unknown = createHash('sha256').update('event:Unheard').digest().subarray(0, 8);
    expect(known).to.not.include(unknown.toString('hex'));
    let failure: Error | null = null;
    // Printed by the program that this indexer follows.
    const indexer = await bench.start('unknown.db', {
      programId: TEST_CALLER_ID,
      onFailure: (error) => {
        failure = error;
      },
    });
    const signature = await market.send([printed(unknown, 'unheard')], market.creator);
    await until('failed', async () => (await indexer.status()).state === 'failed');
    expect(String(failure)).to.include(signature).and.to.include('unknown event');
    expect((await indexer.status()).error).to.include(signature);
    const reached = await indexer.caughtUpTo(1, 1_000).catch((error: Error) => error.message);
    expect(reached).to.include(signature);
    await bench.stop(indexer);
    expect((await dump(bench.path('unknown.db'))).cursor!.map((row) => row.signature)).to.not.include(signature);
  });

  it('ignores event-like log lines of another program', async () => {
    const indexer = await bench.start('forged.db');
    await bench.catchUp(indexer);
    const before = await dump(bench.path('forged.db'));
    // A forged copy of the listing's event, with another status. It is printed at the top level and two levels down,
    // after a line that claims a call of the marketplace. The same transaction also really calls the marketplace.
    const event = idlJson.events.find(({ name }) => name === 'ListingStatusChanged')!;
    const forged = Buffer.from([...event.discriminator, ...market.listing.toBytes(), 2]);
    expect(decodeEvent(forged)).to.deep.include({ name: 'ListingStatusChanged' });
    const line = `Program ${PROGRAM_ID} invoke [1]`;
    const forgery = [printed(forged, line), relayed(printed(forged, line), 2), printed(forged, line)];
    const beside = await market.send(
      [...forgery, market.statusInstruction('paused'), ...forgery.slice(0, 1)],
      market.creator,
    );
    const lookalikes = (await logsOf(market, beside)).filter(
      (text) => text === `Program data: ${forged.toString('base64')}`,
    );
    expect(lookalikes).to.have.length(5);
    await bench.catchUp(indexer);
    const after = await dump(bench.path('forged.db'));
    const [row] = before.listings!;
    expect(after.listings).to.deep.equal([{ ...row, status: 'paused', slot: after.listings![0]!.slot }]);
    // The genuine event came from the log: no account had to be read.
    const added = after.events!.slice(before.events!.length);
    expect(added).to.have.length(1);
    expect(added[0]).to.deep.include({ signature: beside, name: 'ListingStatusChanged', event_index: 0n });
    await market.send([market.statusInstruction('active')], market.creator);
    await bench.stop(indexer);
  });

  it('shows the remaining bond after the rent was raised, from the log and from the account', async () => {
    const { node, caller, admin } = market;
    const aftermath = createAftermath(market);
    const opened = await market.open();
    await market.settle(opened);
    await market.send([aftermath.dispute(opened)], caller);
    const dispute = findDispute(findExecution(opened.executionId));
    const { data, lamports } = (await node.connection.getAccountInfo(dispute, 'confirmed'))!;
    const perByte = (lamports - 4_000_000) / (128 + data.length);
    await node.rpc('surfnet_setRent', [{ lamportsPerByte: Math.floor(perByte) }]);
    const live = await bench.start('bond.db');
    await market.send([aftermath.resolve(opened, admin.publicKey, false, 0n)], admin);
    await bench.catchUp(live);
    await bench.stop(live);
    const held = await readAccount(market, 'Dispute', dispute);
    const row = { dispute: dispute.toBase58(), outcome: 'rejected', bond: held!.bond, bond_paid: 10_000_000n };
    expect(held!.bond > 0n && held!.bond < 10_000_000n).to.equal(true);
    expect((await dump(bench.path('bond.db'))).disputes![0]).to.deep.include(row);
    for (const lost of ['DELETE FROM cursor', 'DELETE FROM cursor; DELETE FROM events']) {
      await query(bench.path('bond.db'), lost);
      expect((await bench.backfill('bond.db')).disputes![0]).to.deep.include(row);
    }
    await node.rpc('surfnet_setRent', [{ lamportsPerByte: 5_080 }]);
  });

  it('skips a record whose open was not in the log and that was closed before it is read', async () => {
    const { caller, node } = market;
    const live = await bench.start('gone.db');
    const { execution, instruction } = await market.openInstruction(NO_KEY);
    const { executionId, rentSponsor } = execution;
    await sendUnheard([instruction], caller);
    await bench.catchUp(live);
    await market.send([market.refundInstruction(execution, 'creatorFailed')], market.relay);
    await node.timeTravel((await node.now()) + constants.recordSecondsMin + 1);
    await market.send([closeExecution({ executionId, rentSponsor })], caller);
    await bench.catchUp(live);
    const heard = await dump(bench.path('gone.db'));
    expect(executionIn(heard, execution)).to.deep.include({ status: 'refunded', reason: 0n, closed: 1n });

    // A backfill reads the accounts of final transactions at finality. The record must be gone at finality too.
    const slot = await node.connection.getSlot('confirmed');
    await until('final', async () => (await node.connection.getSlot('finalized')) >= slot);
    const late = await bench.backfill('gone-late.db');
    expect(executionIn(late, execution)).to.equal(undefined);
    expect(late.unread_accounts!.map(({ address }) => address)).to.deep.equal([findExecution(executionId).toBase58()]);
    expect(late.events).to.deep.equal(heard.events);

    await bench.stop(live);
  });

  it('refuses a database of another chain or program', async () => {
    await bench.backfill('mine.db');
    rpc.onCall(({ method }) =>
      method === 'getGenesisHash' ? { json: { jsonrpc: '2.0', id: '1', result: TEST_CALLER_ID.toBase58() } } : null,
    );
    const refusal = await start('mine.db').catch((error: Error) => error.message);
    expect(refusal).to.include('genesis hash').and.to.include('delete index.db');
    const program = await bench.start('mine.db', { programId: TEST_CALLER_ID }).catch((error: Error) => error.message);
    expect(program).to.include(PROGRAM_ID.toBase58());
    expect(await query(bench.path('mine.db'), 'SELECT count(*) AS n FROM executions')).to.not.deep.equal([{ n: 0n }]);
  });
});
