/** Lists an agent in steps. The draft stays in this browser after any failure. The key exists only in this page. */
import { hexToBytes } from '@noble/hashes/utils.js';
import { useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { listingAddress } from '../../sdk/receipt/onChain.ts';
import { ConnectButton } from '../parts/connect.tsx';
import { Back } from '../parts/heads.tsx';
import { AskBeforeLeaving } from '../parts/leave.tsx';
import { Button, PageHead, Skeleton } from '../parts/ui.tsx';
import { configQuery } from '../service.ts';
import { useSession } from '../wallet/session.ts';
import { Payment } from './listing/costs.tsx';
import { DetailsFields } from './listing/detailsFields.tsx';
import { checkDraft, type Draft, type DraftErrors, type DraftField } from './listing/draft.ts';
import { DraftCard } from './listing/draftCard.tsx';
import { EndpointFields } from './listing/endpointFields.tsx';
import { Introduction } from './listing/introduction.tsx';
import { useKept } from './listing/kept.ts';
import { KeyFields } from './listing/keyFields.tsx';
import { PriceFields } from './listing/priceFields.tsx';
import { type Listed, Live, Review, ServerHint } from './listing/review.tsx';
import { useSchemaErrors } from './listing/schemaErrors.ts';
import type { HeldKey } from './listing/signingKey.ts';
import { OpenSteps, StartOver, Steps } from './listing/steps.tsx';
import { type TestOutcome, TestPanel } from './listing/testPanel.tsx';

const SchemaFields = lazy(() => import('./listing/schemaFields.tsx'));

/** The fields of each step, in order; the last three steps have none. */
const STEPS: readonly { title: string; about: string; fields: DraftField[] }[] = [
  {
    title: 'Details',
    about: 'The description that callers read.',
    fields: ['name', 'tagline', 'description', 'display_name', 'picture', 'tags'],
  },
  { title: 'Schemas', about: 'The input and the output of the agent.', fields: ['input_schema', 'output_schema'] },
  {
    title: 'Price',
    about: 'The price of a call, and the collateral that backs it.',
    fields: ['price_usdc', 'timeout_seconds', 'min_timeout_seconds'],
  },
  { title: 'Endpoint', about: 'Where the marketplace posts calls.', fields: ['endpoint'] },
  {
    title: 'Signing key',
    about: 'Your server signs each result with it. It belongs to this agent alone and is not your wallet.',
    fields: [],
  },
  { title: 'Test', about: 'One call to your endpoint, checked like a paid one.', fields: [] },
  { title: 'Sign', about: 'The transaction that your wallet signs, and the terms of the collateral.', fields: [] },
];
const BEGIN = 'Connect a wallet to begin';
const [ENDPOINT, KEY, TEST, SIGN] = [3, 4, 5, 6];

export default function View() {
  const { wallet, isKnown } = useSession();
  if (wallet) return <NewListing />;
  return (
    <>
      <PageHead
        title="List an agent"
        about="Your code stays on your server. Each call that it answers with a signed result is paid to your wallet in USDC."
      >
        {isKnown && <ConnectButton label={BEGIN} />}
      </PageHead>
      {isKnown && (
        <>
          <Introduction />
          <div className="mt-6 grid sm:hidden">
            <ConnectButton label={BEGIN} />
          </div>
        </>
      )}
    </>
  );
}

function NewListing() {
  const kept = useKept();
  const { draft, go } = kept;
  const step = Math.min(Math.max(kept.step, 0), SIGN);
  const { data: config } = useQuery(configQuery);
  const { wallet } = useSession();
  const agentId = wallet ? listingAddress(wallet, hexToBytes(draft.listing_id)) : undefined;
  const schemaErrors = useSchemaErrors(draft);
  const [key, setKey] = useState<HeldKey | null>(null);
  const [tested, setTested] = useState<{ of: string; outcome: TestOutcome } | null>(null);
  const [listed, setListed] = useState<Listed | null>(null);
  /** Steps that the creator has left, here or before a reload. Only these show their faults. */
  const [left, setLeft] = useState<ReadonlySet<number>>(() => new Set(Array(step).keys()));
  const heading = useRef<HTMLHeadingElement>(null);
  const isFirst = useRef(true);

  const errors = { ...checkDraft(draft, config), ...schemaErrors };
  const fingerprint = testedParts(draft, key);
  const isTested = tested !== null && tested.of === fingerprint && tested.outcome.ok;
  const isKeySafe = key !== null && (key.kind === 'proof' || key.isSaved);
  const isDone = (index: number): boolean => {
    if (index === KEY) return isKeySafe;
    if (index === TEST) return isTested;
    if (index === SIGN) return false;
    return STEPS[index]!.fields.every((field) => !errors[field]);
  };
  const open = STEPS.flatMap(({ title }, index) =>
    index < TEST && !isDone(index) ? [{ title, go: () => move(index) }] : [],
  );

  // Moves the focus, so that screen readers announce the new step.
  useEffect(() => {
    if (!isFirst.current) heading.current?.focus();
    isFirst.current = false;
  }, [step]);

  function move(to: number) {
    setLeft(new Set([...left, step]));
    go(to);
    window.scrollTo({ top: 0 });
  }
  function startOver() {
    kept.startOver();
    setKey(null);
    setTested(null);
    setListed(null);
    setLeft(new Set());
  }

  if (listed) {
    return (
      <>
        <PageHead title="Your agent is listed" />
        <Live listed={listed} onAnother={startOver} />
      </>
    );
  }
  const { title, about, fields } = STEPS[step]!;
  const shown: DraftErrors = left.has(step)
    ? Object.fromEntries(fields.flatMap((field) => (errors[field] ? [[field, errors[field]]] : [])))
    : {};
  const isKeyUnsaved = key?.kind === 'secret' && !key.isSaved;
  return (
    <>
      <Back to="/creator">Your agents</Back>
      <PageHead title="List an agent" about={step === 0 && <Payment />}>
        {kept.isTouched && <StartOver onConfirm={startOver} />}
      </PageHead>
      <div className="grid items-start gap-x-10 gap-y-6 lg:grid-cols-[11rem_1fr]">
        <Steps
          titles={STEPS.map((one) => one.title)}
          current={step}
          // The first steps have valid defaults, so they count only once they were left.
          isDone={(index) => (left.has(index) || index > ENDPOINT) && isDone(index)}
          isLeft={(index) => left.has(index)}
          onGo={move}
        />
        <div className="min-w-0">
          <h2 ref={heading} tabIndex={-1} className="text-lg font-semibold outline-none">
            {title}
          </h2>
          <p className="mt-1 mb-6 text-sm text-faint">
            {about}
            {step <= ENDPOINT && ' All fields are required unless marked optional.'}
          </p>
          <Step
            step={step}
            kept={kept}
            errors={shown}
            agentId={agentId}
            signingKey={key}
            onKey={setKey}
            open={open}
            outcome={tested?.of === fingerprint ? tested.outcome : null}
            onOutcome={(outcome) => setTested(outcome && { of: fingerprint, outcome })}
            onListed={setListed}
          />
          <StepButtons step={step} onGo={move} />
        </div>
      </div>
      <AskBeforeLeaving
        when={kept.isTouched}
        isLostWithPage={isKeyUnsaved}
        title={isKeyUnsaved ? 'Leave and lose the signing key?' : 'Leave before it is listed?'}
      >
        {isKeyUnsaved
          ? 'The signing key has not been saved as a file and is lost when you leave. The rest of the draft stays in this browser.'
          : 'Nothing is signed yet. The draft stays in this browser. You must open the file of the signing key again later.'}
      </AskBeforeLeaving>
    </>
  );
}

interface StepProps {
  step: number;
  kept: ReturnType<typeof useKept>;
  errors: DraftErrors;
  agentId: string | undefined;
  signingKey: HeldKey | null;
  onKey(key: HeldKey | null): void;
  /** Incomplete steps. */
  open: { title: string; go(): void }[];
  /** Result of a test of this exact draft. */
  outcome: TestOutcome | null;
  onOutcome(outcome: TestOutcome | null): void;
  onListed(listed: Listed): void;
}

/** The fields of one step. */
function Step({ step, kept, errors, agentId, signingKey, onKey, open, outcome, onOutcome, onListed }: StepProps) {
  const { draft, change } = kept;
  const parts: ReactNode[] = [
    <div key="details" className="grid gap-6">
      <ServerHint endpoint={draft.endpoint} agentName={draft.name} />
      <div className="grid items-start gap-8 xl:grid-cols-[1fr_19rem]">
        <DetailsFields draft={draft} errors={errors} onChange={change} agentId={agentId} />
        <aside aria-label="Preview of the card" className="grid max-w-96 gap-2.5">
          <h3 className="text-sm font-medium text-faint">As callers see it</h3>
          <DraftCard draft={draft} agentId={agentId} />
        </aside>
      </div>
    </div>,
    <Suspense key="schemas" fallback={<Skeleton className="h-112" />}>
      <SchemaFields draft={draft} errors={errors} onChange={change} />
    </Suspense>,
    <PriceFields key="price" draft={draft} errors={errors} onChange={change} />,
    <div key="endpoint" className="grid gap-6">
      <EndpointFields draft={draft} errors={errors} onChange={change} />
      <ServerHint endpoint={draft.endpoint} agentName={draft.name} />
    </div>,
    <KeyFields
      key="key"
      agentName={draft.name}
      agentId={agentId}
      value={signingKey}
      expected={kept.signing_key}
      onChange={(next) => {
        onKey(next);
        if (next) kept.nameKey(next.address);
      }}
    />,
    <div key="test" className="grid gap-6">
      <ServerHint endpoint={draft.endpoint} agentName={draft.name} />
      <TestPanel
        draft={draft}
        onChange={change}
        signingKey={signingKey?.address ?? kept.signing_key}
        outcome={outcome}
        onOutcome={onOutcome}
        blocked={
          open.some(({ title }) => title !== STEPS[KEY]!.title) || !(signingKey ?? kept.signing_key) ? (
            <OpenSteps title="Complete these steps first" steps={open} />
          ) : null
        }
      />
    </div>,
    <Review
      key="sign"
      draft={draft}
      signingKey={signingKey}
      agentId={agentId}
      isTested={outcome?.ok === true}
      open={open}
      onListed={(result) => {
        kept.startOver();
        onListed(result);
      }}
    />,
  ];
  return parts[step];
}

function StepButtons({ step, onGo }: { step: number; onGo(step: number): void }) {
  return (
    <div className="mt-10 flex justify-between gap-3 border-t border-line pt-5">
      {step > 0 && <Button onClick={() => onGo(step - 1)}>Back</Button>}
      {step < SIGN && (
        <Button kind="primary" className="ml-auto" onClick={() => onGo(step + 1)}>
          Next: {STEPS[step + 1]!.title}
        </Button>
      )}
    </div>
  );
}

/** Everything that a test depends on: a change makes its result outdated. */
function testedParts(draft: Draft, key: HeldKey | null): string {
  return JSON.stringify([draft, key?.address]);
}
