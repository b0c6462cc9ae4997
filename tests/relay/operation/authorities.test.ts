/**
 * A relay authority that is removed from Config, on the real node. Its signed transactions fail, and another relay of
 * the same ledger signs them anew. Nothing is parked, and nothing is paid twice.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import type { RunningRelay } from '../../../app/relay/start.ts';
import { findSpender } from '../../../app/sdk/program/program.ts';
import { until } from '../../harness/edge/until.ts';
import { type Answer, FEE, PRICE, request, useMarketplace } from '../../harness/node/marketplace.ts';
import { replaceRelayAuthorities } from '../../harness/node/relayAuthorities.ts';
import { startRelayHere } from '../../harness/node/relayHere.ts';
import { type Kind, useRpcProxy } from '../../harness/node/rpcProxy.ts';

/** Of an end with its share of the archive, lamports. */
const END = 5_700;
const SIGNATURE = 5_000;

describe('a relay authority that is removed', () => {
  const successor = Keypair.generate();
  let removed: RunningRelay;
  let named: RunningRelay;
  /** Kind of the transactions that are held before the node, from the relay whose authority is removed. */
  let holds: Kind | null = null;
  let held: (() => void)[] = [];

  // A held transaction must not expire.
  const market = useMarketplace({ here: true, slotTimeMs: 400 });
  const proxy = useRpcProxy(market);
  before(async () => {
    await market.relay.kill();
    proxy.onCall(async ({ kind }) => {
      if (kind !== null && kind === holds) await new Promise<void>((resolve) => held.push(resolve));
      return null;
    });
    await market.node.fundSol(successor.publicKey, 10e9);
    await market.node.fundSol(findSpender(market.callers[0]!.wallet.publicKey), 1e9);
  });
  beforeEach(async () => {
    holds = null;
    held = [];
    market.setBehaviour(null);
    await setAuthorities(market.authority, successor);
    const path = join(market.dataDir, 'successor.json');
    writeFileSync(path, JSON.stringify([...successor.secretKey]), { mode: 0o600 });
    const own = { LOG_LEVEL: process.env.TEST_LOG ?? 'silent' };
    removed = await startRelayHere(market, { ...own, ...proxy.environment });
    named = await startRelayHere(market, { ...own, RELAY_KEYPAIR: path });
  });
  afterEach(async () => {
    for (const pass of held) pass();
    await Promise.all([removed.stop(), named.stop()]);
  });

  const setAuthorities = (...authorities: Keypair[]) =>
    replaceRelayAuthorities(
      market.node.connection,
      market.node.payer,
      authorities.map(({ publicKey }) => publicKey),
    );
  const execute = (relay: RunningRelay): Promise<Answer> => market.execute(relay.url, { task: 'x' });
  const lamportsOf = (wallet: Keypair) => market.node.connection.getBalance(wallet.publicKey, 'confirmed');

  /** Runs a call whose relay loses its authority while this transaction of it is held. */
  async function removeDuring(kind: Kind): Promise<Answer> {
    holds = kind;
    const answer = execute(removed);
    await until('it is on its way', async () => held.length > 0);
    await setAuthorities(successor);
    holds = null;
    for (const pass of held.splice(0)) pass();
    return answer;
  }

  it('leaves its settle to another relay, which pays the creator once and gets the gas', async () => {
    const before = await market.balances();
    const [mine, theirs] = [await lamportsOf(market.authority), await lamportsOf(successor)];
    const answer = await removeDuring('settle');
    expect(answer.status, answer.text).to.equal(200);
    const { execution_id: id } = answer.body;
    expect((await market.record(id))!.status).to.equal('completed');
    expect(market.calls.get(id)).to.equal(1);
    expect(await market.balances()).to.deep.equal({
      callers: [before.callers[0]! - PRICE, before.callers[1]],
      creator: before.creator + PRICE - FEE,
      treasury: before.treasury + FEE,
    });
    expect((await lamportsOf(successor)) - theirs).to.equal(END - SIGNATURE);
    // It paid for the settle that the program refused; the gas balance paid for its open. The record's rent is lent.
    const lent = (await market.node.connection.getMinimumBalanceForRentExemption(295)) as number;
    expect(mine - (await lamportsOf(market.authority))).to.equal(SIGNATURE + lent);
    expect(await market.stateOf(id)).to.equal('settled');
  });

  it('charges the caller nothing when the program refuses its open, and accepts no more calls', async () => {
    const before = await market.balances();
    const answer = await removeDuring('open');
    expect([answer.status, answer.body.error.code], answer.text).to.deep.equal([503, 'service_unavailable']);
    expect(await market.balances()).to.deep.equal(before);
    await until('it accepts nothing', async () => {
      const { body } = await request(removed.url, '/ready');
      return body.problems.includes('authority_changed');
    });
    expect((await execute(removed)).status).to.equal(503);
    expect((await execute(named)).status).to.equal(200);
  });
});
