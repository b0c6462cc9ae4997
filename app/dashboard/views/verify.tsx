/** Checking an execution or a receipt in this browser, against a node of the visitor's choice, with nobody to trust. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { Button, Card, Checkbox, Input, PageHead } from '../parts/ui.tsx';
import { configQuery } from '../service.ts';
import { VerificationResult } from './verify/checks.tsx';
import { nodeFault } from './verify/node.ts';
import { ReceiptFile } from './verify/receiptFile.tsx';
import { findSubject, type Subject, useVerification } from './verify/verification.ts';

const EXECUTION_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The address that the document was loaded from, whose policy it has. */
function loadedPath(): string {
  const [entry] = performance.getEntriesByType('navigation');
  return entry ? new URL(entry.name).pathname : window.location.pathname;
}

export default function Verify() {
  const { id: named = '' } = useSearch({ from: '/verify' });
  const navigate = useNavigate();
  const { data: config, isPending } = useQuery(configQuery);
  const { current, verify } = useVerification();
  const [id, setId] = useState(named);
  const [node, setNode] = useState<string | null>(null);
  const [isOffline, setOffline] = useState(false);
  const [idError, setIdError] = useState<string | null>(null);
  const result = useRef<HTMLDivElement>(null);

  // Coming from another view keeps that view's policy, which lets no node be asked but the marketplace's own.
  useEffect(() => {
    if (loadedPath() !== window.location.pathname) window.location.reload();
  }, []);

  const rpcUrl = (node ?? config?.rpc_url ?? '').trim();
  const fault = isOffline || rpcUrl === '' ? null : nodeFault(rpcUrl);
  const isReady = isOffline || (rpcUrl !== '' && fault === null);

  // What is asked for before the page knows its node waits until it does, or knows that it will not.
  const isWaiting = isPending && !isOffline && rpcUrl === '';
  const [waiting, setWaiting] = useState<Subject | Promise<Subject> | null>(null);

  function start(find: Subject | Promise<Subject>) {
    if (isWaiting) {
      setWaiting(find);
      return;
    }
    void verify(find, isOffline || rpcUrl === '' ? null : rpcUrl);
    requestAnimationFrame(() => result.current?.scrollIntoView({ block: 'nearest' }));
  }

  useEffect(() => {
    if (waiting === null || isWaiting) return;
    setWaiting(null);
    start(waiting);
  });

  function startById(text: string) {
    const executionId = text.trim().toLowerCase();
    if (!EXECUTION_ID.test(executionId)) {
      setIdError('An execution id has 32 hex digits in five groups, as in 0192f3a4-5b6c-7d8e-9f01-23456789abcd.');
      return;
    }
    setIdError(null);
    void navigate({ to: '/verify', search: { id: executionId }, replace: true });
    start(findSubject(executionId));
  }

  // An id in the address is what somebody was sent here with.
  const isBegun = useRef(false);
  useEffect(() => {
    if (isBegun.current || !named || !isReady) return;
    isBegun.current = true;
    startById(named);
  });

  return (
    <>
      <PageHead
        title="Verify"
        about="See for yourself that an agent signed a result, and that its price went where it had to. Every check runs in this browser; no receipt is uploaded."
      />
      <Card className="grid gap-x-8 gap-y-6 md:grid-cols-2">
        <form
          className="grid content-start gap-4"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            startById(id);
          }}
        >
          <Input
            label="Execution id"
            hint="Of your own executions the receipt is checked too, when you are signed in."
            error={idError}
            value={id}
            onChange={(event) => setId(event.target.value)}
            className="font-mono"
            autoComplete="off"
            spellCheck={false}
          />
          <div>
            <Button type="submit" kind="primary" disabled={!isReady} busy={current?.isRunning ?? false}>
              Verify
            </Button>
          </div>
        </form>
        <ReceiptFile
          onReceipt={(receipt, name) => start({ kind: 'receipt', receipt, from: `The receipt is the file ${name}.` })}
        />
        <div className="grid gap-4 border-t border-line pt-5 md:col-span-2 md:grid-cols-2 md:gap-x-8">
          <Input
            label="Solana node"
            type="url"
            hint="Asked for what is on the chain. Name one that you trust; the marketplace’s own is suggested."
            error={fault}
            value={node ?? config?.rpc_url ?? ''}
            onChange={(event) => setNode(event.target.value)}
            disabled={isOffline}
            className="font-mono"
            spellCheck={false}
          />
          <Checkbox
            className="md:mt-7"
            label="Ask no node"
            hint="Only hash and signatures are checked, which takes no network."
            checked={isOffline}
            onChange={(event) => setOffline(event.target.checked)}
          />
        </div>
      </Card>
      <div ref={result} className="mt-8 scroll-mt-24">
        {current ? <VerificationResult verification={current} name={nameOf(current.subject)} /> : <Explained />}
      </div>
    </>
  );
}

function nameOf(subject: Subject): string {
  if (subject.kind === 'execution') return subject.executionId;
  const { execution_id } = (subject.receipt ?? {}) as { execution_id?: unknown };
  return typeof execution_id === 'string' && EXECUTION_ID.test(execution_id) ? execution_id : 'receipt';
}

const STEPS = [
  ['By the receipt alone', 'Its result is hashed again, and the agent’s Ed25519 signature is checked over that hash.'],
  [
    'On the chain',
    'The execution’s record, or its leaf in the archive with its proof, is read from the node and compared.',
  ],
  ['In the transactions', 'Balances before and after show that creator and marketplace got exactly their shares.'],
] as const;

/** What will be checked, before anything is. */
function Explained() {
  return (
    <ol className="grid gap-x-8 gap-y-5 md:grid-cols-3">
      {STEPS.map(([title, about], index) => (
        <li key={title} className="border-t-2 border-line pt-4">
          <p className="text-xs font-medium text-faint tabular-nums">{index + 1}</p>
          <h2 className="mt-1 font-medium">{title}</h2>
          <p className="mt-1 text-sm text-faint">{about}</p>
        </li>
      ))}
    </ol>
  );
}
