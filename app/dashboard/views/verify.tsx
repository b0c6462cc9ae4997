/**
 * Checks an execution or a receipt in this browser, against a node of the visitor's choice, without trusting anyone.
 */
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, type Ref, useEffect, useRef, useState } from 'react';
import { EXECUTION_ID } from '../../sdk/wire/choices.ts';
import { NewToThis } from '../parts/explained.tsx';
import { Chevron } from '../parts/icons.tsx';
import { Anchor, TextLink } from '../parts/links.tsx';
import { NumberMark } from '../parts/stepList.tsx';
import { Button, cx, Input, PageHead } from '../parts/ui.tsx';
import { agentQuery, configQuery, queryClient } from '../service.ts';
import { VerificationResult } from './verify/checks.tsx';
import { NodeFields, nodeFault } from './verify/node.tsx';
import { ReceiptFile } from './verify/receiptFile.tsx';
import { findSubject, idOf, type Subject, useVerification, type Verification } from './verify/verification.ts';

const NO_ID = 'A call ID has 32 hex digits in five groups, as in 0192f3a4-5b6c-7d8e-9f01-23456789abcd.';

const ABOUT = (
  <>
    Check that a creator signed a result and was paid for it, or that you were refunded. No check shows that the answer
    is right. All checks run in this browser; no receipt is uploaded. <NewToThis />
  </>
);

/** The path from which the document was loaded. It determines the CSP. */
function loadedPath(): string {
  const [entry] = performance.getEntriesByType('navigation');
  return entry ? new URL(entry.name).pathname : window.location.pathname;
}

export default function Verify() {
  const { id: named = '', print = false } = useSearch({ from: '/verify' });
  const [isPrinting, setPrinting] = useState(print);
  const navigate = useNavigate();
  const { data: config, isPending } = useQuery(configQuery);
  const { current, verify, clear } = useVerification();
  const [node, setNode] = useState<string | null>(null);
  const [isOffline, setOffline] = useState(false);
  const [id, setId] = useState(named);
  // After a verdict the form is one line.
  const [isFormOpen, setFormOpen] = useState(true);
  const [isNodeOpen, setNodeOpen] = useState(false);
  const result = useRef<HTMLDivElement>(null);
  const form = useRef<HTMLDetailsElement>(null);

  // A visitor from another view still has that view's CSP, which allows only the marketplace's own node.
  useEffect(() => {
    if (loadedPath() !== window.location.pathname) window.location.reload();
  }, []);

  const rpcUrl = (node ?? config?.rpc_url ?? '').trim();
  const fault = isOffline || rpcUrl === '' ? null : nodeFault(rpcUrl);
  const isReady = isOffline || (rpcUrl !== '' && fault === null);

  // A check that starts before the config is loaded waits until it is loaded, or its loading has failed.
  const isWaiting = isPending && !isOffline && rpcUrl === '';
  const [waiting, setWaiting] = useState<Subject | Promise<Subject> | null>(null);

  function start(find: Subject | Promise<Subject>) {
    if (isWaiting) {
      setWaiting(find);
      return;
    }
    const hasFocus = form.current?.contains(document.activeElement);
    void verify(find, isOffline || rpcUrl === '' ? null : rpcUrl, (subject) => {
      setId(idOf(subject) ?? '');
      setFormOpen(false);
      requestAnimationFrame(() => {
        // What had the focus is folded away. The verdict itself is announced.
        if (hasFocus) form.current?.querySelector('summary')?.focus();
        result.current?.scrollIntoView({ block: 'nearest' });
      });
    });
  }

  useEffect(() => {
    if (waiting === null || isWaiting) return;
    setWaiting(null);
    start(waiting);
  });

  function chooseNode() {
    setFormOpen(true);
    setNodeOpen(true);
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('input[type="url"]')?.focus());
  }

  function startById(executionId: string) {
    void navigate({ to: '/verify', search: { id: executionId }, replace: true });
    start(findSubject(executionId));
  }

  // An id in the URL starts the check at once.
  const isBegun = useRef(false);
  useEffect(() => {
    if (isBegun.current || !named || !isReady) return;
    isBegun.current = true;
    const executionId = readExecutionId(named);
    if (executionId) startById(executionId);
  });

  // "Print receipt" on the execution's page leads here. Prints once the check has ended and the agent's name is loaded.
  useEffect(() => {
    if (!isPrinting || !current?.endedAt) return;
    setPrinting(false);
    void untilNamed(current).then(() => requestAnimationFrame(() => window.print()));
  }, [isPrinting, current]);

  return (
    <>
      <div className="print:hidden">
        <PageHead title="Verify" about={ABOUT} />
      </div>
      <Fold ref={form} isFolded={current !== null} isOpen={isFormOpen} onOpen={setFormOpen}>
        <IdForm id={id} onChange={setId} disabled={!isReady} busy={current?.isRunning ?? false} onId={startById} />
        <ReceiptFile
          onReceipt={(receipt, name) => start({ kind: 'receipt', receipt, from: name })}
          onWrong={() => {
            clear();
            setFormOpen(true);
          }}
        />
        <NodeFields
          node={node ?? config?.rpc_url ?? ''}
          fault={fault}
          onNode={setNode}
          isOffline={isOffline}
          onOffline={setOffline}
          isChosen={isNodeOpen}
          onChosen={setNodeOpen}
        />
      </Fold>
      <div ref={result} className="mt-8 scroll-mt-24 print:mt-0">
        {current ? <VerificationResult verification={current} onNode={chooseNode} /> : <WhatIsChecked />}
      </div>
      <p className="mt-8 text-sm text-faint print:hidden">
        You can check a receipt without this page too:{' '}
        <Anchor href="/docs#verify">commands for your own computer</Anchor>
      </p>
    </>
  );
}

interface FoldProps {
  ref: Ref<HTMLDetailsElement>;
  /** False before the first check: then the form cannot be closed. */
  isFolded: boolean;
  isOpen: boolean;
  onOpen(isOpen: boolean): void;
  children: ReactNode;
}

function Fold({ ref, isFolded, isOpen, onOpen, children }: FoldProps) {
  return (
    <div className="rounded-xl border border-line bg-raised print:hidden">
      <details
        ref={ref}
        className="group/form"
        open={isOpen || !isFolded}
        onToggle={({ currentTarget }) => onOpen(currentTarget.open)}
      >
        <summary
          className={isFolded ? 'flex items-center justify-between gap-3 px-5 py-3.5 text-sm font-medium' : 'hidden'}
        >
          Verify another call, or use another node
          <Chevron className="group-open/form:rotate-180" />
        </summary>
        <div className={cx('grid gap-x-8 gap-y-6 p-5 md:grid-cols-2', isFolded && 'border-t border-line')}>
          {children}
        </div>
      </details>
    </div>
  );
}

interface IdFormProps {
  id: string;
  onChange(id: string): void;
  disabled: boolean;
  busy: boolean;
  onId(executionId: string): void;
}

function IdForm({ id, onChange, disabled, busy, onId }: IdFormProps) {
  /** The text that was last submitted, or came with the URL; null if none. */
  const [asked, setAsked] = useState(id || null);
  const isWrong = id === asked && readExecutionId(id) === null;
  return (
    <form
      className="grid content-start gap-4"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const executionId = readExecutionId(id);
        setAsked(id);
        if (executionId) onId(executionId);
      }}
    >
      <Input
        label="Call ID"
        hint={
          <>
            It is on the page of each of <TextLink to="/executions">your calls</TextLink>. The ID by itself checks only
            the payment; with your wallet connected, your receipt is checked too.
          </>
        }
        error={isWrong ? NO_ID : null}
        value={id}
        onChange={(event) => onChange(event.target.value)}
        className="font-mono"
        autoComplete="off"
        spellCheck={false}
      />
      <div>
        <Button type="submit" kind="primary" disabled={disabled} busy={busy}>
          Verify
        </Button>
      </div>
    </form>
  );
}

function readExecutionId(text: string): string | null {
  const executionId = text.trim().toLowerCase();
  return EXECUTION_ID.test(executionId) ? executionId : null;
}

async function untilNamed({ subject, facts }: Verification): Promise<void> {
  const { agent_id } = (subject.kind === 'receipt' ? (subject.receipt ?? {}) : {}) as { agent_id?: unknown };
  const agentId = facts?.agentId ?? agent_id;
  if (typeof agentId === 'string') await queryClient.ensureQueryData(agentQuery(agentId)).catch(() => null);
}

const STEPS = [
  [
    'By the receipt alone',
    'A receipt is a file with your request, the result and the creator’s signature. The signature fits only the hash (the fingerprint) of exactly this result.',
  ],
  [
    'On the chain',
    'The chain, Solana’s public record, has each call and the agent’s signing key. They are read from a node (a server) and compared with the receipt.',
  ],
  [
    'In the transactions',
    'Balances before and after show that creator and marketplace got exactly their shares, or that the caller got the whole refund.',
  ],
] as const;

/** The list of checks, before any is made. */
function WhatIsChecked() {
  return (
    <section>
      <h2 className="mb-4 text-lg font-semibold">What is checked</h2>
      <ol className="grid gap-x-8 gap-y-5 text-sm md:grid-cols-3">
        {STEPS.map(([title, about], index) => (
          <li key={title} className="grid grid-cols-[1.75rem_1fr] gap-x-3">
            <NumberMark number={index + 1} />
            <div>
              <h3 className="pt-0.5 font-medium">{title}</h3>
              <p className="mt-1 text-faint">{about}</p>
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}
