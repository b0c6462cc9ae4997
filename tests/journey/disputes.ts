/**
 * A chapter of the journey: a newcomer lists an agent beside the demo agents. The agent is paid twice, disputed twice
 * and slashed once, and the rest of the collateral is returned once the chain's clock has moved by three days. So it is
 * the last chapter.
 */
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAssociatedTokenAccountIdempotentInstruction, createTransferInstruction } from '@solana/spl-token';
import { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { sendAndConfirm } from '../../app/local/network.ts';
import {
  createCreatorServer,
  generateSigningKey,
  loadSigningKey,
  saveSigningKey,
} from '../../app/sdk/creator/creator.ts';
import type { Answer, Balances, Visitor } from './visitor.ts';

const PRICE = 250_000n;
const FEE = 2_500n;
/** Collateral of the tier of that price. */
const DEPOSIT = 5_000_000n;
/** The part of it that the first caller is awarded. */
const SLASH = 100_000n;
/** USDC that the second caller gives the newcomer. */
const GIFT = DEPOSIT + 1_000_000n;
/** Longest timeout plus grace plus dispute window, with the local network's settings. */
const LONGEST_SPAN_SECONDS = 3_600 + 600 + 259_200;
const SIGNATURE_LAMPORTS = 5_000n;
const BOND_LAMPORTS = 10_000_000n;
/** Bytes of a `Dispute` and of a token account. */
const DISPUTE_BYTES = 275;
const VAULT_BYTES = 165;

/** Adds the chapter. `dataDir` is the network's. `travel` moves the chain's clock to at least this unix time. */
export function tellOfDisputes(
  visit: () => Visitor,
  dataDir: string,
  travel: (unixSeconds: number) => Promise<void>,
): void {
  describe('a newcomer’s agent, from listing to delisting', function () {
    // Each step depends on the one before it.
    this.bail(true);
    const folder = join(dataDir, 'newcomer');
    const [creatorPath, adminPath] = [join(folder, 'creator.json'), join(dataDir, 'demo', 'admin.json')];
    const creator = Keypair.generate();
    let server: Server;
    let [callerPath, callerWallet, agentId] = ['', '', ''];
    let [disputeRent, vaultRent] = [0n, 0n];
    /** The two executions: one with a wrong result, and one whose caller only claims that it is wrong. */
    let [wrong, fine] = ['', ''];

    const file = (name: string, content: string): string => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const disputeOf = (id: string) => visit().seeds('dispute', visit().recordOf(id).toBytes());
    const vaultOf = (agent: string) => visit().seeds('collateral_vault', new PublicKey(agent).toBytes());
    const agentWhen = (isWanted: (answer: Answer) => boolean) =>
      visit().sendUntil(`/v1/agents/${agentId}`, null, isWanted);
    const executionWhen = async (id: string, status: string) =>
      (await visit().sendUntil(`/v1/executions/${id}`, 0, ({ body }) => body.status === status)).body;

    /** USDC of all parties and of the collateral, and lamports of the signers and of the accounts that they pay for. */
    async function held(): Promise<Balances> {
      const { balances, units, usdcOf, exists, lamports } = visit();
      const vault = vaultOf(agentId);
      const admin = Keypair.fromSecretKey(loadSigningKey(adminPath)).publicKey;
      return {
        ...(await balances()),
        creator: await units(usdcOf(creator.publicKey.toBase58())),
        collateral: (await exists(vault)) ? await units(vault) : 0n,
        collateralLamports: await lamports(vault),
        callerLamports: await lamports(new PublicKey(callerWallet)),
        creatorLamports: await lamports(creator.publicKey),
        adminLamports: await lamports(admin),
        wrongDisputeLamports: await lamports(disputeOf(wrong)),
        fineDisputeLamports: await lamports(disputeOf(fine)),
      };
    }

    /** Runs a step that changes exactly these balances by exactly these amounts. */
    async function moving<T>(changes: Balances, step: () => Promise<T>): Promise<T> {
      const expected = await held();
      const result = await step();
      for (const [name, change] of Object.entries(changes)) expected[name] = expected[name]! + change;
      expect(await held()).to.deep.equal(expected);
      return result;
    }

    before(async () => {
      const { demo, connection, usdcOf } = visit();
      mkdirSync(folder);
      writeFileSync(creatorPath, JSON.stringify([...creator.secretKey]));
      callerPath = demo.callers[0]!.keypair_path;
      callerWallet = demo.callers[0]!.wallet;
      const rents = [DISPUTE_BYTES, VAULT_BYTES].map((bytes) => connection.getMinimumBalanceForRentExemption(bytes));
      [disputeRent, vaultRent] = (await Promise.all(rents)).map(BigInt) as [bigint, bigint];

      // The newcomer's first money: SOL of the node's faucet, USDC of the second demo caller.
      const airdrop = await connection.requestAirdrop(creator.publicKey, 1e9);
      await connection.confirmTransaction({ signature: airdrop, ...(await connection.getLatestBlockhash()) });
      const friend = Keypair.fromSecretKey(loadSigningKey(demo.callers[1]!.keypair_path));
      const usdc = usdcOf(creator.publicKey.toBase58());
      const mint = new PublicKey(demo.usdc_mint);
      await sendAndConfirm(
        connection,
        [
          createAssociatedTokenAccountIdempotentInstruction(friend.publicKey, usdc, creator.publicKey, mint),
          createTransferInstruction(usdcOf(demo.callers[1]!.wallet), usdc, friend.publicKey, GIFT),
        ],
        [friend],
      );
    });
    after(() => {
      server?.closeAllConnections();
      server?.close();
    });

    it('is listed by its file, and its price is paid twice', async () => {
      const { demo, balances, units, usdcOf, lamports, send } = visit();
      const signingKey = generateSigningKey();
      saveSigningKey(join(folder, 'signing.json'), signingKey);
      const execute = ({ task }: { task: string }) => ({ result: task.toUpperCase() });
      server = createCreatorServer({ signingKey, programId: demo.program_id, execute }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const description = {
        name: 'shout',
        tagline: 'Says it louder.',
        description: 'Returns the task in capitals.',
        display_name: 'Newcomer',
        tags: ['writing'],
        price_usdc: '0.25',
        timeout_seconds: 30,
        input_schema: { type: 'object', properties: {} },
        output_schema: { type: 'string' },
        endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/execute`,
        signing_key: 'signing.json',
      };
      const before = await balances();
      const listing = file('agent.json', JSON.stringify(description));
      agentId = (await visit().command(creatorPath, 'listing', 'create', listing)).agent_id;
      const usdc = usdcOf(creator.publicKey.toBase58());
      expect(await units(usdc)).to.equal(1_000_000n);
      expect(await units(vaultOf(agentId))).to.equal(DEPOSIT);
      expect(await lamports(vaultOf(agentId))).to.equal(vaultRent);
      expect(await balances()).to.deep.equal(before);
      const listed = await agentWhen(({ status }) => status === 200);
      expect(listed.body).to.include({ name: 'shout', status: 'active', price_per_call_usdc: 0.25, dispute_count: 0 });

      for (const task of ['louder', 'and louder']) {
        const { status, body } = await send(`/v1/agents/${agentId}/execute`, 0, { task });
        expect({ status, result: body.result }).to.deep.equal({ status: 200, result: task.toUpperCase() });
        [wrong, fine] = [fine, body.execution_id];
      }
      expect(await balances()).to.deep.equal({
        ...before,
        [callerWallet]: before[callerWallet]! - 2n * PRICE,
        treasury: before.treasury! + 2n * FEE,
      });
      expect(await units(usdc)).to.equal(1_000_000n + 2n * (PRICE - FEE));
    });

    it('is disputed: the caller pays a bond, and nobody’s USDC moves', async () => {
      const { command, refusal, readRecord } = visit();
      const evidence = file('evidence.txt', 'It says WRONG, and should say RIGHT.');
      const open = (id: string) => ['dispute', 'open', id, '--evidence', evidence];
      expect(await refusal(creatorPath, ...open(wrong))).to.include('(NotCaller)');
      for (const [id, account] of [
        [wrong, 'wrongDisputeLamports'],
        [fine, 'fineDisputeLamports'],
      ] as const) {
        const cost = BOND_LAMPORTS + disputeRent;
        const changes = { callerLamports: -cost - SIGNATURE_LAMPORTS, [account]: cost };
        await moving(changes, () => command(callerPath, ...open(id)));
        const shown = await executionWhen(id, 'disputed');
        expect(shown).to.deep.include({ dispute: { outcome: 'open' }, cost_usdc: 0.25, creator_amount_usdc: 0.2475 });
        expect((await readRecord(id)).status).to.deep.equal({ completed: {} });
      }
      const { body } = await agentWhen((answer) => answer.body.dispute_count === 2);
      expect(body).to.include({ total_executions: 2, successful_executions: 2, status: 'active' });
    });

    it('has a dispute upheld in part: the collateral pays, the bond is returned, and the agent is paused', async () => {
      const { command, refusal, send } = visit();
      const reason = file('upheld.txt', 'Right in part.');
      const resolve = ['admin', 'resolve-dispute', wrong, '--uphold', '0.1', '--reason-file', reason];
      expect(await refusal(creatorPath, ...resolve)).to.include('(NotAdmin)');
      const changes = {
        [callerWallet]: SLASH,
        collateral: -SLASH,
        callerLamports: BOND_LAMPORTS,
        wrongDisputeLamports: -BOND_LAMPORTS,
        adminLamports: -SIGNATURE_LAMPORTS,
      };
      await moving(changes, () => command(adminPath, ...resolve));
      expect(await command(null, 'execution', 'show', wrong)).to.include({ status: 'completed', dispute: 'upheld' });
      const { body } = await agentWhen((answer) => answer.body.status === 'paused');
      expect(body).to.include({ total_executions: 2, successful_executions: 1, success_rate: 0.5, dispute_count: 2 });
      const shown = await executionWhen(wrong, 'disputed');
      expect(shown).to.deep.include({ dispute: { outcome: 'upheld' }, result: 'LOUDER', cost_usdc: 0.25 });
      const call = await send(`/v1/agents/${agentId}/execute`, 0, { task: 'more' });
      expect([call.status, call.body.error.code]).to.deep.equal([422, 'agent_paused']);
    });

    it('has a dispute rejected: the creator gets the bond, and the execution is completed', async () => {
      const { command } = visit();
      const reason = file('rejected.txt', 'It is as it was ordered.');
      const changes = {
        creatorLamports: BOND_LAMPORTS,
        fineDisputeLamports: -BOND_LAMPORTS,
        adminLamports: -SIGNATURE_LAMPORTS,
      };
      await moving(changes, () =>
        command(adminPath, 'admin', 'resolve-dispute', fine, '--reject', '--reason-file', reason),
      );
      expect(await command(null, 'execution', 'show', fine)).to.include({ status: 'completed', dispute: 'rejected' });
      expect(await executionWhen(fine, 'completed')).to.include({ dispute: null, result: 'AND LOUDER' });
    });

    it('is delisted: callers no longer find it, its records stay, its collateral waits', async () => {
      const { command, refusal, send } = visit();
      await moving({ creatorLamports: -SIGNATURE_LAMPORTS }, () => command(creatorPath, 'listing', 'delist', agentId));
      const gone = await agentWhen(({ status }) => status !== 200);
      const call = await send(`/v1/agents/${agentId}/execute`, 0, { task: 'more' });
      for (const { status, body } of [gone, call]) {
        expect([status, body.error.code]).to.deep.equal([404, 'agent_not_found']);
      }
      const { body } = await send('/v1/agents?limit=100', null);
      expect(body.agents.map((row: { agent_id: string }) => row.agent_id)).not.to.include(agentId);
      const { executions } = (await send(`/v1/executions?agent_id=${agentId}`, 0)).body;
      expect(executions.map((row: { execution_id: string }) => row.execution_id)).to.have.members([wrong, fine]);
      expect(await refusal(creatorPath, 'listing', 'return-collateral', agentId)).to.include(
        '(CollateralNotReturnable)',
      );
    });

    it('gets the rest of its collateral back when every window has closed', async () => {
      const { returnable_at } = await visit().command(null, 'listing', 'show', agentId);
      const returnableAt = Date.parse(returnable_at) / 1000;
      expect(returnableAt - (await visit().readRecord(fine)).settledAt.toNumber()).to.be.within(
        LONGEST_SPAN_SECONDS,
        LONGEST_SPAN_SECONDS + 3_600,
      );
      await travel(returnableAt);
      const { command, exists, execute, balances, assertPaid } = visit();
      const changes = {
        creator: DEPOSIT - SLASH,
        collateral: SLASH - DEPOSIT,
        collateralLamports: -vaultRent,
        creatorLamports: vaultRent - SIGNATURE_LAMPORTS,
      };
      await moving(changes, () => command(creatorPath, 'listing', 'return-collateral', agentId));
      expect(await exists(vaultOf(agentId))).to.equal(false);
      expect(await command(null, 'listing', 'show', agentId)).to.include({
        status: 'delisted',
        collateral_returned: true,
        slashed_usdc: '0.1',
      });

      // The other agents still work.
      const before = await balances();
      expect((await execute('sandbox-echo', { task: 'still here' })).body.result).to.equal('still here');
      assertPaid(before, await balances(), 'sandbox-echo', 10_000n);
    });
  });
}
