/** Steps of disputes: opened by callers, resolved by the admin, lapsed and claimed by anyone. */
import type { PublicKey } from '@solana/web3.js';
import * as program from '../../../../app/sdk/program/program.ts';
import { ADMINS, CALLERS, CREATORS, MINT, STRANGER, spareAccount, TREE, wallet } from '../cast.ts';
import type { Draw } from '../draw.ts';
import { proofOf } from '../leaves.ts';
import { key, type Ledger, text } from '../ledger.ts';
import { config } from '../rules/config.ts';
import * as rules from '../rules/disputes.ts';
import { type ExecutionRecord, idOf } from '../rules/executions.ts';
import { available, collateralOf } from '../rules/listings.ts';
import { receivesFor } from '../rules/token.ts';
import { archiveExecutions } from './archive.ts';
import { settleExecution, someRecord } from './executions.ts';
import { thaw } from './happenings.ts';
import { mostly } from './listings.ts';
import { fromHex, type Planner, plan, somePayer, until } from './plan.ts';

const EVIDENCE = new Uint8Array(32).fill(0xee);
const LAPSE = BigInt(program.constants.disputeLapseSeconds);
const ENDED = BigInt(program.constants.endedDisputeSeconds);
const REASON = new Uint8Array(32).fill(0x0e);

/** The maximum bond that the caller accepts, usually exactly the bond. */
function someBond(ledger: Ledger, draw: Draw): bigint {
  const bond = config(ledger).disputeBondLamports;
  return draw.maybe(5) && bond > 0n ? bond - 1n : bond;
}

export const openDispute: Planner = (scene, draw) => {
  const { ledger } = scene;
  const disputable = ({ status, settledAt, disputeWindowSeconds, executionId }: ExecutionRecord) =>
    status === 'completed' &&
    ledger.now < settledAt + BigInt(disputeWindowSeconds) &&
    !ledger.find('Dispute', rules.disputeOf(fromHex(executionId)));
  const record = someRecord(ledger, draw, disputable);
  if (!record) return settleExecution(scene, draw);
  const caller = draw.maybe(5) ? draw.of([STRANGER, ...CALLERS]) : key(record.caller);
  const input = {
    ...{ caller, payer: somePayer(ledger, draw, caller) },
    executionId: fromHex(record.executionId),
    listing: mostly(ledger, draw, record.listing),
    maxBond: someBond(ledger, draw),
    evidenceHash: EVIDENCE,
    evidenceUri: draw.maybe(4) ? 'e'.repeat(201) : draw.of(['https://example.com/evidence', '', 'e'.repeat(200)]),
  };
  return plan('DisputeOpened', program.openDispute, input, rules.openDispute);
};

/** By the leaf of an archived record: the true one, or one with a changed field. */
export const openDisputeWithProof: Planner = (scene, draw) => {
  const { ledger, leaves } = scene;
  const disputable = ({ settledAt, disputeWindowSeconds, executionId }: program.ExecutionRecord) =>
    ledger.now < settledAt + BigInt(disputeWindowSeconds) && !ledger.find('Dispute', rules.disputeOf(executionId));
  const archived = leaves.flatMap(({ execution }) => execution ?? []);
  const execution = draw.prefer(archived, disputable);
  if (!execution) return archiveExecutions(scene, draw);
  const leafIndex = leaves.findIndex((leaf) => leaf.execution === execution);
  const later = execution.settledAt + 2_592_000n;
  const lies: Partial<program.ExecutionRecord>[] = [
    { price: execution.price + 1n },
    { settledAt: later },
    { disputeWindowSeconds: 2_592_000 + 1 },
    { caller: STRANGER },
    { resultHash: EVIDENCE },
  ];
  const lie = draw.maybe(15) ? draw.of(lies) : {};
  const told = { ...execution, ...lie };
  const input = {
    ...{ execution: told, payer: somePayer(ledger, draw, told.caller) },
    ...{ archiveIndex: 0, tree: TREE, leafIndex, proof: proofOf(leaves, leafIndex, draw.of([0, 1, 50])) },
    maxBond: someBond(ledger, draw),
    evidenceHash: EVIDENCE,
    evidenceUri: draw.of(['https://example.com/evidence', '', 'e'.repeat(200)]),
  };
  const isTrue = Object.keys(lie).length === 0 || (lie.caller?.equals(execution.caller) ?? false);
  return plan('DisputeOpened', program.openDisputeWithProof, input, rules.openDisputeWithProof, isTrue);
};

/** A dispute with its execution's id, usually one that is wanted. */
function someDispute(ledger: Ledger, draw: Draw, wanted: (dispute: rules.Dispute) => boolean) {
  const dispute = draw.prefer(ledger.all('Dispute'), ([, candidate]) => wanted(candidate))?.[1];
  return dispute && { dispute, executionId: idOf(dispute.record) };
}

/** The slashed amount of an upheld dispute: values on both sides of every limit. */
function someAmount(ledger: Ledger, draw: Draw, { listing, price }: rules.Dispute): bigint {
  const collateral = ledger.find('CreatorCollateral', collateralOf(listing))!;
  const left = available(collateral);
  const most = left + collateral.forfeited;
  const edges = [
    ...[price, price / 2n, 0n, 1n, price + 1n, left, left + 1n, most, left / 2n],
    ...[20n * price, 20n * price + 1n],
  ];
  const sane = edges.filter((amount) => amount <= most);
  return draw.maybe(5) ? most + 1n : draw.of(sane);
}

export const resolveDispute: Planner = (scene, draw) => {
  const { ledger } = scene;
  const found = someDispute(ledger, draw, ({ outcome }) => outcome === 'open');
  if (!found) return openDispute(scene, draw);
  const { dispute, executionId } = found;
  const upheld = !draw.maybe(30);
  const { creator } = ledger.find('AgentListing', dispute.listing)!;
  const input = {
    admin: draw.maybe(4) ? draw.of([STRANGER, ...ADMINS]) : key(config(ledger).admin),
    executionId,
    listing: mostly(ledger, draw, dispute.listing),
    caller: draw.maybe(4) ? draw.of(CALLERS) : key(dispute.caller),
    creator: draw.maybe(4) ? draw.of(CREATORS) : key(creator),
    rentSponsor: draw.maybe(4) ? STRANGER : key(dispute.rentSponsor),
    ...{ usdcMint: MINT, upheld, reasonHash: REASON },
    amount: upheld ? someAmount(ledger, draw, dispute) : draw.maybe(5) ? 1n : 0n,
  };
  return plan('DisputeResolved', program.resolveDispute, input, rules.resolveDispute);
};

export const lapseDispute: Planner = ({ ledger }, draw) => {
  const forgotten = ({ outcome, openedAt }: rules.Dispute) => outcome === 'open' && ledger.now >= openedAt + LAPSE;
  const found = someDispute(ledger, draw, forgotten);
  const open = [...ledger.all('Dispute')].filter(([, { outcome }]) => outcome === 'open');
  if (!found)
    return until(
      ledger,
      open.map(([, { openedAt }]) => openedAt + LAPSE),
    );
  const { dispute, executionId } = found;
  const input = {
    executionId,
    listing: mostly(ledger, draw, dispute.listing),
    rentSponsor: draw.maybe(6) ? STRANGER : key(dispute.rentSponsor),
  };
  return plan('DisputeLapsed', program.lapseDispute, input, rules.lapseDispute);
};

export const claimDisputeAward: Planner = (scene, draw) => {
  const { ledger } = scene;
  const usable = (caller: PublicKey) =>
    [wallet(caller), spareAccount(caller)].filter((place) => receivesFor(ledger, place, text(caller)));
  const payable = ({ owed, caller }: rules.Dispute) => owed > 0n && usable(key(caller)).length > 0;
  const found = someDispute(ledger, draw, draw.maybe(30) ? ({ owed }) => owed > 0n : payable);
  if (!found) return resolveDispute(scene, draw);
  const { dispute, executionId } = found;
  const { rentSponsor } = ledger.find('CreatorCollateral', collateralOf(dispute.listing))!;
  const caller = key(dispute.caller);
  const [place = wallet(caller)] = usable(caller);
  // Most awards wait for a frozen account.
  if (ledger.get(place).token?.frozen && draw.maybe(50)) return thaw(place);
  // Only the caller may choose another destination than its associated account.
  const authority = place === wallet(caller) ? draw.of([STRANGER, caller]) : caller;
  const input = {
    ...{ authority, executionId },
    listing: mostly(ledger, draw, dispute.listing),
    destination: key(draw.maybe(6) ? draw.of([spareAccount(caller), wallet(STRANGER)]) : place),
    rentSponsor: draw.maybe(6) ? STRANGER : key(rentSponsor),
  };
  return plan('DisputeAwardClaimed', program.claimDisputeAward, input, rules.claimDisputeAward);
};

export const closeDispute: Planner = ({ ledger }, draw) => {
  const ended = ({ outcome, owed }: rules.Dispute) => outcome !== 'open' && owed === 0n;
  const old = (dispute: rules.Dispute) => ended(dispute) && ledger.now >= dispute.resolvedAt + ENDED;
  const found = someDispute(ledger, draw, old);
  if (!found) {
    const waiting = [...ledger.all('Dispute')].filter(([, dispute]) => ended(dispute));
    return until(
      ledger,
      waiting.map(([, { resolvedAt }]) => resolvedAt + ENDED),
    );
  }
  const { dispute, executionId } = found;
  const input = { executionId, rentSponsor: draw.maybe(8) ? STRANGER : key(dispute.rentSponsor) };
  return plan('DisputeClosed', program.closeDispute, input, rules.closeDispute);
};
