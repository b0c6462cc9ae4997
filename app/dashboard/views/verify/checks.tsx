/** A verification for people: the verdict with what failed, the purchase, then each check with everything that it compared. */
import { useQuery } from '@tanstack/react-query';
import type { Check, CheckName, Comparison, ExecutionFacts } from '../../../sdk/receipt/verify.ts';
import { TestMark } from '../../parts/badges.tsx';
import { Chevron } from '../../parts/icons.tsx';
import { Mark } from '../../parts/mark.tsx';
import { Button, cx, LINK, Note, Skeleton } from '../../parts/ui.tsx';
import { asSentence, formatList, saveFile } from '../../parts/values.tsx';
import { configQuery } from '../../service.ts';
import { Bought, When } from './bought.tsx';
import { idOf, reportOf, type Verification } from './verification.ts';
import { CHECK_WORDS, isLeftOut, verdictOf, wordsOf } from './words.ts';

const NAMES = Object.keys(CHECK_WORDS) as CheckName[];

const VERDICT_TONES: Record<string, string> = {
  good: 'bg-good-soft text-good',
  bad: 'bg-bad-soft text-bad',
  warn: 'bg-warn-soft text-warn',
};

interface VerificationResultProps {
  verification: Verification;
  /** Lets the visitor choose another node than the marketplace's own. */
  onNode?(): void;
  /** The reader is the agent's creator. */
  isCreator?: boolean;
}

/** The whole result, while it runs and after its end. */
export function VerificationResult({ verification, onNode, isCreator }: VerificationResultProps) {
  const { checks, facts, isRunning, error, subject, endedAt, rpcUrl } = verification;
  const { data: config } = useQuery(configQuery);
  const isOwnNode = rpcUrl !== null && rpcUrl === config?.rpc_url;
  const nodeWords = isOwnNode ? `${rpcUrl}, the marketplace’s own node (server)` : `the Solana node ${rpcUrl}`;
  const verdict = verdictOf(checks, facts, isCreator);
  const isHere = isOwnNode && verdict.tone === 'good' && !isRunning;
  const id = idOf(subject);
  const isMade = !isRunning && !facts?.isAbsent;
  const [failed, open, passed] = (['failed', 'not_checked', 'passed'] as const).map((state) =>
    checks.filter((check) => check.state === state && !isLeftOut(check)),
  ) as [Check[], Check[], Check[]];
  const isSigned = passed.some(({ name }) => name === 'signature');
  return (
    <section aria-label="Result" className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <p className="hidden text-2xl font-semibold print:block">Receipt</p>
      {error ? (
        <Note tone="bad" title="The checks were interrupted">
          {error}
        </Note>
      ) : (
        <div
          className={cx(
            'note rounded-xl border px-5 py-4',
            isRunning ? 'border-transparent bg-sunken' : cx('border-current/25', VERDICT_TONES[verdict.tone]),
          )}
          role="status"
        >
          <h2 className="text-lg font-semibold">
            {isRunning ? 'Checking …' : verdict.title} {isHere && <TestMark />}
          </h2>
          <p className={cx('mt-1 text-sm', isRunning ? 'text-faint' : 'text-ink')}>
            {isRunning ? `${checks.length} of ${NAMES.length} checks are done.` : verdict.about}
          </p>
        </div>
      )}
      {endedAt && (
        <p className="text-sm text-faint">
          Checked {subject.from} on <When at={endedAt} />,{' '}
          {rpcUrl === null ? 'without a Solana node' : `against ${nodeWords}`}.{' '}
          {isOwnNode && onNode && (
            <span className="print:hidden">
              To rely less on the marketplace,{' '}
              <button type="button" onClick={onNode} className={LINK}>
                check with another node
              </button>
              .
            </span>
          )}
        </p>
      )}
      {isRunning && <Skeleton className="h-112 sm:h-80" />}
      {isMade && failed.length > 0 && <CheckList checks={failed} {...{ facts, isSigned }} />}
      {!isRunning && !error && <Bought verification={verification} isHere={isHere} />}
      <div className="flex flex-wrap gap-2">
        <Button disabled={!endedAt} onClick={() => window.print()}>
          Print
        </Button>
        <Button
          disabled={!endedAt}
          onClick={() => saveFile(`verification-${id ?? 'receipt'}.json`, reportOf(verification))}
        >
          Download the verification
        </Button>
      </div>
      {isMade && open.length > 0 && <CheckList checks={open} {...{ facts, isSigned }} />}
      {isMade && passed.length > 0 && (
        <details className={`${LIST} group/all printed`}>
          <summary className="flex items-center gap-3 px-4 py-3.5 text-sm font-medium hover:bg-sunken/60">
            <Mark state="passed" />
            <span className="flex-1">Passed checks ({passed.length})</span>
            <Chevron className="group-open/all:rotate-180" />
          </summary>
          <div className="border-t border-line">
            <CheckRows checks={passed} {...{ facts, isSigned }} />
          </div>
        </details>
      )}
    </section>
  );
}

const LIST = 'overflow-hidden rounded-xl border border-line bg-raised';

interface ChecksProps {
  checks: readonly Check[];
  facts: ExecutionFacts | null;
  /** True if the hash in the receipt is signed. */
  isSigned: boolean;
}

function CheckRows({ checks, facts, isSigned }: ChecksProps) {
  return (
    <ul>
      {checks.map((check) => (
        <li key={check.name} data-check={check.name} className="border-b border-line last:border-b-0">
          <CheckRow check={check} facts={facts} isSigned={isSigned} />
        </li>
      ))}
    </ul>
  );
}

const CheckList = (props: ChecksProps) => (
  <div className={LIST}>
    <CheckRows {...props} />
  </div>
);

const WORDS = { passed: 'Passed', failed: 'Failed', not_checked: 'Not checked' };

function aboutOf({ name, state, reason, compared }: Check, facts: ExecutionFacts | null): string | null {
  if (state === 'passed') return wordsOf(name, facts).about;
  if (state === 'not_checked') return reason;
  const wrong = compared.filter(({ got, expected }) => got !== expected);
  return `Not as expected: ${formatList(wrong.map(({ what }) => what.replaceAll('_', ' ')))}.`;
}

interface CheckRowProps extends Omit<ChecksProps, 'checks'> {
  check: Check;
}

/** Open if it failed, because the visitor looks for the failure. */
function CheckRow({ check, facts, isSigned }: CheckRowProps) {
  const words = wordsOf(check.name, facts);
  const title = check.state === 'failed' ? words.failure : words.title;
  return (
    <details className="group" open={check.state === 'failed'}>
      <summary className="flex list-none items-center gap-3 px-4 py-3.5 hover:bg-sunken/60 [&::-webkit-details-marker]:hidden">
        <Mark state={check.state} />
        <span className="min-w-0 flex-1">
          <span className="block text-sm font-medium">{title}</span>
          <span className="block text-sm text-faint">{aboutOf(check, facts)}</span>
        </span>
        <span
          className={cx(
            'shrink-0 text-xs font-medium',
            check.state === 'failed' ? 'text-bad' : 'text-faint max-sm:sr-only',
          )}
        >
          {WORDS[check.state]}
        </span>
        <Chevron className="group-open:rotate-180" />
      </summary>
      <div className="grid gap-4 px-4 pt-1 pb-5 text-sm sm:pl-13">
        {check.compared.map((comparison) => (
          <Compared
            key={comparison.what}
            comparison={comparison}
            labels={labelsOf(check.name, isSigned)}
            isNamed={check.compared.length > 1}
          />
        ))}
        {check.compared.length === 0 && <p className="text-faint">Nothing could be compared.</p>}
        {check.reason && check.state !== 'not_checked' && <p className="text-faint">{check.reason}</p>}
        <p className="text-faint">
          {check.source === 'receipt'
            ? 'Checked from the receipt alone, without the chain.'
            : `Source: ${check.source}`}
        </p>
      </div>
    </details>
  );
}

/** The names of the value that was found, and of the expected one. */
function labelsOf(name: CheckName, isSigned: boolean): readonly [string, string] {
  if (name === 'result_hash') return ['Hash of this result', isSigned ? 'Hash that was signed' : 'Hash in the receipt'];
  if (name === 'request_hash') return ['Hash of this request', 'Hash in the receipt'];
  return ['Found', 'Expected'];
}

interface ComparedProps {
  comparison: Comparison;
  labels: readonly [found: string, expected: string];
  /** False if the title of the check names it. */
  isNamed: boolean;
}

function Compared({ comparison: { what, got, expected }, labels, isNamed }: ComparedProps) {
  const isSame = got === expected;
  const values = isSame
    ? [['Found, as expected', got] as const]
    : [[labels[0], got] as const, [labels[1], expected] as const];
  return (
    <div className="min-w-0">
      {isNamed && <p className={cx('mb-1 font-medium', !isSame && 'text-bad')}>{asSentence(what)}</p>}
      <dl className="grid gap-x-4 gap-y-1 sm:grid-cols-[11rem_1fr]">
        {values.map(([label, value]) => (
          <div key={label} className="contents">
            <dt className="leading-5 text-faint">{label}</dt>
            <dd className="min-w-0 font-mono text-[0.8125rem] leading-5 break-all">{value || '(empty)'}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
