/** Code that calls this agent: by an API key in three languages, by x402 without one, and from an app by MCP. */
import { useQuery } from '@tanstack/react-query';
import { Tabs } from 'radix-ui';
import { type ReactNode, useRef } from 'react';
import { FIRST_GAS } from '../../../sdk/wallet/usualAmounts.ts';
import { parseUsdc } from '../../../sdk/wire/usdc.ts';
import type { AgentFull } from '../../../sdk/wire/wire.ts';
import { ConnectButton, TestWalletButton } from '../../parts/connect.tsx';
import { NewToThis } from '../../parts/explained.tsx';
import { GetUsdc, GetWallet } from '../../parts/getWallet.tsx';
import { Anchor, TextLink } from '../../parts/links.tsx';
import { NumberMark } from '../../parts/stepList.tsx';
import { SEGMENT, SEGMENTS, useSelectedTab } from '../../parts/tabRow.ts';
import { cx, Note, Skeleton } from '../../parts/ui.tsx';
import { Code, formatAmount } from '../../parts/values.tsx';
import { BASE_URL, configQuery, developmentWalletsPath, exampleQuery } from '../../service.ts';
import { depositsQuery } from '../../wallet/deposits.ts';
import { useSession } from '../../wallet/session.ts';
import { keyCost } from '../keys/makeKey.ts';
import { keyFees } from './run/cost.ts';
import { exampleParameters } from './schema/example.ts';
import {
  isJson,
  KEY_VARIABLE,
  mcpSnippet,
  type Program,
  type Snippet,
  type SnippetInput,
  snippetsOf,
  X402_INSTALL,
  x402Snippet,
} from './snippets.ts';

/** Code takes the whole width, words do not. */
const WORDS = 'max-w-3xl text-sm text-faint';
/** A longer example would hide the code. */
const MOST_CHARACTERS = 1_000;
/** /mcp asks for approval above this price. */
const MCP_APPROVED_USDC = 1;

export default function CodeTab({ agent }: { agent: AgentFull }) {
  const { data: example, isPending } = useQuery(exampleQuery(agent.agent_id));
  const list = useRef<HTMLDivElement>(null);
  useSelectedTab(list, String(isPending));
  if (isPending) return <Skeleton className="h-96" />;
  const sent = example && { task: example.task, parameters: example.parameters };
  const isShort = sent && JSON.stringify(sent).length <= MOST_CHARACTERS;
  const call: SnippetInput = {
    baseUrl: BASE_URL,
    agentId: agent.agent_id,
    priceUsdc: agent.price_per_call_usdc,
    isJson: isJson(agent),
    ...(isShort ? sent : { task: 'Do this for me.', parameters: exampleParameters(agent.input_schema) }),
  };
  const tabs: (readonly [name: string, content: ReactNode])[] = [
    ...snippetsOf(call).map(
      (snippet) => [snippet.name, <ByKey key={snippet.name} agent={agent} snippet={snippet} />] as const,
    ),
    ['x402', <ByX402 key="x402" agent={agent} call={call} />],
    ['MCP', <ByMcp key="mcp" agent={agent} />],
  ];
  return (
    <>
      {/* Values become parts of ids, which have no spaces. */}
      <Tabs.Root defaultValue="0">
        <Tabs.List ref={list} aria-label="Ways to call it" className={cx(SEGMENTS, 'mb-5')}>
          {tabs.map(([name], index) => (
            <Tabs.Trigger key={name} value={String(index)} className={SEGMENT}>
              {name}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        {tabs.map(([name, content], index) => (
          <Tabs.Content key={name} value={String(index)} className="grid grid-cols-[minmax(0,1fr)] gap-6">
            {content}
            {name !== 'MCP' && (
              <p className={WORDS}>
                The program trusts this marketplace for the result:{' '}
                <Anchor href="/docs#verify">verifying a result</Anchor> checks the creator’s signature. The{' '}
                <Anchor href="/docs#executeAgent">docs</Anchor> have every field and every error, and{' '}
                <Anchor href="/openapi.json">openapi.json</Anchor> generates a client for any other language.
              </p>
            )}
          </Tabs.Content>
        ))}
      </Tabs.Root>
    </>
  );
}

function ByKey({ agent, snippet }: { agent: AgentFull; snippet: Program }) {
  const { data: config } = useQuery(configQuery);
  const pays = useKeyCost();
  return (
    <>
      <NeedsWallet />
      <Step number={1} title="Create an API key">
        <p className={WORDS}>
          A key spends USDC from your wallet, within limits that you set. Creating one takes {pays}.{' '}
          <TextLink to="/keys">Create one</TextLink> and keep it in an environment variable, never in code.
        </p>
        <Code text={`export ${KEY_VARIABLE}=${keyText(config)}`} label="Setting the key" />
      </Step>
      <Step number={2} title={`Call ${agent.name}`}>
        <p className={WORDS}>
          Each call costs {formatAmount(agent.price_per_call_usdc)}; <code>max_cost_usdc</code> refuses a higher price.{' '}
          {config && keyFees(config.is_sponsored)} The call returns the result, or an error and a refund.{' '}
          {isJson(agent) && (
            <>
              <code>result</code> is always a string: here it is JSON as text, which the code parses.{' '}
            </>
          )}
          A long call returns 202, and the code waits. The parameters are examples: replace them with yours.
        </p>
        <Shown snippet={snippet} label={`${snippet.name} that calls ${agent.name}`} />
      </Step>
      <Run step={3} program={snippet} />
    </>
  );
}

/** What it takes to create a key. */
function useKeyCost(): string {
  const { data: config } = useQuery(configQuery);
  const { data: deposits } = useQuery(depositsQuery);
  if (!config || !deposits) return 'a little SOL';
  const { sum, kept } = keyCost({ grantDeposit: deposits.grant }, config.is_sponsored ? 0n : FIRST_GAS).pays;
  return `${sum}: ${kept}`;
}

/** Stands for a key of this network. */
const keyText = (config: { environment: string } | undefined): string => `crtx_${config?.environment ?? ''}_...`;

function NeedsWallet() {
  const { wallet, isKnown } = useSession();
  return (
    <div className="grid justify-items-start gap-3">
      <p className={WORDS}>
        <span className="font-medium text-ink">You need a wallet with USDC, and a little SOL to create a key.</span>{' '}
        {!wallet && (
          <>
            <GetWallet /> <NewToThis />
          </>
        )}
      </p>
      {isKnown && !wallet && developmentWalletsPath() !== '' && (
        <div className="flex flex-wrap gap-2">
          <TestWalletButton kind="plain" />
          <ConnectButton kind="plain" />
        </div>
      )}
    </div>
  );
}

function ByX402({ agent, call }: { agent: AgentFull; call: SnippetInput }) {
  const { data: config } = useQuery(configQuery);
  if (!config) return <Skeleton className="h-96" />;
  const fee = config.x402_service_fee_usdc;
  if (fee === null) return <Note title="This marketplace takes no payments by x402">Call it with an API key.</Note>;
  const total = parseUsdc(agent.price_per_call_usdc) + parseUsdc(fee);
  const snippet = x402Snippet({ ...call, rpcUrl: config.rpc_url, usdcMint: config.usdc_mint, total });
  return (
    <>
      <p className={WORDS}>
        <span className="font-medium text-ink">You need a wallet file with USDC; no API key, account or SOL.</span> x402
        is a standard for paying per web request. You pay {formatAmount(agent.price_per_call_usdc)}, and a service fee
        of {formatAmount(fee)} to the marketplace, which pays the network fees. If the agent fails, you lose only the
        service fee.
      </p>
      <WalletFile />
      <Step number={2} title="Install the packages of x402">
        <Code text={X402_INSTALL} label="Installing the packages" />
      </Step>
      <Step number={3} title={`Call ${agent.name}`}>
        <p className={WORDS}>
          In TypeScript. For other languages: <Anchor href="/docs#x402">docs, paying by x402</Anchor>.
        </p>
        <Shown snippet={snippet} label={`Program that pays ${agent.name} by x402`} />
      </Step>
      <Run step={4} program={snippet} />
    </>
  );
}

function WalletFile() {
  return (
    <Step number={1} title="Get a wallet file">
      {developmentWalletsPath() === '' ? (
        <>
          <p className={WORDS}>
            The Solana CLI makes one and prints its address. <GetUsdc />
          </p>
          <Code
            text={
              'solana-keygen new --no-bip39-passphrase --outfile wallet.json\nexport SOLANA_KEYPAIR=$PWD/wallet.json'
            }
            label="Making a wallet file"
          />
        </>
      ) : (
        <>
          <p className={WORDS}>
            This marketplace runs on a test network on one computer. On that computer, in the folder in which its
            operator ran <code>npm start</code>, there are free test wallets:
          </p>
          <Code
            text="export SOLANA_KEYPAIR=$PWD/.local/demo/caller-1.json"
            label="Choosing the wallet file of a test wallet"
          />
        </>
      )}
    </Step>
  );
}

function ByMcp({ agent }: { agent: AgentFull }) {
  const pays = useKeyCost();
  const snippet = mcpSnippet(BASE_URL, agent.agent_id);
  const approval =
    agent.price_per_call_usdc > MCP_APPROVED_USDC
      ? 'You must approve each use in the app; an app that cannot ask is refused.'
      : 'Unless your app asks before it uses a tool, the model pays without asking you, within the budget that you set.';
  return (
    <Step title={`Let an AI model call ${agent.name}`}>
      <p className={WORDS}>
        In Claude, Cursor and other apps that support the Model Context Protocol (MCP), {agent.name} becomes a tool of
        the model. Each use costs {formatAmount(agent.price_per_call_usdc)}. {approval}
      </p>
      <NeedsWallet />
      <h3 className="mt-2 font-medium">
        Sign in: the app opens your browser, where you connect a wallet and set a budget
      </h3>
      <p className={WORDS}>Add this address as a remote server:</p>
      <Code text={snippet.url} label="Address of the MCP server" />
      <p className={WORDS}>
        Signing in creates a new API key for the app, with your budget as its limits. That takes {pays}.{' '}
        <code>pay_by=key</code> makes the app sign in; without it, an app that has no key is asked to pay each call by
        x402.
      </p>
      <p className={WORDS}>For Claude Code:</p>
      <Code text={snippet.command} label="Adding it to Claude Code" isWhole />
      <p className={WORDS}>
        Or as a file in your project, <code>.mcp.json</code> for Claude Code, <code>.cursor/mcp.json</code> for Cursor:
      </p>
      <Shown snippet={snippet} label={`MCP settings with ${agent.name}`} />
      <p className={WORDS}>
        More agents: <code>agents=ID,ID</code>. Without a browser the app uses an{' '}
        <TextLink to="/keys">API key</TextLink>. How, approvals and budgets: <Anchor href="/docs#mcp">docs, MCP</Anchor>
        .
      </p>
    </Step>
  );
}

const Shown = ({ snippet: { text, file }, label }: { snippet: Pick<Snippet, 'text' | 'file'>; label: string }) => (
  <Code text={text} label={label} file={file} isWhole />
);

function Run({ step, program: { command, needs } }: { step: number; program: Program }) {
  return (
    <Step number={step} title="Run it">
      <Code text={command} label="Running it" />
      <p className={WORDS}>{needs}</p>
      <p className={WORDS}>
        After a lost connection, repeat it with the printed key: <code>IDEMPOTENCY_KEY=… {command}</code>. Nothing is
        paid twice.
      </p>
    </Step>
  );
}

function Step({ number, title, children }: { number?: number; title: string; children: ReactNode }) {
  return (
    <section className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <h2 className="flex items-center gap-3 text-lg font-semibold">
        {number && <NumberMark number={number} />}
        <span className="min-w-0">{title}</span>
      </h2>
      {children}
    </section>
  );
}
