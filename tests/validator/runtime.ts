/** Chapters of the slow cluster and the newcomer: what the program needs of Agave's runtime, on the validator's own runtime. */
import { type Keypair, PublicKey, Transaction, type TransactionInstruction } from '@solana/web3.js';
import bs58 from 'bs58';
import { expect } from 'chai';
import { signingKeyPath } from '../../app/local/demoServers.ts';
import { loadSigningKey } from '../../app/sdk/creator/signingKey.ts';
import { errorFromCode, settleExecution } from '../../app/sdk/program/program.ts';
import { hashResult, parseResultHash, parseSignature, parseUuid, signResult } from '../../app/sdk/receipt/receipt.ts';
import { untilFound } from '../harness/edge/until.ts';
import type { Validator } from '../harness/node/validator.ts';
import { mixedOfNine, NINE, nineArguments, TEST_VERIFIER_ID } from '../harness/vm/verifier.ts';
import type { Stage } from './stage.ts';

const SANDBOX_PRICE = 10_000n;

/** The error of a transaction that the node has run. */
async function errorOf(
  { connection }: Pick<Validator, 'connection'>,
  instruction: TransactionInstruction,
  payer: Keypair,
): Promise<unknown> {
  const transaction = new Transaction({ feePayer: payer.publicKey, ...(await connection.getLatestBlockhash()) });
  transaction.add(instruction).sign(payer);
  const signature = bs58.encode(transaction.signature!);
  await connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true });
  const { err } = await untilFound(`the node has run ${signature}`, async () => {
    const { value } = await connection.getSignatureStatus(signature);
    const isFirm = value?.confirmationStatus === 'confirmed' || value?.confirmationStatus === 'finalized';
    return isFirm ? value : null;
  });
  return err;
}

/** Whether functions get all arguments depends on the features of the cluster. */
export function tellOfArguments(validator: () => Validator): void {
  it('passes all nine arguments to a function, which detects a different one', async () => {
    const nine = NINE.map((bytes, at) => 2n ** BigInt(bytes * 8 - 1) + BigInt(at));
    const run = (expected: bigint) => errorOf(validator(), nineArguments(nine, expected), validator().payer);
    expect(await run(mixedOfNine(nine)), `${TEST_VERIFIER_ID}`).to.equal(null);
    const errors = NINE.map((_, at) => run(mixedOfNine(nine.with(at, nine[at]! - 1n))));
    expect(await Promise.all(errors)).to.deep.equal(NINE.map(() => ({ InstructionError: [0, { Custom: 6000 }] })));
  });
}

/** The curve25519 of the runtime decides about each payment. */
export function tellOfSignatures(stage: () => Stage): void {
  it('rejects: a settle with one changed signature bit, and moves nothing; the unchanged settle pays', async () => {
    const { visit, identities, demoDir, validator } = stage();
    const { demo, agent, command, balances, escrowExists, usdcOf } = visit();
    const { agent_id, creator } = agent('sandbox-echo');
    const caller = demo.callers[1]!;
    const opened = await command(caller.keypair_path, 'execution', 'open', agent_id, '--task', 'by hand');
    const relay = identities.relayAuthority;
    const resultHash = hashResult('by hand');
    const signature = parseSignature(signResult(loadSigningKey(signingKeyPath(demoDir, 'sandbox-echo')), resultHash))!;
    const settle = (signed: Uint8Array) =>
      settleExecution({
        relayAuthority: relay.publicKey,
        executionId: parseUuid(opened.execution_id)!,
        caller: new PublicKey(caller.wallet),
        listing: new PublicKey(agent_id),
        payout: usdcOf(creator),
        rentSponsor: new PublicKey(caller.wallet),
        resultHash: parseResultHash(resultHash),
        signature: signed,
        executionTimeMs: 1,
        gasLamports: 0,
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
      const error = (await errorOf(validator, settle(forged), relay)) as {
        InstructionError: [number, { Custom: number }];
      };
      expect(errorFromCode(error.InstructionError[1].Custom)?.name).to.equal('SignatureInvalid');
    }
    expect(await balances()).to.deep.equal(before);
    expect(await escrowExists(opened.execution_id)).to.equal(true);

    expect(await errorOf(validator, settle(signature), relay)).to.equal(null);
    expect(await escrowExists(opened.execution_id)).to.equal(false);
    // The wallet paid at the open.
    const paid = { ...before, [caller.wallet]: before[caller.wallet]! + SANDBOX_PRICE };
    visit().assertPaid(paid, await balances(), 'sandbox-echo', SANDBOX_PRICE, 1);
  });
}
