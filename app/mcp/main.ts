#!/usr/bin/env node
/** `agent-marketplace-mcp`: the MCP server over stdio, for a host that starts it as a process. */
import { parseArgs } from 'node:util';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { ADDRESS } from '../sdk/wire/fields.ts';
import { checkedApiKey, originOf, withoutSecrets } from '../sdk/wire/secrets.ts';
import { formatUsdc, parseUsdc } from '../sdk/wire/usdc.ts';
import { lenientLines } from './lenient.ts';
import { APPROVE_ABOVE, createMarket, createMcpServer, createSession, MarketplaceError } from './server.ts';

const HELP = `Usage: agent-marketplace-mcp [options]

An MCP server over stdio: tools that find, pay and check the agents of a marketplace.

Options:
  --base-url URL         the marketplace (MARKETPLACE_URL)
  --agents ID,ID         offer only these agents, each as a separate tool
  --budget USDC          maximum total cost of all calls of this session; default: the limits of the API key
  --approve-above USDC   a call above this price needs your approval in the host; default: ${APPROVE_ABOVE}
  --rpc-url URL          a Solana node that you trust, for verify_execution (SOLANA_RPC_URL); default: the one that the
                         marketplace names
  --keypair FILE         the wallet that opens disputes (SOLANA_KEYPAIR); without it there is no open_dispute. Without an
                         API key it also pays each call by x402. It then needs USDC and --budget; SOL only for disputes
  --network NAME         network of the wallet's payments: mainnet (default) or devnet. For a local network: devnet
  --usdc-mint ADDRESS    the token that the wallet pays; default: Circle's USDC on the network
  --help                 print this text

Environment:
  MARKETPLACE_API_KEY    the API key that pays. Set its limits with \`keys create\`, or on the page of the marketplace.
                         Without an API key, the wallet of --keypair pays`;

/** Ends the process with a message for the person who configured it. */
function stop(message: string): never {
  console.error(`agent-marketplace-mcp: ${withoutSecrets(message)}`);
  process.exit(2);
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        'base-url': { type: 'string' },
        agents: { type: 'string' },
        budget: { type: 'string' },
        'approve-above': { type: 'string' },
        'rpc-url': { type: 'string' },
        keypair: { type: 'string' },
        network: { type: 'string' },
        'usdc-mint': { type: 'string' },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    return stop(`${(error as Error).message}\n\n${HELP}`);
  }
}

function toAmount(option: string, text: string): bigint {
  try {
    return parseUsdc(text);
  } catch (error) {
    return stop(`--${option}: ${(error as Error).message}`);
  }
}

/** The wallet that pays each call if there is no API key. */
async function walletOf(keypair: string | undefined, options: ReturnType<typeof readOptions>, rpcUrl: string | null) {
  const { network = 'mainnet', 'usdc-mint': asset, budget } = options;
  if (keypair === undefined) stop('Set MARKETPLACE_API_KEY to an API key, or give a wallet that pays: --keypair FILE.');
  if (budget === undefined)
    stop('Without an API key, --budget USDC is required: nothing else limits what the wallet pays.');
  if (network !== 'mainnet' && network !== 'devnet') stop(`--network: expected mainnet or devnet, got ${network}.`);
  if (asset !== undefined && !ADDRESS.test(asset)) stop(`--usdc-mint: ${asset} is not an address.`);
  return (await import('./wallet.ts')).createPayment({ keypair, network, asset, rpcUrl: rpcUrl ?? undefined });
}

async function main(): Promise<void> {
  const options = readOptions();
  if (options.help) {
    console.log(HELP);
    return;
  }
  const { env } = process;
  const baseUrl =
    options['base-url'] ??
    env.MARKETPLACE_URL ??
    stop('The marketplace is missing. Give --base-url URL, or set MARKETPLACE_URL.');
  const apiKey = checkedApiKey(env.MARKETPLACE_API_KEY) ?? null;
  const rpcUrl = options['rpc-url'] ?? env.SOLANA_RPC_URL ?? null;
  const keypair = options.keypair ?? env.SOLANA_KEYPAIR;
  const session = createSession({
    budget: options.budget === undefined ? null : toAmount('budget', options.budget),
    approveAbove: toAmount('approve-above', options['approve-above'] ?? APPROVE_ABOVE),
  });
  const payment = apiKey === null ? await walletOf(keypair, options, rpcUrl) : 'key';
  const dispute =
    keypair === undefined ? null : (await import('./wallet.ts')).createDispute({ baseUrl, rpcUrl, keypair });
  const market = createMarket({ baseUrl, apiKey, rpcUrl, dispute });
  const ids = options.agents?.split(',').map((id) => id.trim()) ?? [];
  const agents = await Promise.all(ids.map((id) => market.request('getAgent', { agent_id: id })));
  const raiseApproval = 'start the server with a higher --approve-above';
  const transport = new StdioServerTransport(process.stdin.setEncoding('utf8').pipe(lenientLines()));
  serveStdio(() => createMcpServer({ market, session, raiseApproval, agents, payment }), { transport });
  const budget = session.budget === null ? 'the limits of the key' : `${formatUsdc(session.budget)} USDC`;
  console.error(`agent-marketplace-mcp: serving ${originOf(baseUrl)} within ${budget}`);
}

main().catch((error: unknown) => {
  const reason = error instanceof MarketplaceError ? `${error.message} (${error.code})` : (error as Error).message;
  stop(reason);
});
