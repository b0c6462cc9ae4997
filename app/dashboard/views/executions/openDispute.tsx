/** Opens a dispute: the evidence is hashed here and stored by the marketplace, and its hash is signed on the chain. */
import { useQuery } from '@tanstack/react-query';
import { SIGNATURE_FEE } from '../../../sdk/wallet/usualAmounts.ts';
import { DECISION_SECONDS } from '../../../sdk/wire/choices.ts';
import { bondWorth } from '../../parts/amount.ts';
import { AskBeforeLeaving } from '../../parts/leave.tsx';
import { Away } from '../../parts/links.tsx';
import { SignDialog, type Signing } from '../../parts/sign.tsx';
import { formatAmount, formatLamports, formatSpan } from '../../parts/values.tsx';
import { call, configQuery, explain } from '../../service.ts';
import { DISPUTE_LAPSE_SECONDS, ENDED_DISPUTE_SECONDS } from '../../wallet/programTerms.ts';
import { StakesFor } from '../disputes/atStake.tsx';
import { type Stakes, stakesQuery } from '../disputes/stakes.ts';
import {
  ACCEPTED,
  type Evidence,
  EvidenceFields,
  MAX_KIB,
  readEvidenceFile,
  toBase64,
  useEvidence,
} from './evidenceFields.tsx';
import type { Execution } from './facts.tsx';
import { idBytes } from './record.ts';

interface OpenDisputeProps {
  execution: Execution;
  open: boolean;
  onClose(): void;
}

export function OpenDisputeDialog({ execution, open, onClose }: OpenDisputeProps) {
  const query = useQuery({ ...stakesQuery(execution.agent_id, null), enabled: open });
  const { data: stakes, error: unread } = query;
  const { data: config } = useQuery(configQuery);
  const bond = config?.dispute_bond_lamports;
  const entered = useEvidence(readEvidenceFile);
  const { evidence } = entered;

  return (
    <>
      <AskBeforeLeaving when={open && entered.isBegun} title="Leave without disputing?">
        The dispute is not opened yet. Your input is lost if you leave.
      </AskBeforeLeaving>
      {open && (
        <SignDialog
          title="Open a dispute"
          about={`Describe what is wrong. The admin compares it with the result and aims to decide within ${formatSpan(DECISION_SECONDS)}.`}
          spends={stakes && { lamports: costOf(stakes) }}
          pays={costWords(stakes, unread)}
          doing="Opening the dispute"
          confirm="Pay and open"
          danger
          disabled={!evidence || !stakes}
          whyNot={!evidence ? 'Describe what is wrong first.' : unread ? null : 'Reading what is at stake …'}
          work={(signing) => dispute(signing, execution.execution_id, evidence!, stakes!.bond)}
          done={() => ['The dispute is open', 'The admin and the creator can read your evidence.']}
          onClose={onClose}
          onDone={entered.clear}
        >
          <p className="text-sm">
            {bond !== undefined &&
              `You put down a bond of ${formatLamports(bond)} to get back at most ${formatAmount(execution.cost_usdc)}. The bond is ${bondWorth(bond, execution.cost_usdc)}. `}
            <Away href="/terms#disputes">Rules of disputes</Away>
          </p>
          <EvidenceFields
            entered={entered}
            label="What is wrong"
            textHint={`A call can be disputed only once, so describe everything. At most ${MAX_KIB} KiB. ${KEPT_FIRST}`}
            fileHint={`It must say what is wrong: the admin and the creator get only this file. Text, PDF, PNG, JPEG or JSON, at most ${MAX_KIB} KiB. ${KEPT_FIRST}`}
            accept={ACCEPTED}
          />
          <section className="grid gap-3" aria-label="What is at stake">
            <h3 className="text-sm font-medium">What is at stake</h3>
            <StakesFor
              query={query}
              price={execution.cost_usdc}
              reader="caller"
              lapse={`Anybody can end it ${formatSpan(DISPUTE_LAPSE_SECONDS)} after today.`}
            />
          </section>
        </SignDialog>
      )}
    </>
  );
}

const costOf = ({ bond, deposit }: Stakes): bigint => bond + deposit + SIGNATURE_FEE;

/** About as wide as an amount of SOL. */
const UNREAD = `…${'\u2007'.repeat(10)}`;

/** Everything that leaves the wallet now; as long while the stakes are read, so that nothing moves. */
function costWords(stakes: Stakes | undefined, unread: Error | null) {
  if (unread && !stakes) return { sum: 'an amount that could not be read' };
  const show = (lamports: bigint | undefined) => (lamports === undefined ? UNREAD : formatLamports(lamports));
  return {
    sum: `about ${show(stakes && costOf(stakes))}`,
    kept: `bond ${show(stakes?.bond)}, lost if rejected; deposit ${show(stakes?.deposit)}, which comes back ${formatSpan(ENDED_DISPUTE_SECONDS)} after the dispute ends`,
  };
}

const KEPT_FIRST =
  'Before you sign, it is stored here for the admin and the creator to read. If that fails, no dispute is opened.';

/** Sends the evidence first: otherwise a dispute could be decided without it. */
async function dispute(
  { marketplace, wallet, say, onProgress, disputeExecution, archiveFrom }: Signing,
  executionId: string,
  { bytes, mediaType, hash, hashHex }: Evidence,
  /** The bond as shown to the user, lamports. */
  maxBond: bigint,
) {
  say('Sending the evidence to the marketplace');
  const kept = await call('disputes.putEvidence', {
    execution_id: executionId,
    content: toBase64(bytes),
    media_type: mediaType,
  }).catch((error: unknown) => {
    throw new Error(`Your evidence was not stored, so no dispute is opened and nothing is paid. ${explain(error)}`);
  });
  if (kept.evidence_hash !== hashHex) throw new Error('The marketplace stored different bytes. Try again.');
  onProgress(`SHA-256 of the evidence: ${hashHex}`);
  say(`Opening the dispute with a bond of ${formatLamports(maxBond)}`);
  return disputeExecution(marketplace, {
    wallet,
    executionId: idBytes(executionId),
    evidenceHash: hash,
    evidenceUri: '',
    maxBond,
    findArchive: archiveFrom(marketplace),
    onProgress,
  });
}
