/** The actions of guardian and admin that need no delay: pause new executions, and remove a relay authority. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { SignButton } from '../../parts/sign.tsx';
import { Unread } from '../../parts/trouble.tsx';
import { Badge, Card } from '../../parts/ui.tsx';
import { formatSpan, Id, shorten } from '../../parts/values.tsx';
import { chainConfigQuery, type Settings } from '../admin/chainConfig.ts';
import { Pause } from './pause.tsx';

/** The guardian's card; the admin has the same buttons among the settings. */
export default function Guardian() {
  const query = useQuery(chainConfigQuery);
  if (!query.data) return <Unread query={query} what="The settings" className="h-48" />;
  return (
    <Card className="grid gap-5">
      <h2 className="font-semibold">You are the guardian</h2>
      <Pause of="guardian" config={query.data.config} />
      <RelayAuthorities config={query.data.config} />
    </Card>
  );
}

interface RelayAuthoritiesProps {
  config: Settings;
  /** The one that this service signs with, if it is known. */
  ours?: string | undefined;
  /** Below the list. */
  children?: ReactNode;
}

/** The relay authorities, each with a button to remove it. */
export function RelayAuthorities({ config, ours, children }: RelayAuthoritiesProps) {
  const authorities = config.relay_authorities;
  return (
    <div className="grid gap-2">
      <h3 className="text-sm font-medium">Relay authorities</h3>
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
