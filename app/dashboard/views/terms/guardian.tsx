/** The actions of guardian and admin that need no delay: pause new executions, and remove a relay authority. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { SignButton } from '../../parts/sign.tsx';
import { Unread } from '../../parts/trouble.tsx';
import { Badge, Card } from '../../parts/ui.tsx';
import { formatSpan, Id, shorten } from '../../parts/values.tsx';
import { chainConfigQuery, type Settings } from '../admin/chainConfig.ts';

/** The guardian's card; the admin has the same buttons among the settings. */
export default function Guardian() {
  const query = useQuery(chainConfigQuery);
  if (!query.data) return <Unread query={query} what="The settings" className="h-48" />;
  return (
    <Card className="grid gap-5">
      <h2 className="font-semibold">You are the guardian</h2>
      <Pause of="guardian" config={query.data.config} />
      <RelayAuthorities as="h3" config={query.data.config} />
    </Card>
  );
}

interface RelayAuthoritiesProps {
  /** Its level among the headings. */
  as?: 'h2' | 'h3';
  config: Settings;
  /** The one that this service signs with, if it is known. */
  ours?: string | undefined;
  /** Below the list. */
  children?: ReactNode;
}

/** The relay authorities, each with a button to remove it. */
export function RelayAuthorities({ as: Heading = 'h2', config, ours, children }: RelayAuthoritiesProps) {
  const authorities = config.relay_authorities;
  return (
    <div className="grid gap-2">
      <Heading className="font-semibold">Relay authorities</Heading>
      {authorities.length === 0 && (
        <p className="text-sm text-faint">None. Calls cannot be settled until the admin adds one.</p>
      )}
      <ul className="grid gap-2">
        {authorities.map((address) => {
          // Without it the service fails in the middle of calls. In an emergency, a pause comes first.
          const mustPause = authorities.length === 1 && !config.admin_paused && !config.guardian_paused;
          return (
            <li key={address} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
              <span className="flex flex-wrap items-center gap-x-2">
                <Id value={address} kind="address" />
                {address === ours && <Badge tone="accent">Used by this service</Badge>}
              </span>
              <SignButton
                button="Remove …"
                label={`Remove ${shorten(address)} …`}
                small
                kind="danger"
                closed={mustPause}
                title={authorities.length === 1 ? 'Remove the only relay authority?' : 'Remove this relay authority?'}
                about={removalWords(authorities.length === 1, address === ours, config.admin_delay_seconds)}
                rows={[['Relay authority', shorten(address)]]}
                doing="Removing the relay authority"
                confirm="Sign and remove"
                danger
                work={({ marketplace, wallet, dropRelayAuthority, PublicKey }) =>
                  dropRelayAuthority(marketplace, wallet, new PublicKey(address))
                }
                done={() => ['The relay authority is removed']}
              />
              {mustPause && (
                <p className="w-full text-sm text-faint">
                  The only relay authority: without it no call can start or settle. To remove it, first pause calls.
                </p>
              )}
            </li>
          );
        })}
      </ul>
      {children && <p className="text-sm text-faint">{children}</p>}
    </div>
  );
}

function removalWords(isLast: boolean, isOurs: boolean, delay: number): string {
  const effects = [
    isLast &&
      'This is the only relay authority: without it no call can be settled, and calls in progress can only be refunded.',
    !isLast && 'From now on it cannot settle, refund or open for API keys.',
    isOurs && 'This service uses it, and refuses all new calls without it.',
    'All pending changes of settings are cancelled.',
    `To undo this, the admin must propose it again${delay > 0 ? `, which takes effect after ${formatSpan(delay)} at the earliest` : ''}.`,
  ];
  return effects.filter(Boolean).join(' ');
}

interface PauseProps {
  /** Whose view it is. */
  of: 'admin' | 'guardian';
  config: Settings;
}

const EFFECT = {
  admin: 'In an emergency, pausing stops every new call at once.',
  guardian:
    'In an emergency, pausing stops every new call, every withdrawal from the treasury and every transfer of forfeited collateral to it at once. It also cancels all pending changes of settings.',
} as const;

export function Pause({ of: role, config }: PauseProps) {
  const paused = { admin: config.admin_paused, guardian: config.guardian_paused };
  const isPaused = paused[role];
  const other = role === 'admin' ? 'guardian' : 'admin';
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-4">
      <div className="min-w-0">
        <h2 className="flex items-center gap-2 font-semibold">
          New calls
          {paused.admin || paused.guardian ? <Badge tone="warn">Paused</Badge> : <Badge tone="good">Accepted</Badge>}
        </h2>
        <p className="mt-1 text-sm text-faint">
          {isPaused ? 'You have paused them.' : EFFECT[role]} Calls in progress are still settled and refunded.
        </p>
        {paused[other] && (
          <p className="mt-1 text-sm text-faint">
            The {other} has paused new calls
            {other === 'guardian' && ', withdrawals from the treasury and transfers of forfeited collateral to it'}.
            Only the {other} can lift this pause at once.
          </p>
        )}
      </div>
      <div className="flex flex-wrap gap-2">
        {role === 'admin' && paused.guardian && <LiftGuardianPause delay={config.admin_delay_seconds} />}
        <SignButton
          button={isPaused ? 'Resume calls …' : 'Pause calls …'}
          kind={isPaused ? 'primary' : 'danger'}
          title={isPaused ? 'Lift your pause?' : 'Pause all new calls?'}
          about={
            isPaused
              ? 'Callers can pay for calls of every active agent again, unless the other pause is set.'
              : 'Callers of every agent are refused until you resume. Calls in progress end normally.'
          }
          rows={[[`Pause of the ${role}`, isPaused ? 'set → lifted' : 'lifted → set']]}
          doing={isPaused ? 'Lifting the pause' : 'Pausing new calls'}
          confirm={isPaused ? 'Resume' : 'Pause'}
          danger={!isPaused}
          work={({ marketplace, wallet, changePause }) => changePause(marketplace, wallet, !isPaused)}
          done={() => [isPaused ? 'Your pause is lifted' : 'New calls are paused']}
        />
      </div>
    </div>
  );
}

/** The admin can end the guardian's pause only by a change that waits, if the marketplace has a delay. */
function LiftGuardianPause({ delay }: { delay: number }) {
  const waits = delay > 0;
  return (
    <SignButton
      button="Lift the guardian’s pause …"
      title={waits ? 'Announce the end of the guardian’s pause?' : 'Lift the guardian’s pause?'}
      about={
        waits
          ? 'The change waits for the delay, and the guardian can cancel it.'
          : 'It takes effect as soon as the transaction is confirmed.'
      }
      rows={[['Pause of the guardian', 'set → lifted']]}
      doing={waits ? 'Announcing the end of the pause' : 'Lifting the pause'}
      confirm={waits ? 'Sign and announce' : 'Sign and lift'}
      danger
      work={async ({ marketplace, wallet, announceChange, changeSettings }) => {
        const settings = { liftGuardianPause: true };
        if (waits) await announceChange(marketplace, wallet, { settings });
        else await changeSettings(marketplace, wallet, settings);
      }}
      done={() => [waits ? 'The change is announced' : 'The guardian’s pause is lifted']}
    />
  );
}
