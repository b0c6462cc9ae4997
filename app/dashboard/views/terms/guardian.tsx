/** The actions of guardian and admin that need no delay: pause new executions, and remove a relay authority. */
import { useQuery } from '@tanstack/react-query';
import { SignButton } from '../../parts/sign.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { Card, Skeleton } from '../../parts/ui.tsx';
import { Id, shorten } from '../../parts/values.tsx';
import { chainConfigQuery } from '../admin/chainConfig.ts';
import { Pause } from './pause.tsx';

/** The guardian's card; the admin has the same buttons among the settings. */
export default function Guardian() {
  const { data, error, refetch } = useQuery(chainConfigQuery);
  if (!data)
    return error ? <Trouble error={error} what="The settings" onRetry={refetch} /> : <Skeleton className="h-48" />;
  return (
    <Card className="grid gap-5">
      <h2 className="font-semibold">You are the guardian</h2>
      <Pause of="guardian" config={data.config} />
      <RelayAuthorities authorities={data.config.relay_authorities} />
    </Card>
  );
}

/** The relay authorities, each with a button to remove it. */
export function RelayAuthorities({ authorities }: { authorities: readonly string[] }) {
  return (
    <div className="grid gap-2">
      <h3 className="text-sm font-medium">Relay authorities</h3>
      {authorities.length === 0 && (
        <p className="text-sm text-faint">None. Calls cannot be settled until the admin adds one.</p>
      )}
      <ul className="grid gap-2">
        {authorities.map((address) => (
          <li key={address} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
            <Id value={address} kind="address" />
            <SignButton
              button="Remove"
              label={`Remove ${shorten(address)}`}
              small
              title="Remove this relay authority?"
              about={
                authorities.length === 1
                  ? 'It is the last one. Without it no call can be settled, and another one can be added only after the delay. Open calls can still be refunded. All pending changes of settings are cancelled.'
                  : 'From now on it cannot settle, refund or open for API keys. It can be added again only after the delay. All pending changes of settings are cancelled.'
              }
              rows={[['Relay authority', shorten(address)]]}
              doing="Removing the relay authority"
              confirm="Sign and remove"
              danger
              work={({ marketplace, wallet, dropRelayAuthority, PublicKey }) =>
                dropRelayAuthority(marketplace, wallet, new PublicKey(address))
              }
              done={() => ['The relay authority is removed']}
            />
          </li>
        ))}
      </ul>
    </div>
  );
}
