/** Opens a dispute: the evidence is hashed here and stored by the marketplace, and its hash is signed on the chain. */
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { DECISION_SECONDS } from '../../../sdk/wire/choices.ts';
import { formatSol } from '../../../sdk/wire/sol.ts';
import { parseUsdc } from '../../../sdk/wire/usdc.ts';
import { FileField } from '../../parts/fileField.tsx';
import { AskBeforeLeaving } from '../../parts/leave.tsx';
import { SignDialog, type Signing } from '../../parts/sign.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { cx, Skeleton, TextArea } from '../../parts/ui.tsx';
import { formatSpan } from '../../parts/values.tsx';
import { call } from '../../service.ts';
import { depositWords, meanwhile, Outcomes } from '../disputes/outcomes.tsx';
import { type Stakes, stakesQuery } from '../disputes/stakes.ts';
import { ACCEPTED, type Evidence, evidenceOf, MAX_KIB, readEvidenceFile, toBase64 } from './evidence.ts';
import type { Execution } from './facts.tsx';
import { idBytes } from './record.ts';

interface OpenDisputeProps {
  execution: Execution;
  open: boolean;
  onClose(): void;
}

const sol = (lamports: bigint): string => `${formatSol(lamports)} SOL`;

type Chosen = { name: string; evidence: Evidence | null; error: string | null };

export function OpenDisputeDialog({ execution, open, onClose }: OpenDisputeProps) {
  const {
    data: stakes,
    error: unread,
    refetch,
  } = useQuery({ ...stakesQuery(execution.agent_id, null), enabled: open });
  const [kind, setKind] = useState<'text' | 'file'>('text');
  const [text, setText] = useState('');
  const [file, setFile] = useState<Chosen | null>(null);
  const written = useMemo(() => writtenEvidence(text), [text]);
  const { evidence, error } = (kind === 'text' ? written : file) ?? { evidence: null, error: null };

  return (
    <>
      <AskBeforeLeaving when={open && (text !== '' || file !== null)} title="Leave without disputing?">
        The dispute is not opened yet. Your input is lost if you leave.
      </AskBeforeLeaving>
      {open && (
        <SignDialog
          title="Open a dispute"
          about={
            <>
              {/* As high as what it will say, so that nothing moves. */}
              <span className="block min-h-20 font-medium text-ink sm:min-h-10">{costWords(stakes, unread)}</span>
              Describe what is wrong. The admin compares it with the result and should decide within{' '}
              {DECISION_SECONDS / 3_600} hours.
            </>
          }
          spends={stakes && { lamports: stakes.bond + stakes.deposit }}
          doing="Opening the dispute"
          confirm={stakes ? `Pay the bond of ${sol(stakes.bond)} and open` : 'Pay the bond and open'}
          danger
          disabled={!evidence || !stakes}
          whyNot={stakes ? 'Describe what is wrong first.' : null}
          work={(signing) => dispute(signing, execution.execution_id, evidence!, stakes!.bond)}
          done={() => ['The dispute is open', 'The admin and the creator can read your evidence.']}
          onClose={onClose}
          onDone={() => {
            setText('');
            setFile(null);
          }}
        >
          <fieldset className="flex gap-1 rounded-lg bg-sunken p-1">
            <legend className="sr-only">Evidence</legend>
            <Choice label="Write it" checked={kind === 'text'} onChoose={() => setKind('text')} />
            <Choice label="Choose a file" checked={kind === 'file'} onChoose={() => setKind('file')} />
          </fieldset>
          {kind === 'text' ? (
            <TextArea
              label="What is wrong"
              hint={`A call can be disputed only once, so describe everything. At most ${MAX_KIB} KiB. The admin and the creator can read it.`}
              rows={5}
              value={text}
              onChange={(event) => setText(event.target.value)}
              error={text === '' ? null : error}
            />
          ) : (
            <FileField
              label="Evidence file"
              hint={`It must say what is wrong: the admin and the creator get only this file. Text, PDF, PNG, JPEG or JSON, at most ${MAX_KIB} KiB. It is hashed in your browser.`}
              error={error}
              accept={ACCEPTED}
              onFile={async (chosen) => setFile(chosen ? await fileEvidence(chosen) : null)}
            />
          )}
          <section className="grid gap-3" aria-label="What is at stake">
            <h3 className="text-sm font-medium">What is at stake</h3>
            {stakes ? (
              <>
                <Outcomes
                  stakes={stakes}
                  price={parseUsdc(execution.cost_usdc)}
                  reader="caller"
                  lapse={`Anybody can end it ${formatSpan(stakes.lapseSeconds)} after today.`}
                  isNarrow
                />
                <p className="text-sm text-faint">
                  {meanwhile(stakes)} {depositWords(stakes, 'caller')}
                </p>
              </>
            ) : unread ? (
              <Trouble error={unread} what="The collateral on the chain" onRetry={refetch} />
            ) : (
              <Skeleton className="h-128" />
            )}
          </section>
        </SignDialog>
      )}
    </>
  );
}

/** What is paid now, and what is lost if the dispute is rejected. */
function costWords(stakes: Stakes | undefined, unread: Error | null): string {
  if (!stakes) return unread ? 'The bond could not be read.' : 'Reading the bond …';
  return `You pay ${sol(stakes.bond)} as a bond and ${sol(stakes.deposit)} as a refundable deposit now. If the dispute is rejected, you lose the bond.`;
}

function Choice({ label, checked, onChoose }: { label: string; checked: boolean; onChoose(): void }) {
  return (
    <label
      className={cx(
        'flex min-h-8 flex-1 cursor-pointer items-center justify-center rounded-md px-3 text-sm font-medium',
        'has-focus-visible:outline-2 has-focus-visible:outline-accent',
        checked ? 'bg-raised shadow-xs' : 'text-faint',
      )}
    >
      <input type="radio" name="evidence" className="sr-only" checked={checked} onChange={onChoose} />
      {label}
    </label>
  );
}

function writtenEvidence(text: string): Chosen {
  try {
    return { name: 'text', evidence: evidenceOf(new TextEncoder().encode(text.trim()), 'text/plain'), error: null };
  } catch (error) {
    return { name: 'text', evidence: null, error: (error as Error).message };
  }
}

async function fileEvidence(file: File): Promise<Chosen> {
  try {
    return { name: file.name, evidence: await readEvidenceFile(file), error: null };
  } catch (error) {
    return { name: file.name, evidence: null, error: (error as Error).message };
  }
}

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
  });
  if (kept.evidence_hash !== hashHex) throw new Error('The marketplace stored different bytes. Try again.');
  onProgress(`SHA-256 of the evidence: ${hashHex}`);
  say(`Opening the dispute with a bond of ${sol(maxBond)}`);
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
