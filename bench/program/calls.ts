/**
 * Measures the same paid call for several callers. The program searches for the addresses of a call's record and
 * escrow. Each bump that misses costs 1,500 compute units, so a single call is not representative.
 */
import * as program from '../../app/sdk/program/program.ts';
import { createNonce } from '../../app/sdk/receipt/receipt.ts';
import { namedKeypair } from '../../tests/harness/vm/keys.ts';
import { GAS_BALANCE, PRICE, USDC, world } from '../../tests/harness/vm/world.ts';
import { median, quantile } from '../figures.ts';
import { type Cost, measure } from './measure.ts';

type Stage = 'open' | 'settle' | 'refund';

/** Compute units. */
export interface CallCosts {
  /** Number of opens. Half of them settle, half are refunded. */
  calls: number;
  /** Medians. */
  units: Record<Stage, number>;
  opens: { min: number; p50: number; p90: number; max: number };
}

/** `first` are the open and the settle of the first call. */
export async function callCosts(calls: number): Promise<CallCosts & { first: Cost[] }> {
  const w = await world({ kind: 'litesvm' });
  const costs: Record<Stage, Cost[]> = { open: [], settle: [], refund: [] };
  for (let call = 0; call < calls; call += 1) {
    const caller = namedKeypair(`bench caller ${call}`);
    const wallet = caller.publicKey;
    await w.vm.airdrop(wallet, 2_000_000_000n);
    w.vm.setWallet(wallet, w.usdcMint, 10n * USDC);
    const grant = program.createGrant({ ...w.grantInput(), wallet, payer: wallet });
    const approve = program.approveSpender({ wallet, usdcMint: w.usdcMint, amount: PRICE });
    await w.must([grant, approve, program.depositGas({ from: wallet, wallet, lamports: GAS_BALANCE })], [caller]);

    const terms = w.openTerms(wallet, { nonce: createNonce(w.halfHour(), wallet.toBytes().slice(0, 12)) });
    const input = w.openGrantInput({ wallet, ...terms });
    const execution = w.execution(terms.nonce, wallet, w.keyId, input.payer);
    const open = [program.openExecutionWithGrant(input)];
    costs.open.push(await measure(w.vm, { name: 'open', instructions: open, signers: [w.relay] }));
    const [end, instruction] =
      call % 2 === 0
        ? (['settle', w.settleInstruction(execution)] as const)
        : (['refund', w.refundInstruction(execution)] as const);
    costs[end].push(await measure(w.vm, { name: end, instructions: [instruction], signers: [w.relay] }));
  }
  const of = (stage: Stage) => costs[stage].map(({ units }) => units);
  const [min, p50, p90, max] = [0, 0.5, 0.9, 1].map((share) => quantile(of('open'), share));
  return {
    calls,
    first: [costs.open[0]!, costs.settle[0]!],
    units: { open: median(of('open')), settle: median(of('settle')), refund: median(of('refund')) },
    opens: { min: min!, p50: p50!, p90: p90!, max: max! },
  };
}
