/** A new key, shown once, with a first call. */
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { hashApiKey } from '../../../sdk/receipt/apiKey.ts';
import type { KeyScope } from '../../../sdk/wire/keyScopes.ts';
import type { AgentFull } from '../../../sdk/wire/wire.ts';
import { ShownOnce } from '../../parts/shownOnce.tsx';
import { Button, Note, Skeleton } from '../../parts/ui.tsx';
import { Code, Time } from '../../parts/values.tsx';
import { BASE_URL, call, explain, queryClient, request } from '../../service.ts';
import { exampleParameters } from '../agent/schema/example.ts';
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

/** The agent to try first; null if there is none. */
const firstAgentQuery = queryOptions({
  queryKey: ['first-agent'],
  queryFn: async (): Promise<AgentFull | null> => {
    const { agents } = await request('listAgents', { sort: 'best', limit: 8 });
    const best = agents.find(({ health }) => health.status === 'ok');
    return best ? request('getAgent', { agent_id: best.agent_id }) : null;
  },
  staleTime: 60_000,
});

/**
 * The first request as a shell command. Without the scope `execute`, or without an agent, it lists executions; with the
 * scope `webhooks` alone, the wallet's webhook endpoints.
 */
function firstCurl(apiKey: string, scopes: readonly KeyScope[], agent: AgentFull | null): string {
  const key = `-H 'Authorization: Bearer ${apiKey}'`;
  if (!agent || !scopes.includes('execute')) {
    const isForWebhooks = scopes.every((scope) => scope === 'webhooks');
    return `curl -s '${BASE_URL}/v1/${isForWebhooks ? 'webhooks' : 'executions?limit=5'}' \\\n  ${key}`;
  }
  const body = {
    task: 'Hello',
    parameters: exampleParameters(agent.input_schema),
    max_cost_usdc: agent.price_per_call_usdc,
  };
  const data = JSON.stringify(body).replaceAll("'", "'\\''");
  return [
    `curl -s ${BASE_URL}/v1/agents/${agent.agent_id}/execute`,
    key,
    `-H 'Content-Type: application/json'`,
    `-d '${data}'`,
  ].join(' \\\n  ');
}
