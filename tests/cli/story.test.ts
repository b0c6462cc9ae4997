/**
 * The life of an agent by commands alone, on a real node. It is listed, paid, disputed with every possible outcome,
 * slashed and topped up. It gets another key, is delisted, and its collateral is returned. Each step checks the
 * balances of every party.
 */
import type { Keypair, PublicKey } from '@solana/web3.js';
import { PublicKey as Address } from '@solana/web3.js';
import { expect } from 'chai';
import { AgentMarketplace } from '../../app/sdk/client/caller.ts';
import { generateSigningKey, saveSigningKey } from '../../app/sdk/creator/creator.ts';
import { findCollateralVault, findDispute, findExecution, findTreasury } from '../../app/sdk/program/program.ts';
import { parseUuid } from '../../app/sdk/receipt/receipt.ts';
import { until } from '../harness/edge/until.ts';
import { goodAnswer, useMarketplace } from '../harness/node/marketplace.ts';
import { AGENT_FILE, useTerminal } from './run.ts';

const PRICE = 250_000n;
const FEE_LAMPORTS = 5_000n;
const BOND_LAMPORTS = 10_000_000n;
const LAPSE_SECONDS = 2_592_000;
const URI = 'https://example.com/e';
const EVIDENCE = 'the sums are wrong';
/** SHA-256 of the evidence, computed with sha256sum. */
const EVIDENCE_HASH = '9186a15c328d503aae27658ec7492e846eda713c6a52081797ef579bea8cfb93';

describe('the command line without the service: the life of an agent', function () {
  this.timeout(600_000);
  // Each chapter depends on the one before it.
  this.bail(true);
  const market = useMarketplace();
  const terminal = useTerminal(() => market.node.rpcUrl);
  let [admin, creator, caller, stranger]: Keypair[] = [];
  let agentId: string;
  let apiKey: string;
  /** A key with a budget for one call. That call triggers a warning to its wallet. */
  let keyOfOneCall: string;
  let evidence: string;
  let reason: string;
  const signingKey = generateSigningKey();

  const held = async () => ({
    caller: await market.amountOf(market.callers[0]!.usdc),
    creator: await market.amountOf(market.creatorUsdc),
    treasury: await market.amountOf(findTreasury()),
    vault: await market.amountOf(findCollateralVault(new Address(agentId))),
  });
  const lamportsOf = async (address: PublicKey) => BigInt(await market.node.connection.getBalance(address));
  const disputeOf = (id: string) => findDispute(findExecution(parseUuid(id)!));
  const show = () => terminal.look('listing', 'show', agentId);
  /** A call that the relay settles. Retries until the relay's index has seen that the agent is resumed. */
  const pay = async (key = apiKey): Promise<string> => {
    for (;;) {
      const { body } = await market.execute(market.relay.url, { task: 'sums' }, { agent: agentId, apiKey: key });
      if (body.status === 'completed') return body.execution_id;
      expect(body.error?.code, JSON.stringify(body)).to.equal('agent_paused');
    }
  };
  const dispute = (id: string, wallet = caller!) =>
    terminal.done(wallet, 'dispute', 'open', id, '--evidence', evidence, '--hash-only', '--evidence-uri', URI);
  const resolve = (id: string, ...words: string[]) =>
    terminal.done(admin!, 'admin', 'resolve-dispute', id, ...words, '--reason-file', reason, '--hash-only');
  const resolveRefused = (id: string, ...words: string[]) =>
    terminal.refused(admin!, 'admin', 'resolve-dispute', id, ...words, '--reason-file', reason, '--hash-only');

  before(async () => {
    [admin, creator, caller, stranger] = [
      market.node.payer,
      market.creator,
      market.callers[0]!.wallet,
      market.callers[1]!.wallet,
    ];
    evidence = terminal.file('evidence.txt', EVIDENCE);
    reason = terminal.file('reason.txt', 'they are right');
    // The relay reports only events that happen after it has begun to follow the chain.
    await until('the relay follows the chain for its events', async () => {
      return (await market.query('ledger', 'SELECT slot FROM event_feed'))[0].slot !== null;
    });
    market.setBehaviour(({ execution_id, task }, _, reply) => reply(goodAnswer(signingKey, execution_id, task)));
  });

  it('lists an agent and creates a key, without the service', async () => {
    saveSigningKey(terminal.path('signing.json'), signingKey);
    const description = { ...AGENT_FILE, name: 'sums', endpoint: market.endpoint };
    const write = (change: object = {}) => terminal.file('agent.json', JSON.stringify({ ...description, ...change }));
    const before = await market.amountOf(market.creatorUsdc);
    const service = ['--base-url', market.relay.url];
    market.setBehaviour((_request, response) => void response.writeHead(404).end());
    expect(await terminal.refused(creator!, 'listing', 'create', write(), ...service)).to.include(
      'The endpoint failed its test, so nothing was signed. ',
    );
    market.setBehaviour(({ execution_id, task }, _, reply) => reply(goodAnswer(signingKey, execution_id, task)));
    const input_schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    expect(await terminal.refused(creator!, 'listing', 'create', write({ input_schema }), ...service))
      .to.include('The request of the test is wrong, so it was not sent, and nothing was signed. ')
      .and.include('metadata: parameters.n is missing.')
      .and.include('Add `"test": {"task"');
    expect(await market.amountOf(market.creatorUsdc)).to.equal(before);
    agentId = (await terminal.done(creator!, 'listing', 'create', write(), ...service)).agent_id;
    expect(await market.amountOf(market.creatorUsdc)).to.equal(before - 5_000_000n);
    apiKey = (await terminal.done(caller!, 'keys', 'create', '--name', 'story', ...service)).api_key;
    const oneCall = ['keys', 'create', '--name', 'one call', '--total', '0.25'];
    keyOfOneCall = (await terminal.done(caller!, ...oneCall, ...service)).api_key;
    expect(await show()).to.include({
      status: 'active',
      collateral_usdc: '5',
      deposited_usdc: '5',
      slashed_usdc: '0',
      owed_usdc: '0',
      open_disputes: 0,
      forfeited_usdc: '0',
      sweepable_at: null,
      returnable_at: null,
      collateral_returned: false,
    });
  });

  it('updates, pauses and resumes an agent, for its creator only', async () => {
    const update = (change: object) => {
      const description = { ...AGENT_FILE, name: 'sums', endpoint: market.endpoint, ...change };
      const path = terminal.file('update.json', JSON.stringify(description));
      return terminal.done(creator!, 'listing', 'update', agentId, path, '--base-url', market.relay.url);
    };
    await update({ price_usdc: '0.3', tags: ['writing'] });
    expect(await show()).to.deep.include({ price_usdc: '0.3', listing_version: 2, tags: ['writing'] });
    await update({});
    const pause = ['listing', 'pause', agentId];
    expect(await terminal.refused(stranger!, ...pause)).to.include(`The agent ${agentId} belongs to`);
    expect(await terminal.done(creator!, ...pause)).to.include({ status: 'paused' });
    expect(await terminal.refused(creator!, ...pause)).to.equal(`The agent ${agentId} is already paused.\n`);
    expect(await terminal.done(creator!, 'listing', 'resume', agentId)).to.include({ status: 'active' });
    expect(await show()).to.deep.include({ status: 'active', price_usdc: '0.25', tags: ['data'] });
    await until('the relay knows it', async () => {
      const rows = await market.query(
        'index',
        `SELECT listing_version, status FROM listings WHERE listing = '${agentId}'`,
      );
      return Number(rows[0].listing_version) === 3 && rows[0].status === 'active';
    });
  });

  it('opens a dispute for the caller alone, who pays bond and rent; a rejection gives the creator the bond', async () => {
    const id = await pay(keyOfOneCall);
    const open = ['dispute', 'open', id, '--evidence', evidence];
    expect(await terminal.refused(stranger!, ...open)).to.include(
      `(NotCaller). The caller is ${caller!.publicKey}; this wallet is ${stranger!.publicKey}.`,
    );
    expect(await terminal.refused(caller!, 'dispute', 'open', id, '--evidence', `${evidence}.gone`)).to.equal(
      `${evidence}.gone does not exist.\n`,
    );
    expect(await terminal.refused(caller!, 'dispute', 'lapse', id)).to.equal(
      `No dispute of execution ${id} exists on this chain.\n`,
    );
    const before = await held();
    const lamports = await lamportsOf(caller!.publicKey);
    const opened = await dispute(id);
    const rent = (await lamportsOf(disputeOf(id))) - BOND_LAMPORTS;
    expect(opened).to.include({
      execution_id: id,
      dispute: disputeOf(id).toBase58(),
      evidence_hash: EVIDENCE_HASH,
      bond_lamports: '10000000',
      evidence_uploaded: false,
    });
    expect(await lamportsOf(caller!.publicKey)).to.equal(lamports - BOND_LAMPORTS - rent - FEE_LAMPORTS);
    const shown = await terminal.look('dispute', 'show', id);
    expect(shown).to.include({
      outcome: 'open',
      agent_id: agentId,
      caller: caller!.publicKey.toBase58(),
      price_usdc: '0.25',
      evidence_hash: EVIDENCE_HASH,
      reason_hash: null,
      resolved_at: null,
      bond_lamports: '10000000',
      collateral_usdc: '5',
    });
    const after = (name: string) => (Date.parse(shown[name]) - Date.parse(shown.opened_at)) / 1000;
    expect([after('answer_due_at'), after('lapses_at')]).to.deep.equal([259_200, LAPSE_SECONDS]);
    expect(await show()).to.include({ open_disputes: 1 });
    const paid = { status: 'completed', source: 'record', escrow_usdc: null };
    expect(await terminal.look('execution', 'show', id)).to.include({ ...paid, dispute: 'open' });

    expect(await resolveRefused(id)).to.equal('Give --reject, or --uphold USDC.\n');
    const impostor = ['admin', 'resolve-dispute', id, '--reject', '--reason-file', reason, '--hash-only'];
    expect(await terminal.refused(stranger!, ...impostor)).to.include(
      `(NotAdmin). The admin is ${admin!.publicKey}; this wallet is ${stranger!.publicKey}.`,
    );
    const creatorLamports = await lamportsOf(creator!.publicKey);
    expect(await resolve(id, '--reject')).to.include({ outcome: 'rejected', amount_usdc: '0' });
    expect(await lamportsOf(creator!.publicKey)).to.equal(creatorLamports + BOND_LAMPORTS);
    expect(await held()).to.deep.equal(before);
    expect(await terminal.look('dispute', 'show', id)).to.include({ outcome: 'rejected', bond_lamports: '0' });
    expect(await terminal.look('execution', 'show', id)).to.include({ ...paid, dispute: 'rejected' });
    expect(await resolveRefused(id, '--reject')).to.include('(DisputeNotOpen). Its outcome is rejected.');
  });

  it('upholds a dispute with a part of the price, and the slash pauses the agent until a top-up and a resume', async () => {
    const id = await pay();
    await dispute(id);
    const before = await held();
    const lamports = await lamportsOf(caller!.publicKey);
    expect(await resolve(id, '--uphold', '0.1')).to.include({ outcome: 'upheld', amount_usdc: '0.1' });
    expect(await lamportsOf(caller!.publicKey)).to.equal(lamports + BOND_LAMPORTS);
    expect(await held()).to.deep.equal({
      ...before,
      caller: before.caller + 100_000n,
      vault: before.vault - 100_000n,
    });
    expect(await terminal.look('dispute', 'show', id)).to.include({
      outcome: 'upheld',
      amount_to_caller_usdc: '0.1',
      amount_slashed_usdc: '0.1',
    });
    expect(await show()).to.include({ status: 'paused', collateral_usdc: '4.9', slashed_usdc: '0.1' });
    expect(await terminal.refused(creator!, 'listing', 'resume', agentId)).to.include(
      '(CollateralBelowTier). It holds 4.9 USDC. To add collateral, use `listing top-up`.',
    );

    const rich = await terminal.refused(creator!, 'listing', 'top-up', agentId, '5000');
    expect(rich).to.include(`(InsufficientBalance). ${market.creatorUsdc} holds `);
    await terminal.done(creator!, 'listing', 'top-up', agentId, '0.1');
    expect(await held()).to.deep.equal({
      ...before,
      caller: before.caller + 100_000n,
      creator: before.creator - 100_000n,
    });
    expect(await terminal.done(creator!, 'listing', 'resume', agentId)).to.include({ status: 'active' });
    expect(await show()).to.include({ status: 'active', collateral_usdc: '5', deposited_usdc: '5.1' });
  });

  it('limits a slash to the collateral; the part above the price is forfeited and stays in the vault', async () => {
    const [id, other] = [await pay(), await pay()];
    await dispute(id);
    await dispute(other);
    const before = await held();
    expect(await resolveRefused(id, '--uphold', '5.1')).to.include(
      '(SlashAboveCollateral). The collateral holds 5 USDC. Beyond it, up to the price, 0 USDC of earlier forfeits can pay the caller.',
    );
    expect(await held()).to.deep.equal(before);
    await resolve(id, '--uphold', '0.6');
    expect(await held()).to.deep.equal({
      ...before,
      caller: before.caller + PRICE,
      vault: before.vault - PRICE,
    });
    expect(await show()).to.include({ slashed_usdc: '0.7', forfeited_usdc: '0.35' });

    // The other caller's account cannot receive now. The award waits, and anyone can send it later.
    const usdc = market.callers[0]!.usdc;
    await market.setFrozen(usdc, true);
    await resolve(other, '--uphold', '0.25');
    expect(await terminal.look('dispute', 'show', other)).to.include({
      amount_to_caller_usdc: '0.25',
      owed_usdc: '0.25',
    });
    expect(await show()).to.include({ owed_usdc: '0.25', open_disputes: 0 });
    expect(await terminal.refused(stranger!, 'dispute', 'claim', other)).to.include(
      `(DestinationUnusable). The account is ${usdc}, of caller ${caller!.publicKey}.`,
    );
    await market.setFrozen(usdc, false);
    const claimed = await terminal.done(stranger!, 'dispute', 'claim', other);
    expect(claimed).to.include({ amount_usdc: '0.25', destination: usdc.toBase58() });
    expect(await held()).to.deep.equal({
      ...before,
      caller: before.caller + 2n * PRICE,
      vault: before.vault - 2n * PRICE,
    });
    const { sweepable_at } = await show();
    expect(await terminal.refused(stranger!, 'listing', 'sweep-forfeits', agentId)).to.include(
      `(ForfeitsNotSweepable). It is sweepable at ${sweepable_at}; the chain's clock shows 20`,
    );
  });

  it('is reported by the relay to both parties: a key near its cap, disputes, low collateral and pauses', async () => {
    const keys = ['keys', 'create', '--name', 'events', '--scope', 'read', '--base-url', market.relay.url];
    const { api_key: creatorKey } = await terminal.done(creator!, ...keys);
    async function told(key: string, count: number): Promise<string[]> {
      const seen: string[] = [];
      const signal = AbortSignal.timeout(60_000);
      const client = new AgentMarketplace({ baseUrl: market.relay.url, apiKey: key });
      try {
        for await (const { type, data } of client.events({ after: 'evt_0', signal })) {
          if (!type.startsWith('execution.')) seen.push('outcome' in data ? `${type}: ${data.outcome}` : type);
          if (seen.length === count) break;
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
      return seen;
    }
    const upheld = ['dispute.resolved: upheld', 'agent.collateral_low', 'agent.paused'];
    const first = ['dispute.opened: open', 'dispute.resolved: rejected', 'dispute.opened: open'];
    const both = ['dispute.opened: open', 'dispute.opened: open'];
    expect(await told(creatorKey, 15)).to.deep.equal([
      'agent.paused',
      ...first,
      ...upheld,
      ...both,
      ...upheld,
      ...upheld,
    ]);
    const ends = upheld.slice(0, 1);
    expect(await told(apiKey, 9)).to.deep.equal(['key.cap_near', ...first, ...ends, ...both, ...ends, ...ends]);
  });

  it('rotates the signing key, and refuses a key of another agent', async () => {
    const next = generateSigningKey();
    const path = terminal.path('next.json');
    saveSigningKey(path, next);
    const taken = terminal.file('taken.json', JSON.stringify([...market.signingKey]));
    const rotate = ['listing', 'rotate-key', agentId, '--signing-key'];
    expect(await terminal.refused(creator!, ...rotate, taken)).to.include(
      '(SigningKeyTaken). To create another key file, run `npm run cli -- keys new FILE`.',
    );
    expect(await terminal.refused(creator!, ...rotate, `${path}.gone`)).to.include('Cannot read the signing key');
    const rotated = await terminal.done(creator!, ...rotate, path);
    expect((await show()).signing_key).to.equal(rotated.signing_key);
    expect(new Address(rotated.signing_key).toBytes()).to.deep.equal(new Uint8Array(next.subarray(32)));
  });

  it('returns the collateral of a delisted agent after its windows, when no dispute is open', async () => {
    // Back to the key that the endpoint signs with.
    await terminal.done(creator!, 'listing', 'rotate-key', agentId, '--signing-key', terminal.path('signing.json'));
    await terminal.done(creator!, 'listing', 'top-up', agentId, '1');
    await terminal.done(creator!, 'listing', 'resume', agentId);
    const [disputed, late] = [await pay(), await pay()];
    await dispute(disputed);
    expect(await terminal.refused(stranger!, 'listing', 'return-collateral', agentId)).to.include(
      '(CollateralNotReturnable). The agent is active.',
    );
    expect(await terminal.done(creator!, 'listing', 'delist', agentId)).to.include({ status: 'delisted' });
    expect(await terminal.refused(creator!, 'listing', 'delist', agentId)).to.include('It is delisted.');
    const { returnable_at, status } = await show();
    expect(status).to.equal('delisted');
    const back = ['listing', 'return-collateral', agentId];
    expect(await terminal.refused(stranger!, ...back)).to.include(
      `(CollateralNotReturnable). It is returnable at ${returnable_at}; the chain's clock shows 20`,
    );

    await market.node.timeTravel(Date.parse(returnable_at) / 1000);
    expect(await terminal.refused(stranger!, ...back)).to.include('(DisputesOpen). There are 1.');
    expect(await terminal.refused(caller!, 'dispute', 'open', late, '--evidence', evidence)).to.match(
      /\(DisputeWindowClosed\)\. It closed at 20\S+Z; the chain's clock shows 20\S+Z\.\n$/,
    );
    const { lapses_at } = await terminal.look('dispute', 'show', disputed);
    expect(await terminal.refused(stranger!, 'dispute', 'lapse', disputed)).to.include(
      `(LapseTooEarly). It lapses at ${lapses_at}; the chain's clock shows 20`,
    );

    await market.node.timeTravel(Date.parse(lapses_at) / 1000);
    const callerLamports = await lamportsOf(caller!.publicKey);
    await terminal.done(stranger!, 'dispute', 'lapse', disputed);
    expect(await lamportsOf(caller!.publicKey)).to.equal(callerLamports + BOND_LAMPORTS);
    expect(await terminal.look('dispute', 'show', disputed)).to.include({ outcome: 'lapsed', bond_lamports: '0' });

    const kept = await held();
    expect(await terminal.done(stranger!, 'listing', 'sweep-forfeits', agentId)).to.include({ amount_usdc: '0.35' });
    const before = { ...kept, treasury: kept.treasury + 350_000n, vault: kept.vault - 350_000n };
    expect(await held()).to.deep.equal(before);
    const vaultRent = await lamportsOf(findCollateralVault(new Address(agentId)));
    const creatorLamports = await lamportsOf(creator!.publicKey);
    const returned = await terminal.done(stranger!, ...back);
    // 6.1 deposited in total, less the slashes 0.1, 0.6 and 0.25.
    expect(returned).to.include({ amount_usdc: '5.15', destination: market.creatorUsdc.toBase58() });
    expect(await held()).to.deep.equal({ ...before, creator: before.creator + 5_150_000n, vault: 0n });
    expect(await lamportsOf(creator!.publicKey)).to.equal(creatorLamports + vaultRent);
    expect(await show()).to.include({ status: 'delisted', collateral_returned: true });
    expect(await terminal.refused(stranger!, ...back)).to.include('its collateral has been returned.');
  });
});
