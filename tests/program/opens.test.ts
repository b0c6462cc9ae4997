/** Reasons for which every open is refused, whether a wallet, a key or a deposit pays. */
import type { Keypair, TransactionInstruction } from '@solana/web3.js';
import * as program from '../../app/sdk/program/program.ts';
import { createNonce, deriveExecutionId } from '../../app/sdk/receipt/receipt.ts';
import { TEST_CALLER_ID } from '../harness/vm/outcome.ts';
import { START } from '../harness/vm/vm.ts';
import { PRICE, TERMS, USDC, useWorld } from '../harness/vm/world.ts';

type Change = Partial<program.OpenTerms & Pick<program.OpenExecutionInput, 'rentSponsor'>>;

describe('every open', () => {
  const w = useWorld();

  /** Makes each deposit's address its own. */
  let asked = 0;
  /** How each way makes an open, and who signs it. A deposit is prepared and paid for these terms first. */
  const WAYS: Record<string, (change: Change) => Promise<[TransactionInstruction, Keypair]>> = {
    'by a wallet': async (change) => [program.openExecution(w.openInput(change)), w.caller],
    'by a key': async (change) => [program.openExecutionWithGrant(w.openGrantInput(change)), w.relay],
    'from a deposit': async ({ rentSponsor = w.relay.publicKey, ...change }) => {
      asked += 1;
      const terms = w.openTerms(w.caller.publicKey, { requestHash: new Uint8Array(32).fill(asked), ...change });
      const quote = w.quote(terms);
      const { address, vault } = program.depositAddress(quote);
      await w.must([program.prepareDeposit(w.prepareInput(quote))], [w.relay]);
      await w.must([w.pay(vault, quote.price + quote.serviceFee)], [w.caller]);
      return [program.openExecutionFromDeposit(w.openDepositInput(terms, address, { rentSponsor })), w.relay];
    },
  };
  const config = (change: Partial<program.Config>) => w.overwrite('Config', program.findConfig(), change);
  const listing = (change: Partial<program.AgentListing>) => w.overwrite('AgentListing', w.listing, change);
  const book = (change: Partial<program.CreatorCollateral>) =>
    w.overwrite('CreatorCollateral', program.findCollateral(w.listing), change);

  for (const [way, open] of Object.entries(WAYS)) {
    const refuses = async (error: string, change: Change) => {
      const [instruction, signer] = await open(change);
      await w.rejects([instruction], [signer], error);
    };
    const opens = async (change: Change) => {
      const [instruction, signer] = await open(change);
      await w.must([instruction], [signer]);
    };

    it(`${way} takes terms at their limits, and is refused one step over each and for another listing than was seen`, async () => {
      const within: Change[] = [{ maxPrice: PRICE }, { maxPrice: 2n ** 64n - 1n }, { openBefore: START }];
      const timeouts = [TERMS.minTimeoutSeconds, TERMS.timeoutSeconds];
      for (const change of [...within, ...timeouts.map((timeoutSeconds) => ({ timeoutSeconds }))]) await opens(change);
      await refuses('PriceAboveMax', { maxPrice: PRICE - 1n });
      for (const timeoutSeconds of [timeouts[0]! - 1, timeouts[1]! + 1]) {
        await refuses('TimeoutOutOfRange', { timeoutSeconds });
      }
      await refuses('OpenTooLate', { openBefore: START - 1n });
      for (const halfHour of [w.halfHour() + 1, w.halfHour() - 2]) {
        await refuses('WrongNonceHalfHour', { nonce: createNonce(halfHour) });
      }
      for (const gasLamports of [100_001, 0xffff_ffff]) await refuses('GasOutOfBounds', { gasLamports });
      for (const listingVersion of [0, 2]) await refuses('ListingVersionMismatch', { listingVersion });
    });

    it(`${way} is refused at an id that is used, or not derived from caller and nonce`, async () => {
      const { nonce, executionId } = w.openTerms();
      const raw = executionId.map((byte, at) => (at === 6 ? byte ^ 0x10 : byte));
      const foreign = deriveExecutionId(w.stranger.publicKey.toBytes(), nonce);
      for (const id of [raw, foreign]) await refuses('WrongExecutionId', { nonce, executionId: id });
      for (const end of ['settleInstruction', 'refundInstruction'] as const) {
        const run = await w.open();
        const used = { nonce: run.nonce, executionId: run.executionId };
        await refuses('AccountExists', used);
        await w.must([w[end](run)], [w.relay]);
        await refuses('AccountExists', used);
      }
    });

    it(`${way} is refused while opens are paused, the listing is, or it is exposed too much`, async () => {
      for (const pauses of [
        { adminPaused: true, guardianPaused: false },
        { adminPaused: false, guardianPaused: true },
      ]) {
        await config(pauses);
        await refuses('OpensPaused', {});
      }
      await config({ guardianPaused: false });
      await listing({ status: 'paused' });
      await refuses('ListingNotActive', {});
      await listing({ status: 'active' });
      // The deposit of 10 USDC, of which losses and forfeits do not count, covers eight executions at this multiple.
      await config({ exposureMultiple: 1 });
      await book({ slashed: 2n * USDC, exposureOpened: 6n * PRICE, exposureWindowStart: START });
      await refuses('ExposureLimitReached', {});
      await book({ deposited: 7n * PRICE, slashed: 0n });
      await opens({});
      const windowSeconds = 259_200n;
      await w.vm.setClock(START + windowSeconds - 1n);
      await refuses('ExposureLimitReached', {});
      await w.vm.setClock(START + windowSeconds);
      await opens({});
      await book({ exposureOpened: 2n ** 64n - 1n });
      await refuses('ArithmeticOverflow', {});
      await book({ exposureOpened: 0n, slashed: 10n * USDC + 1n });
      await refuses('CollateralInsolvent', {});
    });

    it(`${way} names no program, nor its own record or escrow, as the receiver of its rent`, async () => {
      const { nonce, executionId } = w.openTerms();
      const record = program.findExecution(executionId);
      for (const rentSponsor of [record, program.findEscrow(record), TEST_CALLER_ID]) {
        await refuses('InvalidRentSponsor', { nonce, executionId, rentSponsor });
      }
      // A program that a transaction calls is never writable in it.
      await refuses('ConstraintMut', { rentSponsor: program.PROGRAM_ID });
    });
  }
});
