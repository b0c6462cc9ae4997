/** What protects the marketplace if somebody steals the admin's key, and what is missing. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Icon } from '../../parts/icons.tsx';
import { Anchor, TextLink } from '../../parts/links.tsx';
import { Note, Skeleton } from '../../parts/ui.tsx';
import { formatSpan } from '../../parts/values.tsx';
import { changesQuery, configQuery } from '../../service.ts';
import { upgradeKeyQuery } from '../terms/roles.tsx';

/** Only for real money: a test network needs neither. */
export function Unprotected() {
  const { data: config } = useQuery(configQuery);
  const { data: pending } = useQuery(changesQuery);
  if (config?.environment !== 'live' || !pending) return null;
  const [noGuardian, noDelay] = [pending.guardian === null, pending.admin_delay_seconds === 0];
  if (!noGuardian && !noDelay) return null;
  const lacks = [noGuardian && 'guardian', noDelay && 'delay of changes'].filter(Boolean);
  return (
    <Note tone="warn" title={`Needs you: no ${lacks.join(' and no ')}`}>
      {noDelay && 'Somebody who steals your key could change fees and authorities at once. '}
      {noGuardian && 'Nobody could stop a thief of your key who withdraws from the treasury. '}
      <TextLink to="/admin" search={{ tab: 'settings' }} hash="protection">
        Set them in Settings
      </TextLink>
    </Note>
  );
}

/** What protects against a stolen key; undefined until it is read. An upgrade key that cannot be read is not the admin's. */
function useProtection() {
  const { data: config } = useQuery(configQuery);
  const { data: pending } = useQuery(changesQuery);
  const { data: key, isPending } = useQuery({
    ...upgradeKeyQuery(config?.program_id ?? ''),
    enabled: config !== undefined,
  });
  if (!config || !pending || isPending) return undefined;
  const { guardian, admin_delay_seconds: delay } = pending;
  return { guardian, delay, isUpgradeKey: key !== undefined && key === config.admin };
}

/** How many of these protections are missing; undefined until that is known. */
export function useLackCount(): number | undefined {
  const protection = useProtection();
  if (!protection) return undefined;
  const { guardian, delay, isUpgradeKey } = protection;
  return [guardian === null, delay === 0, isUpgradeKey].filter(Boolean).length;
}

export function Protections() {
  const protection = useProtection();
  if (!protection) return <Skeleton className="h-35" />;
  const { guardian, delay, isUpgradeKey } = protection;
  return (
    <span className="grid justify-items-start">
      {guardian === null ? <Lack>No guardian</Lack> : 'A guardian'}
      {delay === 0 ? <Lack>No delay of changes</Lack> : `Changes wait ${formatSpan(delay)}`}
      <TextLink to="/admin" search={{ tab: 'settings' }} hash="protection">
        Change in Settings
      </TextLink>
      {isUpgradeKey && (
        <>
          <Lack>It is also the upgrade key: it can replace the program and take all that is held</Lack>
          <MoveUpgradeKey />
        </>
      )}
    </span>
  );
}

/** The document is in the source, not on the page. */
export const MoveUpgradeKey = () => (
  <span>
    How to move it: “Multisig, guardian and delay” in <code>docs/deploying.md</code> of the{' '}
    <Anchor href="/docs#source">project’s source</Anchor>.
  </span>
);

/** Something that is not as it should be. */
export const Lack = ({ children }: { children: ReactNode }) => (
  <span className="flex items-start gap-1.5 text-warn">
    <WarningIcon />
    <span>{children}</span>
  </span>
);

const WarningIcon = () => (
  <Icon className="mt-0.5 shrink-0">
    <path d="M8 2.5 14.5 13.5h-13zM8 6.5v3M8 11.6v.1" />
  </Icon>
);
