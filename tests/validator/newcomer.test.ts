/**
 * A newcomer's first hour on Agave's own validator: with every feature, as on testnet and devnet, then a shorter one
 * without the features that mainnet lacks. There are no cheat codes: tests wait, or the validator warps.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair, PublicKey, Transaction, type TransactionInstruction } from '@solana/web3.js';
import bs58 from 'bs58';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { signingKeyPath } from '../../app/local/demoServers.ts';
import { loadSigningKey } from '../../app/sdk/creator/signingKey.ts';
import { CLOCK_ADDRESS, decodeClock } from '../../app/sdk/program/clock.ts';
import { errorFromCode, settleExecution } from '../../app/sdk/program/program.ts';
import { hashResult, parseResultHash, parseSignature, parseUuid, signResult } from '../../app/sdk/receipt/receipt.ts';
import { CHECKS } from '../../app/sdk/receipt/verify.ts';
import { cli, runHere } from '../cli/run.ts';
import { launchBrowser, openPage, requireChromium, untilLoaded } from '../dashboard/browser.ts';
import { until } from '../harness/edge/until.ts';
import { findValidator, NO_VALIDATOR, PENDING_ON_MAINNET } from '../harness/node/validator.ts';
import { mixedOfNine, NINE, nineArguments, TEST_VERIFIER_ID } from '../harness/vm/verifier.ts';
import { callThrough, tellOfCalls } from '../journey/calls.ts';
import { GIFT, SLASH, tellOfDisputes } from '../journey/disputes.ts';
import type { Balances, Visitor } from '../journey/visitor.ts';
import { cleanUp, newDirectory } from '../local/start.ts';
import { type Lamports, latestOf, readFees, readLamports, total } from './lamports.ts';
import { type Stage, startStage } from './stage.ts';

const SANDBOX_PRICE = 10_000n;
/** More than three days of the validator's clock. */
const WARP_SLOTS = 2_500_000;
const FEE = 5_000;
/** Agents whose calls end by a refund at the deadline and for a wrong answer. A paid call is always tested. */
const ONE_OF_EACH_ENDING = ['sandbox-slow', 'sandbox-wrong-hash'];
const CONCURRENT = 32;
/** How long a person waits while there is progress. */
const PATIENCE_MS = 120_000;

for (const [name, deactivate, isWhole] of [
  ['with every feature active', [], true],
  ['with the features of mainnet', Object.values(PENDING_ON_MAINNET), false],
] as const) {
  describe(`a newcomer on the validator ${name}`, function () {
    // Each step depends on the one before it.
    this.bail(true);
    this.timeout(900_000);
    const dataDir = newDirectory();
    let stage: Stage;
    let initial: Balances;
    const visit = (): Visitor => stage.visit();

    before(async function () {
      if (findValidator() === null) {
        console.log(`    ${NO_VALIDATOR}`);
        return this.skip();
      }
      stage = await startStage(dataDir, { deactivate });
      initial = await visit().balances();
    });
    after(async () => {
      cleanUp();
      await stage?.stop();
    });

    tellOfTheRuntime(() => stage);
    if (!isWhole) tellOfCalls(visit, ONE_OF_EACH_ENDING);
    else {
      tellOfCalls(visit);
      const hour = createHour(
        () => stage,
        () => initial,
      );
      hour.begins();
      tellOfManyCalls(() => stage);
      tellOfFaults(() => stage);
      tellOfDisputes(visit, dataDir, () => hour.passThreeDays());
      hour.ends();
    }

    describe('the end', () => {
      it('stops everything on Ctrl-C', () => stage.end('SIGINT'));
    });
  });
}

/** Tests what the program requires of the runtime besides accounts: wide stack arguments, and curve25519. */
function tellOfTheRuntime(stage: () => Stage): void {
  describe('the runtime', () => {
    /** The error of a transaction that the node has run. */
    async function errorOf(instruction: TransactionInstruction, payer: Keypair): Promise<unknown> {
      const { connection } = stage().validator;
      const transaction = new Transaction({ feePayer: payer.publicKey, ...(await connection.getLatestBlockhash()) });
      transaction.add(instruction).sign(payer);
      const signature = bs58.encode(transaction.signature!);
      await connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true });
      for (;;) {
        const { value } = await connection.getSignatureStatus(signature);
        if (value?.confirmationStatus === 'confirmed' || value?.confirmationStatus === 'finalized') return value.err;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
    const failure = (code: number) => ({ InstructionError: [0, { Custom: code }] });

    it('passes all nine arguments to a function, which detects a different one', async () => {
      const nine = NINE.map((bytes, at) => 2n ** BigInt(bytes * 8 - 1) + BigInt(at));
      const { payer } = stage().validator;
      expect(await errorOf(nineArguments(nine, mixedOfNine(nine)), payer), `${TEST_VERIFIER_ID}`).to.equal(null);
      const errors = NINE.map((_, at) =>
        errorOf(nineArguments(nine, mixedOfNine(nine.with(at, nine[at]! - 1n))), payer),
      );
      expect(await Promise.all(errors)).to.deep.equal(NINE.map(() => failure(6000)));
    });

    it('rejects: a settle with one changed signature bit, and moves nothing; the unchanged settle pays', async () => {
      const { visit, identities, demoDir, validator } = stage();
      const { demo, agent, command, balances, escrowExists, usdcOf } = visit();
      const { agent_id, creator } = agent('sandbox-echo');
      const caller = demo.callers[1]!;
      const opened = await command(caller.keypair_path, 'execution', 'open', agent_id, '--task', 'by hand');
      const relay = identities.relayAuthority;
      const resultHash = hashResult('by hand');
      const signature = parseSignature(
        signResult(loadSigningKey(signingKeyPath(demoDir, 'sandbox-echo')), resultHash),
      )!;
      const settle = (signed: Uint8Array) =>
        settleExecution({
          relayAuthority: relay.publicKey,
          executionId: parseUuid(opened.execution_id)!,
          listing: new PublicKey(agent_id),
          payout: usdcOf(creator),
          rentSponsor: new PublicKey(caller.wallet),
          resultHash: parseResultHash(resultHash),
          signature: signed,
          executionTimeMs: 1,
        });
      const simulated = await validator.connection.simulateTransaction(
        new Transaction({ feePayer: relay.publicKey }).add(settle(signature)),
        [relay],
      );
      expect(simulated.value.err).to.equal(null);

      const before = await balances();
      for (const bit of [0, 255, 256, 511]) {
        const forged = Uint8Array.from(signature);
        forged[bit >> 3]! ^= 1 << (bit & 7);
        const error = (await errorOf(settle(forged), relay)) as { InstructionError: [number, { Custom: number }] };
        expect(errorFromCode(error.InstructionError[1].Custom)?.name).to.equal('SignatureInvalid');
      }
      expect(await balances()).to.deep.equal(before);
      expect(await escrowExists(opened.execution_id)).to.equal(true);

      expect(await errorOf(settle(signature), relay)).to.equal(null);
      expect(await escrowExists(opened.execution_id)).to.equal(false);
      // The wallet paid at the open.
      const paid = { ...before, [caller.wallet]: before[caller.wallet]! + SANDBOX_PRICE };
      visit().assertPaid(paid, await balances(), 'sandbox-echo', SANDBOX_PRICE, 1);
    });
  });
}

function tellOfManyCalls(stage: () => Stage): void {
  describe('many concurrent calls, and their readers', () => {
    let id: string;

    it(`pays ${CONCURRENT} concurrent synchronous calls`, async () => {
      const { balances, execute, assertPaid } = stage().visit();
      const before = await balances();
      const tasks = Array.from({ length: CONCURRENT }, (_, index) => `call ${index}`);
      const answers = await Promise.all(tasks.map((task) => execute('sandbox-echo', { task })));
      expect(answers.map(({ status, body }) => [status, body.result])).to.deep.equal(tasks.map((task) => [200, task]));
      assertPaid(before, await balances(), 'sandbox-echo', BigInt(CONCURRENT) * SANDBOX_PRICE);
      id = answers[0]!.body.execution_id;
    });

    it('passes every check of a receipt with the validator alone', async () => {
      const { command, demo } = stage().visit();
      const file = join(stage().dataDir, 'receipt.json');
      await command(demo.callers[0]!.keypair_path, 'execution', 'receipt', id, '--file', file);
      const { checks, ...counts } = await command(null, 'execution', 'verify', file, '--rpc-url', demo.rpc_url);
      // No demo agent makes the signature that names the execution, so it is not checked.
      expect(counts, JSON.stringify(checks)).to.deep.equal({
        ...{ passed: CHECKS.length - 1, failed: 0, not_checked: 1 },
        status: 'completed',
      });
    });

    it('shows agents and calls on the page without errors', async function () {
      if (!requireChromium()) this.skip();
      const browser: Browser = await launchBrowser();
      try {
        const { demo, agent } = stage().visit();
        const { page, faults } = await openPage(browser, demo.base_url, { as: 'Demo caller 1' });
        for (const path of ['/', `/agents/${agent('sandbox-echo').agent_id}`, `/executions/${id}`]) {
          await page.goto(path);
          await untilLoaded(page);
        }
        await page.getByText(id).first().waitFor();
        expect(faults).to.deep.equal([]);
      } finally {
        await browser.close();
      }
    });
  });
}

function tellOfFaults(stage: () => Stage): void {
  const visit = () => stage().visit();

  describe('recovery from failures', () => {
    it('pays calls while the WebSocket is cut, and after it is back', async () => {
      const { balances, execute, assertPaid } = visit();
      const pay = async (task: string) => {
        const before = await balances();
        expect((await execute('sandbox-echo', { task })).body.result).to.equal(task);
        assertPaid(before, await balances(), 'sandbox-echo', SANDBOX_PRICE);
      };
      stage().socket.cut();
      await pay('without');
      stage().socket.restore();
      await pay('with');
    });

    it('finishes eight running calls after the relay was killed', () =>
      callThrough(visit, 8, async () => {
        await stage().end('SIGKILL');
        await stage().start();
      }));

    it('finishes eight running calls after the validator was killed and is back', () =>
      callThrough(visit, 8, async () => {
        await stage().validator.kill();
        await stage().validator.restart();
      }));
  });
}

/** Compares accounts at the beginning and the end of the hour. */
function createHour(stage: () => Stage, initial: () => Balances) {
  const visit = () => stage().visit();
  let first: { lamports: Lamports; latest: string };

  /** All executions of all callers. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are what the test is about
  async function rows(): Promise<any[]> {
    const found = [];
    for (const caller of visit().demo.callers.keys()) {
      for (let page = 0; ; page += 100) {
        const { executions } = (await visit().send(`/v1/executions?limit=100&offset=${page}`, caller)).body;
        found.push(...executions.map((row: object) => ({ ...row, payer: caller })));
        if (executions.length < 100) break;
      }
    }
    return found;
  }
  const ids = async (): Promise<string[]> => (await rows()).map((row) => row.execution_id);

  /** Checks that the relay has lost nothing except its fees. */
  async function assertNothingLost(): Promise<Lamports> {
    const { fees, given } = await readFees(visit(), first.latest);
    const now = await readLamports(visit(), await ids());
    expect(total(now)).to.equal(total(first.lamports) - fees + given, JSON.stringify({ fees, given }, String));
    return now;
  }

  const now = async (): Promise<number> => {
    const account = await stage().validator.connection.getAccountInfo(CLOCK_ADDRESS, 'confirmed');
    return Number(decodeClock(account!.data));
  };

  return {
    begins(): void {
      describe('the accounts', () => {
        it("sum to the relay's start balance minus fees, including what it has lent", async () => {
          first = {
            lamports: await readLamports(visit(), await ids()),
            latest: await latestOf(visit()),
          };
          const { body } = await visit().execute('sandbox-echo', { task: 'counted' });
          expect(body.result).to.equal('counted');
          const after = await assertNothingLost();
          expect(total(first.lamports) - total(after)).to.equal(2n * BigInt(FEE));
        });
      });
    },

    /** Three days pass while the relay is dead. A stranger refunds one open call. */
    async passThreeDays(): Promise<void> {
      await assertNothingLost();
      const { connection } = stage().validator;
      const stranger = Keypair.generate();
      const keypair = join(stage().dataDir, 'stranger.json');
      writeFileSync(keypair, JSON.stringify([...stranger.secretKey]));
      const funding = await connection.requestAirdrop(stranger.publicKey, 1e9);
      await connection.confirmTransaction({ signature: funding, ...(await connection.getLatestBlockhash()) });

      const before = await visit().balances();
      const task = { task: 'left alone', parameters: { seconds: 25 }, timeout_seconds: 30, async: true };
      const { body } = await visit().execute('sandbox-slow', task);
      const id = body.execution_id;
      expect(await visit().escrowExists(id)).to.equal(true);
      await stage().end('SIGKILL');
      const began = await now();
      await stage().validator.warp(WARP_SLOTS);
      expect((await now()) - began).to.be.greaterThan(74 * 3_600);

      const refund = ['execution', 'refund', id, '--keypair', keypair, '--rpc-url', stage().validator.rpcUrl];
      const { code, stderr } = await cli(refund, { DATA_DIR: join(stage().dataDir, 'nowhere') });
      expect(code, stderr).to.equal(0);
      expect(await visit().balances()).to.deep.equal(before);
      expect(await visit().escrowExists(id)).to.equal(false);
      expect(await visit().lamports(stranger.publicKey)).to.equal(BigInt(1e9 - FEE));

      await stage().start();
      await visit().sendUntil(`/v1/executions/${id}`, 0, (answer) => answer.body.status === 'failed');
      expect(await visit().balances()).to.deep.equal(before);
    },

    ends(): void {
      describe('three days later', () => {
        let archived: string[];

        it('every eligible record is archived or closed, and no other', async () => {
          const since = (await now()) - 3 * 86_400;
          const all = await rows();
          const isOld = (row: { completed_at: string }) => Date.parse(row.completed_at) / 1_000 < since;
          const old = all.filter(isOld);
          archived = old.filter(({ status }) => status === 'completed').map((row) => row.execution_id);
          expect(archived.length).to.be.greaterThan(CONCURRENT + 16);
          const isThere = async (some: typeof all) => {
            const found = await Promise.all(
              some.map(({ execution_id }) => visit().exists(visit().recordOf(execution_id))),
            );
            return found.filter(Boolean).length;
          };
          const left = () => isThere(old);
          await until('all of them are gone', async () => (await left()) === 0, PATIENCE_MS, left);
          const young = all.filter((row) => !isOld(row));
          expect(await isThere(young)).to.equal(young.length);
        });

        it('each archived record has a proof that the validator alone confirms', async () => {
          const { demo, send, sendUntil } = visit();
          const leaves = new Set<number>();
          for (const id of archived) {
            const { body } = await sendUntil(`/v1/executions/${id}/archive`, null, ({ status }) => status === 200);
            leaves.add(body.leaf_index);
            const words = ['archive', 'verify', id, '--base-url', demo.base_url, '--rpc-url', demo.rpc_url, '--json'];
            const { code, stdout, stderr } = await runHere(words);
            expect(code, stderr).to.equal(0);
            expect(JSON.parse(stdout)).to.include({ execution_id: id, verified: true, status: 'completed' });
          }
          expect(leaves.size).to.equal(archived.length);
          const rebuilt = await runHere(['archive', 'rebuild', '0', '--rpc-url', demo.rpc_url, '--json']);
          expect(rebuilt.code, rebuilt.stderr).to.equal(0);
          expect((await send(`/v1/executions/${archived[0]}`, 0)).body.status).to.equal('completed');
        });

        it('all balances match the rows, and the relay is missing only its fees', async () => {
          const { demo, balances, send } = visit();
          const [one, other] = demo.callers.map(({ wallet }) => wallet) as [string, string];
          const expected = { ...initial() };
          expected[one]! += SLASH;
          expected[other]! -= GIFT;
          const units = (usdc: number) => BigInt(Math.round(usdc * 1e6));
          for (const row of await rows()) {
            if (row.status !== 'completed' && row.status !== 'disputed') continue;
            const { body } = await send(`/v1/executions/${row.execution_id}`, row.payer);
            const creator = demo.agents.find(({ agent_id }) => agent_id === row.agent_id)?.creator;
            expected[demo.callers[row.payer]!.wallet]! -= units(body.cost_usdc);
            if (creator) expected[creator]! += units(body.creator_amount_usdc);
            expected.treasury! += units(body.platform_amount_usdc);
          }
          expect(await balances()).to.deep.equal(expected);
          const { lent } = await assertNothingLost();
          expect(lent < first.lamports.lent, `${lent} are still lent`).to.equal(true);
        });
      });
    },
  };
}
