/** What a transaction of the admin or the guardian did, in words, and which of the two signed it. */
import { hexToBytes } from '@noble/hashes/utils.js';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ANY_VERSION } from '../../../sdk/program/foreign.ts';
import { formatUuid } from '../../../sdk/receipt/receipt.ts';
import type { AdminEvent } from '../../../sdk/wire/operationProcedures.ts';
import { CellLink } from '../../parts/links.tsx';
import { formatSpan, formatUnits, Id, shorten } from '../../parts/values.tsx';
import { changesQuery, configQuery } from '../../service.ts';
import { askNode } from '../../wallet/node.ts';
import { LABELS } from '../terms/effects.ts';
import { FORMS } from './draft.ts';
import { CreatorLink } from './parties.tsx';

type Data = AdminEvent['data'];

/** `proposed`: the values of the change that the event is about, if its announcement is known. */
const WORDS: Record<string, (data: Data, proposed: ReactNode) => ReactNode> = {
  AdminChanged: ({ admin }) => <>Changed the admin to {address(admin)}</>,
  ChangeApplied: (_, proposed) => <>Applied {proposed ?? 'a change'}</>,
  ChangeCancelled: (_, proposed) => <>Cancelled {proposed ?? 'a change'}</>,
  ChangeProposed: (_, proposed) => <>Announced {proposed}</>,
  ChangesCancelled: () => 'Cancelled all pending changes of settings',
  ConfigInitialized: () => 'Set up the marketplace',
  ConfigUpdated: () => 'Changed settings or the pause',
  CreatorVerificationChanged: ({ creator, verified }) => (
    <>
      {verified ? 'Gave the badge to' : 'Removed the badge of'}{' '}
      <CreatorLink wallet={String(creator)} name={shorten(String(creator))} />
    </>
  ),
  DisputeResolved: resolvedWords,
  RelayAuthorityRemoved: ({ relayAuthority }) => <>Removed the relay authority {address(relayAuthority)}</>,
  TreasuryWithdrawn: ({ amount }) => `Withdrew ${usdc(amount)} from the treasury`,
};

/** The event has no price; an award is the amount by which a decision is known. */
function resolvedWords(data: Data): ReactNode {
  return (
    <>
      {data.upheld ? 'Upheld' : 'Rejected'} dispute over{' '}
      <DisputeLink executionId={formatUuid(hexToBytes(String(data.executionId)))} />
      {data.upheld ? `, ${usdc(data.amountToCaller)} for the caller` : ', the bond went to the creator'}
    </>
  );
}

const usdc = (units: unknown): string => formatUnits(BigInt(String(units)));

const address = (value: unknown) => <Id value={String(value)} kind="address" />;

type Values = Record<string, unknown>;

const pauseWords = (isSet: unknown): string => (isSet ? 'set' : 'lifted');

/** Each setting of an event, and its value in words. */
const SETTINGS: Record<string, readonly [name: string, words: (value: unknown) => string]> = {
  ...Object.fromEntries(
    Object.entries(FORMS).map(([key, { setting, show }]) => [
      key,
      [LABELS[setting], (value: unknown) => show(BigInt(String(value)))],
    ]),
  ),
  adminDelaySeconds: [LABELS.admin_delay, (seconds) => formatSpan(Number(seconds))],
  adminPaused: ['Pause of the admin', pauseWords],
  guardianPaused: [LABELS.guardian_pause, pauseWords],
};

/** Such as `Fee 1 % → 0.8 %`; empty without earlier settings. */
function changeWords(before: Values | undefined, after: Values): string {
  if (!before) return '';
  const isChanged = (key: string) => JSON.stringify(before[key]) !== JSON.stringify(after[key]);
  const words = Object.entries(SETTINGS).flatMap(([key, [name, show]]) =>
    isChanged(key) ? [`${name} ${show(before[key])} → ${show(after[key])}`] : [],
  );
  return [...words, ...(isChanged('tiers') ? ['Collateral by price'] : [])].join('; ');
}

interface Proposed {
  settings: Values;
  addedRelayAuthorities: readonly string[];
  guardian: string | null;
  admin: string | null;
}

/** Such as `Fee 0.8 %`: only the values that the change sets. */
function proposedWords({ settings, addedRelayAuthorities, guardian, admin }: Proposed): ReactNode {
  if (admin !== null) return <>the admin {address(admin)}</>;
  if (guardian !== null) return guardian === NOBODY ? 'no guardian' : <>the guardian {address(guardian)}</>;
  const words = Object.entries(SETTINGS).flatMap(([key, [name, show]]) =>
    settings[key] == null ? [] : [`${name} ${show(settings[key])}`],
  );
  if (settings.liftGuardianPause) words.push('Pause of the guardian lifted');
  if (settings.tiers) words.push('Collateral by price');
  return (
    <>
      {words.join('; ')}
      {addedRelayAuthorities.map((key) => (
        <span key={key}>
          {words.length > 0 && '; '}the relay authority {address(key)}
        </span>
      ))}
    </>
  );
}

/** The key that the program writes for none. */
const NOBODY = '1'.repeat(32);

/** An event without words here is named as in the program. `earlier`: newest first. */
export function eventWords(event: AdminEvent, earlier: readonly AdminEvent[]): ReactNode {
  const { data } = event;
  const settings = data.settings as Values | undefined;
  const before = earlier.find((other) => other.data.settings)?.data.settings as Values | undefined;
  const proposal = [event, ...earlier].find((one) => one.event === 'ChangeProposed' && one.data.change === data.change);
  const proposed = proposal && proposedWords(proposal.data.details as Proposed);
  return (settings && changeWords(before, settings)) || (WORDS[event.event]?.(data, proposed) ?? event.event);
}

export const DisputeLink = ({ executionId }: { executionId: string }) => (
  <CellLink to="/admin/disputes/$executionId" params={{ executionId }} title={executionId}>
    call <span className="font-mono text-[0.8125rem] whitespace-nowrap">{shorten(executionId)}</span>
  </CellLink>
);

/** Only the admin's signature allows them. */
const OF_ADMIN = ['ChangeProposed', 'CreatorVerificationChanged', 'DisputeResolved', 'TreasuryWithdrawn'];

/** The signer that the event names; undefined if only the transaction shows it. */
const namedIn = ({ event, data }: AdminEvent): string | undefined =>
  (event === 'AdminChanged' ? data.admin : data.authority)?.toString();

/** Null if the node no longer has the transaction. */
async function readSigners(signature: string): Promise<string[] | null> {
  const { result } = await askNode('getTransaction', [
    signature,
    { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: ANY_VERSION },
  ]);
  if (!result) return null;
  const { accountKeys, header } = result.transaction.message;
  return accountKeys.slice(0, header.numRequiredSignatures);
}

/** A role, if the wallet has one, and the wallet, if it is known. */
export const By = ({ who, wallet }: { who?: string | undefined; wallet?: string | undefined }) => (
  <span className="inline-flex items-center gap-x-1.5">
    {who}
    {wallet && <Id value={wallet} {...(!who && { kind: 'address' })} />}
  </span>
);

export function SignedBy({ event }: { event: AdminEvent }) {
  const { data: config } = useQuery(configQuery);
  const { data: pending } = useQuery(changesQuery);
  const named = namedIn(event);
  const isOfAdmin = OF_ADMIN.includes(event.event);
  const { data: read, isPending } = useQuery({
    queryKey: ['signers', event.signature],
    queryFn: () => readSigners(event.signature),
    enabled: !isOfAdmin && named === undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (isOfAdmin) return <By who="Admin" />;
  const signers = named === undefined ? read : [named];
  if (!signers) return <By who={isPending ? '…' : 'Not known'} />;
  const { guardian } = pending ?? {};
  if (guardian && signers.includes(guardian)) return <By who="Guardian" wallet={guardian} />;
  if (config && signers.includes(config.admin)) return <By who="Admin" wallet={config.admin} />;
  return <By wallet={signers[0]} />;
}
