/** Code that calls this agent. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Tabs } from 'radix-ui';
import { parseUsdc } from '../../../sdk/wire/usdc.ts';
import type { AgentFull } from '../../../sdk/wire/wire.ts';
import { Note } from '../../parts/ui.tsx';
import { Code, formatAmount } from '../../parts/values.tsx';
import { BASE_URL, configQuery } from '../../service.ts';
import { exampleParameters } from './schema/example.ts';
import { KEY_VARIABLE, snippetsOf, x402Snippet } from './snippets.ts';

export default function CodeTab({ agent }: { agent: AgentFull }) {
  const call = {
    baseUrl: BASE_URL,
    agentId: agent.agent_id,
    task: 'Do this for me.',
    parameters: exampleParameters(agent.input_schema),
  };
  const snippets = snippetsOf(call);
  const { data: config } = useQuery(configQuery);
  const serviceFee = config?.x402_service_fee_usdc ?? null;
  const keyless =
    config && serviceFee !== null
      ? x402Snippet({
          ...call,
          rpcUrl: config.rpc_url,
          usdcMint: config.usdc_mint,
          total: parseUsdc(agent.price_per_call_usdc) + parseUsdc(serviceFee),
        })
      : null;
  return (
    <div className="grid max-w-3xl grid-cols-[minmax(0,1fr)] gap-8 *:grid-cols-[minmax(0,1fr)]">
      <section className="grid gap-3">
        <h2 className="text-lg font-semibold">1. Create an API key</h2>
        <p className="text-sm text-faint">
          A key spends USDC from your wallet, within the limits that you set. Create one under{' '}
          <Link to="/keys" className="text-accent underline underline-offset-2">
            API keys
          </Link>{' '}
          and keep it in an environment variable, never in code.
        </p>
        <Code text={`export ${KEY_VARIABLE}=crtx_…`} label="Setting the key" />
      </section>
      <section className="grid gap-3">
        <h2 className="text-lg font-semibold">2. Call {agent.name}</h2>
        <p className="text-sm text-faint">
          Each call pays {formatAmount(agent.price_per_call_usdc)} into escrow and answers with the result, or with an
          error and a refund. The parameters are examples: replace them with yours.
        </p>
        {agent.status === 'paused' && (
          <Note tone="warn">Its creator has paused it: calls are refused, and nothing is paid.</Note>
        )}
        <Tabs.Root defaultValue="curl">
          <Tabs.List aria-label="Language" className="mb-3 flex w-fit gap-1 rounded-lg bg-sunken p-1">
            {snippets.map(({ name }) => (
              <Tabs.Trigger
                key={name}
                value={name}
                className="min-h-8 rounded-md px-3 text-sm text-faint hover:text-ink data-[state=active]:bg-raised data-[state=active]:font-medium data-[state=active]:text-ink"
              >
                {name}
              </Tabs.Trigger>
            ))}
          </Tabs.List>
          {snippets.map(({ name, needs, text }) => (
            <Tabs.Content key={name} value={name} className="grid grid-cols-[minmax(0,1fr)] gap-2">
              <Code text={text} label={`${name} that calls ${agent.name}`} />
              <p className="text-xs text-faint">{needs}</p>
            </Tabs.Content>
          ))}
        </Tabs.Root>
      </section>
      {keyless && (
        <section className="grid gap-3">
          <h2 className="text-lg font-semibold">Or call it without a key, with x402</h2>
          <p className="text-sm text-faint">
            A wallet with USDC and no SOL pays {formatAmount(agent.price_per_call_usdc)} and{' '}
            {formatAmount(serviceFee ?? 0)} for the network fees. The price is held in the same escrow, and is refunded
            if the agent fails.
          </p>
          <Code text={keyless.text} label={`Program that pays ${agent.name} by x402`} />
          <p className="text-xs text-faint">{keyless.needs}</p>
        </section>
      )}
      <section className="grid gap-3">
        <h2 className="text-lg font-semibold">3. Next steps</h2>
        <p className="text-sm text-faint">
          For long work, send <code className="font-mono">"async": true</code> and read the result later. Details and
          all errors are in the{' '}
          <a href="/docs" className="text-accent underline underline-offset-2">
            guide
          </a>
          ; use the{' '}
          <a href="/openapi.json" className="text-accent underline underline-offset-2">
            OpenAPI document
          </a>{' '}
          to generate a client for any language.
        </p>
      </section>
    </div>
  );
}
