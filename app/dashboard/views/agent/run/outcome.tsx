/** The result of a call with its figures, or the reason for a failure and where the money is. */
import { Link } from '@tanstack/react-router';
import { TextLink } from '../../../parts/links.tsx';
import Result from '../../../parts/result/result.tsx';
import { Badge, Button, buttonStyle, Facts, Note, Spinner } from '../../../parts/ui.tsx';
import { formatAmount, Id } from '../../../parts/values.tsx';
import { REFUND_TEXTS } from '../../executions/outcome.ts';
import { describeFailure, marketplaceErrorIn, sentence } from './failure.ts';
import type { RunState } from './useRun.ts';

interface OutcomeProps {
  run: RunState;
  /** Starts an execution that the wallet has already put into escrow. */
  onStart(): void;
  onAgain(): void;
}

export function RunOutcome({ run, onStart, onAgain }: OutcomeProps) {
  if (!run.hasEnded) return <Pending run={run} onStart={onStart} onAgain={onAgain} />;
  return (
    <div className="grid gap-6">
      {run.outcome === 'failed' ? <Why run={run} /> : <What run={run} />}
      <Ways run={run} onAgain={onAgain} />
    </div>
  );
}

/** Before the end: says that the visitor may leave, or why the call has not started. */
function Pending({ run, onStart, onAgain }: OutcomeProps) {
  const { error, executionId, opened, isAtWork, isSilent, isUnreadable, ask } = run;
  if (error !== null && !isAtWork) {
    const { title, text, to, mayRepeat = false } = describeFailure(error);
    return (
      <div className="grid gap-4">
        <Note tone={opened ? 'warn' : 'bad'} title={opened ? 'The work has not started' : title}>
          {text}
          {opened && ' The price is in escrow: start the work again, or wait for its refund.'}
        </Note>
        <div className="flex flex-wrap gap-2">
          {opened ? (
            <Button kind="primary" onClick={onStart}>
              Start it again
            </Button>
          ) : (
            <>
              {mayRepeat && (
                <Button kind="primary" onClick={() => run.repeat?.()}>
                  Try again
                </Button>
              )}
              <Button kind={mayRepeat ? 'plain' : 'primary'} onClick={onAgain}>
                Edit the call
              </Button>
            </>
          )}
          {to && (
            <Link to={to.path} className={buttonStyle()}>
              {to.label}
            </Link>
          )}
          {executionId && <ToExecution id={executionId} />}
        </div>
      </div>
    );
  }
  if (isUnreadable) {
    return (
      <div className="grid gap-4">
        <Note tone="warn" title="The reload removed your API key">
          {executionId ? 'The call continues.' : 'The call may be running.'} Before you call again, connect the wallet
          of the key and check your calls.
        </Note>
        <div>
          <Button onClick={onAgain}>Show the form</Button>
        </div>
      </div>
    );
  }
  if (isSilent) {
    return (
      <div className="grid gap-4">
        <Note tone="warn" title="The outcome is not known yet">
          The marketplace has not answered for a while. The page keeps retrying; the same call never pays twice.
        </Note>
        {ask && (
          <div className="flex flex-wrap gap-2">
            <Button kind="primary" onClick={ask}>
              Retry now
            </Button>
            {executionId && <ToExecution id={executionId} />}
          </div>
        )}
      </div>
    );
  }
  const { output } = run;
  return (
    <div className="grid gap-4">
      {output !== '' && <Output text={output} />}
      <Working isAtWork={isAtWork || output !== ''} executionId={executionId} />
    </div>
  );
}

/** The output as the agent streams it. */
function Output({ text }: { text: string }) {
  return (
    <section aria-label="Output so far" className="grid gap-2 rounded-xl border border-line bg-raised p-4">
      <p className="text-sm">
        <Badge tone="warn">not verified yet</Badge>{' '}
        <span className="text-faint">
          The agent is writing. You pay only for the whole result, signed by its creator.
        </span>
      </p>
      <pre className="max-h-112 overflow-auto font-mono text-[0.8125rem] whitespace-pre-wrap">{text}</pre>
    </section>
  );
}

function Working({ isAtWork, executionId }: { isAtWork: boolean; executionId: string | null }) {
  return (
    <div className="grid min-h-40 content-center justify-items-center gap-3 rounded-xl border border-dashed border-line p-6 text-center">
      <Spinner label={isAtWork ? 'The agent is working …' : 'Getting ready …'} />
      {executionId && (
        <p className="max-w-md text-sm text-faint">
          You can leave this page: the call continues, and <TextLink to="/executions">your calls</TextLink> show the
          outcome.
        </p>
      )}
    </div>
  );
}

function What({ run: { ended, answer, executionId } }: { run: RunState }) {
  const found = ended ?? answer;
  if (!found) return null;
  const result = found.result ?? answer?.result ?? null;
  return (
    <>
      <section>
        <h2 className="mb-3 text-lg font-semibold">Result</h2>
        {result === null ? (
          <Note tone="warn" title="The result is not available">
            The call was completed and paid, but this service no longer has its result. The hash of the result is on the
            chain.
          </Note>
        ) : (
          <Result text={result} name={`result-${(executionId ?? '').slice(0, 8)}`} />
        )}
      </section>
      <Facts
        rows={[
          ['Paid', formatAmount(found.cost_usdc)],
          ['Call', <Id key="id" value={found.execution_id} />],
          ['Wrong result?', 'You can dispute it under “Call and receipt”'],
        ]}
      />
    </>
  );
}

function Why({ run: { ended, error, executionId } }: { run: RunState }) {
  const said = ended?.error ?? marketplaceErrorIn(error);
  const isLate = said?.code === 'execution_timeout';
  return (
    <>
      <Note tone="bad" title={isLate ? 'The agent did not answer in time' : 'The agent gave no valid result'}>
        {said && <p>{sentence(said.message)}</p>}
        <p className="mt-1">{REFUND_TEXTS[ended === null ? 'unknown' : (ended.refund ?? 'none')]}</p>
      </Note>
      {executionId && <Facts rows={[['Call', <Id key="id" value={executionId} />]]} />}
    </>
  );
}

function Ways({ run, onAgain }: { run: RunState; onAgain(): void }) {
  const { executionId } = run;
  return (
    <div className="flex flex-wrap gap-2">
      <Button kind="primary" onClick={onAgain}>
        Run again …
      </Button>
      {executionId && (
        <>
          <ToExecution id={executionId} />
          {/* Loads a new document, because the service sends /verify with another CSP. */}
          <a href={`/verify?id=${executionId}`} className={buttonStyle()}>
            Verify it yourself
          </a>
        </>
      )}
    </div>
  );
}

function ToExecution({ id }: { id: string }) {
  return (
    <Link to="/executions/$executionId" params={{ executionId: id }} className={buttonStyle()}>
      Call and receipt
    </Link>
  );
}
