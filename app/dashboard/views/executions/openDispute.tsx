/** Opens a dispute: the evidence is hashed here and stored by the marketplace, and its hash is signed on the chain. */
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { formatSol } from '../../../sdk/wire/sol.ts';
import { AskBeforeLeaving } from '../../parts/leave.tsx';
import { SignDialog, type Signing } from '../../parts/sign.tsx';
import { cx, Field, TextArea } from '../../parts/ui.tsx';
import { formatAmount, Id } from '../../parts/values.tsx';
import { call, configQuery } from '../../service.ts';
import { ACCEPTED, type Evidence, evidenceOf, MAX_KIB, readEvidenceFile, toBase64 } from './evidence.ts';
import type { Execution } from './facts.tsx';
import { idBytes } from './record.ts';

interface OpenDisputeProps {
  execution: Execution;
  open: boolean;
  onClose(): void;
}

type Chosen = { name: string; evidence: Evidence | null; error: string | null };

export function OpenDisputeDialog({ execution, open, onClose }: OpenDisputeProps) {
  const { data: config } = useQuery(configQuery);
  const [kind, setKind] = useState<'text' | 'file'>('text');
  const [text, setText] = useState('');
  const [file, setFile] = useState<Chosen | null>(null);
  const written = useMemo(() => writtenEvidence(text), [text]);
  const { evidence, error } = (kind === 'text' ? written : file) ?? { evidence: null, error: null };
  const bond = config ? `${formatSol(BigInt(config.dispute_bond_lamports))} SOL` : 'a bond in SOL';

  return (
    <>
      <AskBeforeLeaving when={open && (text !== '' || file !== null)} title="Leave without disputing?">
        The dispute is not opened yet. Your input is lost if you leave.
      </AskBeforeLeaving>
      {open && (
        <SignDialog
          title="Open a dispute"
          about="Describe what is wrong with the result. The admin compares it with the result and decides within 72 hours."
          rows={[
            ['You pay now', `${bond} as a bond, and a refundable deposit`],
            [
              'If upheld',
              `you get up to ${formatAmount(execution.cost_usdc)} of the creator's collateral, and the bond back`,
            ],
            ['If rejected', 'the bond goes to the creator, and the execution stays completed'],
            ['If undecided', 'after 30 days anybody can end it, and the bond is returned'],
            ['Evidence hash', evidence ? <Id key="hash" value={evidence.hashHex} /> : 'made from your text or file'],
          ]}
          confirm="Sign and dispute"
          danger
          disabled={!evidence || !config}
          work={(signing) => dispute(signing, execution.execution_id, evidence!, BigInt(config!.dispute_bond_lamports))}
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
              hint={`An execution can be disputed only once, so describe everything. At most ${MAX_KIB} KiB. The admin and the creator can read it.`}
              rows={5}
              value={text}
              onChange={(event) => setText(event.target.value)}
              error={text === '' ? null : error}
            />
          ) : (
            <Field
              label="Evidence file"
              hint={`Text, PDF, PNG, JPEG or JSON, at most ${MAX_KIB} KiB. It is hashed in your browser, and the admin and the creator can read it.`}
              error={error}
            >
              {(props) => (
                <input
                  type="file"
                  accept={ACCEPTED}
                  className="w-full text-sm file:mr-3 file:min-h-10 file:cursor-pointer file:rounded-lg file:border file:border-solid file:border-line file:bg-raised file:px-4 file:font-medium"
                  onChange={async ({ target }) => {
                    const [chosen] = target.files ?? [];
                    setFile(chosen ? await fileEvidence(chosen) : null);
                  }}
                  {...props}
                />
              )}
            </Field>
          )}
        </SignDialog>
      )}
    </>
  );
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
  say('Sending the evidence to the marketplace.');
  const kept = await call('disputes.putEvidence', {
    execution_id: executionId,
    content: toBase64(bytes),
    media_type: mediaType,
  });
  if (kept.evidence_hash !== hashHex) throw new Error('The marketplace stored different bytes. Try again.');
  say('The evidence is stored. Your wallet now signs its hash.');
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
