/** A new key, shown once, with a first call. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { hashApiKey } from '../../../sdk/receipt/apiKey.ts';
import { ShownOnce } from '../../parts/shownOnce.tsx';
import { Button, Note, Skeleton } from '../../parts/ui.tsx';
import { Code, Time } from '../../parts/values.tsx';
import { call, explain, queryClient } from '../../service.ts';
import { firstAgentQuery, firstCurl } from './firstCall.ts';
import type { MadeKey } from './makeKey.ts';

export function ShownKey({ made, wallet, onClose }: { made: MadeKey; wallet: string; onClose(): void }) {
  const { apiKey, name, scopes, replacedUntil } = made;
  const { data: agent, isPending } = useQuery(firstAgentQuery);
  return (
    <ShownOnce
      text={apiKey}
      what="key"
      title={`Your key "${name}"`}
      about="Copy it now and keep it like a password. You will not see it again: the marketplace knows only its hash."
      loss="The key cannot be shown again, and without it you cannot use it."
      onClose={onClose}
    >
      {made.unregistered && <Register made={made} wallet={wallet} />}
      {replacedUntil && (
        <Note>
          The key that it replaces works until <Time at={replacedUntil} />.
        </Note>
      )}
      <div>
        <h3 className="mb-2 text-sm font-medium">
          {agent && scopes.includes('execute') ? `A first call, to ${agent.name}` : 'A first request'}
        </h3>
        {isPending ? (
          <Skeleton className="h-32" />
        ) : (
          <Code text={firstCurl(apiKey, scopes, agent ?? null)} label="A first request with curl" />
        )}
      </div>
    </ShownOnce>
  );
}

/** The chain may know the key before the marketplace does. Registering a known key changes nothing. */
export async function registerMade({ apiKey, name, scopes, unregistered }: MadeKey, wallet: string): Promise<void> {
  if (!unregistered) return;
  const { allowedIps, allowedAgents } = unregistered;
  await call('keys.register', {
    wallet,
    key_hash: hashApiKey(apiKey),
    name,
    scopes,
    ...(allowedIps && { allowed_ips: allowedIps }),
    ...(allowedAgents && { allowed_agents: allowedAgents }),
  });
}

function Register({ made, wallet }: { made: MadeKey; wallet: string }) {
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: () => registerMade(made, wallet),
    networkMode: 'always',
    onSuccess: () => void queryClient.invalidateQueries(),
  });
  if (isSuccess) return <Note tone="good">The marketplace knows the key now.</Note>;
  return (
    <Note tone="warn" title="The key is not registered yet">
      <p>{isPending ? 'Registering the key …' : error ? explain(error) : made.problem}</p>
      <Button small className="mt-3" busy={isPending} onClick={() => mutate()}>
        Register the key again
      </Button>
    </Note>
  );
}
