/** Code that calls this agent: by an API key in three languages, by x402 without one, and from a host of AI models. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Tabs } from 'radix-ui';
import type { ReactNode } from 'react';
import { parseUsdc } from '../../../sdk/wire/usdc.ts';
import type { AgentFull } from '../../../sdk/wire/wire.ts';
import { GetWallet } from '../../parts/getWallet.tsx';
import { Note, Skeleton } from '../../parts/ui.tsx';
import { Code, formatAmount } from '../../parts/values.tsx';
import { BASE_URL, configQuery } from '../../service.ts';
import { exampleQuery } from './example.tsx';
import { exampleParameters } from './schema/example.ts';
import { KEY_VARIABLE, mcpSnippet, type Snippet, type SnippetInput, snippetsOf, x402Snippet } from './snippets.ts';

/** A longer example would hide the code. */
const MOST_CHARACTERS = 1_000;

export default function CodeTab({ agent }: { agent: AgentFull }) {
  const { data: example, isPending } = useQuery(exampleQuery(agent.agent_id));
  if (isPending) return <Skeleton className="h-96" />;
  const sent = example && { task: example.task, parameters: example.parameters };
  const isShort = sent && JSON.stringify(sent).length <= MOST_CHARACTERS;
  const call: SnippetInput = {
    baseUrl: BASE_URL,
    agentId: agent.agent_id,
    priceUsdc: agent.price_per_call_usdc,
    ...(isShort ? sent : { task: 'Do this for me.', parameters: exampleParameters(agent.input_schema) }),
  };
  const tabs: (readonly [name: string, content: ReactNode])[] = [
    ...snippetsOf(call).map(
      (snippet) => [snippet.name, <ByKey key={snippet.name} agent={agent} snippet={snippet} />] as const,
    ),
    ['x402 (no key)', <ByX402 key="x402" agent={agent} call={call} />],
    ['MCP', <ByMcp key="mcp" agent={agent} />],
  ];
  return (
    <div className="grid max-w-3xl grid-cols-[minmax(0,1fr)] gap-8">
      {/* Values become parts of ids, which have no spaces. */}
      <Tabs.Root defaultValue="0">
        <Tabs.List
          aria-label="Ways to call it"
          className="mb-5 flex w-fit max-w-full flex-wrap gap-1 rounded-lg bg-sunken p-1"
        >
          {tabs.map(([name], index) => (
            <Tabs.Trigger
              key={name}
              value={String(index)}
              className="min-h-9 shrink-0 rounded-md px-3 text-sm whitespace-nowrap text-faint hover:text-ink data-[state=active]:bg-chosen data-[state=active]:font-medium data-[state=active]:text-ink"
            >
              {name}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        {tabs.map(([name, content], index) => (
          <Tabs.Content key={name} value={String(index)} className="grid grid-cols-[minmax(0,1fr)] gap-6">
            {content}
          </Tabs.Content>
        ))}
      </Tabs.Root>
      <p className="text-sm text-faint">
        Next: the <Guide hash="executeAgent">docs</Guide> have every field and every error, and{' '}
        <Guide path="/openapi.json">openapi.json</Guide> generates a client for any other language.
      </p>
    </div>
  );
}

function ByKey({ agent, snippet }: { agent: AgentFull; snippet: Snippet }) {
  const { data: config } = useQuery(configQuery);
  return (
    <>
      <p className="text-sm text-faint">
        <span className="font-medium text-ink">You need a wallet with USDC and a little SOL.</span> <GetWallet />
      </p>
      <Step title="1. Create an API key">
        <p className="text-sm text-faint">
          A key spends USDC from your wallet, within limits that you set. Creating one takes about 0.01 SOL once, and a
          part of it comes back.{' '}
          <Link to="/keys" className="text-accent underline underline-offset-2">
            Create one
          </Link>{' '}
          and keep it in an environment variable, never in code.
        </p>
        <Code text={`export ${KEY_VARIABLE}=crtx_…`} label="Setting the key" />
      </Step>
      <Step title={`2. Call ${agent.name}`}>
        <p className="text-sm text-faint">
          Each call costs {formatAmount(agent.price_per_call_usdc)}
          {config && keyFees(config.is_sponsored)}. It answers with the result, with an error and a refund, or, if it
          takes long, with 202: the code waits. The parameters are examples: replace them with yours.
        </p>
        <Shown snippet={snippet} label={`${snippet.name} that calls ${agent.name}`} />
      </Step>
    </>
  );
}

/** What a call with a key costs besides its price. */
const keyFees = (isSponsored: boolean): string =>
  isSponsored
    ? ' and nothing else: this marketplace pays the network fees, after any SOL that you have set aside for them'
    : ', and about 0.00001 SOL of network fees, from SOL that you set aside when you create the key';

function ByX402({ agent, call }: { agent: AgentFull; call: SnippetInput }) {
  const { data: config } = useQuery(configQuery);
  if (!config) return <Skeleton className="h-96" />;
  const fee = config.x402_service_fee_usdc;
  if (fee === null) return <Note title="This marketplace takes no payments by x402">Call it with an API key.</Note>;
  const total = parseUsdc(agent.price_per_call_usdc) + parseUsdc(fee);
  const snippet = x402Snippet({ ...call, rpcUrl: config.rpc_url, usdcMint: config.usdc_mint, total });
  return (
    <Step title={`Pay ${agent.name} from a wallet`}>
      <p className="text-sm text-faint">
        x402 is a standard for paying per web request. You need a wallet with USDC, but no API key, account or SOL. You
        pay {formatAmount(agent.price_per_call_usdc)}, and a service fee of {formatAmount(fee)} to the marketplace,
        which pays the network fees. If the agent fails, you lose only the service fee.
      </p>
      <Shown snippet={snippet} label={`Program that pays ${agent.name} by x402`} />
    </Step>
  );
}

function ByMcp({ agent }: { agent: AgentFull }) {
  const snippet = mcpSnippet(BASE_URL, agent.agent_id);
  return (
    <Step title={`Let an AI model call ${agent.name}`}>
      <p className="text-sm text-faint">
        For Claude, Cursor and other hosts of the Model Context Protocol. Add this address as a remote server. The host
        opens a page where you connect your wallet and set a budget. {agent.name} is then a tool, and each use costs{' '}
        {formatAmount(agent.price_per_call_usdc)}.
      </p>
      <Code text={snippet.url} label="Address of the MCP server" isWhole />
      <p className="text-sm text-faint">Or as a file:</p>
      <Shown snippet={snippet} label={`MCP settings with ${agent.name}`} />
    </Step>
  );
}

function Step({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <h2 className="text-lg font-semibold">{title}</h2>
      {children}
    </section>
  );
}

function Shown({ snippet: { text, needs, file }, label }: { snippet: Snippet; label: string }) {
  return (
    <>
      <Code text={text} label={label} file={file} isWhole />
      <p className="text-sm text-faint">{needs}</p>
    </>
  );
}

function Guide({ path = '/docs', hash, children }: { path?: string; hash?: string; children: string }) {
  return (
    <a href={hash ? `${path}#${hash}` : path} className="text-accent underline underline-offset-2">
      {children}
    </a>
  );
}
