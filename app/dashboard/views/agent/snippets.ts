/** One call of one agent as code: TypeScript, Python, curl, x402 and MCP, each complete and ready to run. */
import type { AgentFull } from '../../../sdk/wire/wire.ts';

export interface SnippetInput {
  baseUrl: string;
  agentId: string;
  task: string;
  parameters: Record<string, unknown>;
  /** The agent's price: the most that a call with a key may cost. */
  priceUsdc: number;
  /** The result is JSON as text, so that the program parses it. */
  isJson?: boolean;
}

export interface Snippet {
  name: string;
  /** Requirements before it runs. */
  needs: string;
  file: string;
  text: string;
}

/** A snippet that is run as a program. */
export interface Program extends Snippet {
  command: string;
}

export const KEY_VARIABLE = 'MARKETPLACE_API_KEY';

export function snippetsOf(input: SnippetInput): Program[] {
  return [
    {
      name: 'TypeScript',
      needs: 'Needs Node 20 or newer, and no package of ours: npx downloads tsx.',
      command: 'npx tsx call.mts',
      file: 'call.mts',
      text: typescript(input),
    },
    {
      name: 'Python',
      needs: 'Needs Python 3.8 or newer, and no package.',
      command: 'python3 call.py',
      file: 'call.py',
      text: python(input),
    },
    { name: 'curl', needs: 'Needs only a shell.', command: 'sh call.sh', file: 'call.sh', text: curl(input) },
  ];
}

/** The data that a program needs to pay without an API key. */
export interface X402Input extends Omit<SnippetInput, 'priceUsdc'> {
  rpcUrl: string;
  usdcMint: string;
  /** Base units of price and service fee together. */
  total: bigint;
}

export const X402_INSTALL = 'npm install @x402/fetch @x402/svm @solana/kit';

/** The call with the x402 packages, for a wallet that has USDC and no SOL. */
export function x402Snippet(input: X402Input): Program {
  const { baseUrl, agentId, task, parameters, rpcUrl, usdcMint, total } = input;
  return {
    name: 'x402',
    needs: 'Needs Node 20 or newer: npx downloads tsx.',
    command: 'npx tsx call.mts',
    file: 'call.mts',
    text: `import { readFileSync } from 'node:fs';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { wrapFetchWithPayment, x402Client, x402HTTPClient } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';

// Use a small wallet of its own: anyone with this file can spend all that is in it.
const keypair = JSON.parse(readFileSync(process.env.SOLANA_KEYPAIR!, 'utf8'));
const wallet = await createKeyPairSignerFromBytes(Uint8Array.from(keypair));
const client = new x402Client();
client.register('solana:*', new ExactSvmScheme(wallet, { rpcUrl: ${JSON.stringify(rpcUrl)} }));
// It pays at most this many base units (millionths) of this token, and nothing else.
const asset = ${JSON.stringify(usdcMint)};
client.setSpendControls({
  allowedAssets: [{ network: 'solana:*', asset, maxAmountPerPayment: '${total}' }],
});
let payment = {};
client.onAfterPaymentCreation(async ({ paymentPayload }) => {
  payment = new x402HTTPClient(client).encodePaymentSignatureHeader(paymentPayload);
});

const service = ${JSON.stringify(baseUrl)};
const agent = ${JSON.stringify(agentId)};
// With the payer in the address, your USDC can only pay for this call or come back to you.
const url = \`\${service}/v1/x402/agents/\${agent}/execute?payer=\${wallet.address}\`;
// Keep this Idempotency-Key until you have the answer.
// A retry with the same one never pays twice; a new one is a new, paid call.
const idempotencyKey = process.env.IDEMPOTENCY_KEY ?? crypto.randomUUID();
console.error(\`Idempotency-Key: \${idempotencyKey}\`);
const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey };
const body = JSON.stringify(${JSON.stringify({ task, parameters }, null, 2)});
let response = await wrapFetchWithPayment(fetch, client)(url, { method: 'POST', headers, body });
let answer = await response.json();
// The call continues. The same payment is taken once, and gets its outcome.
while (response.status === 202 || answer.error?.code === 'request_in_progress') {
  const seconds = Number(response.headers.get('retry-after') ?? 1);
  await new Promise((resolve) => setTimeout(resolve, 1_000 * seconds));
  response = await fetch(url, { method: 'POST', headers: { ...headers, ...payment }, body });
  answer = await response.json();
}
if (!response.ok) throw new Error(\`\${answer.error.code}: \${answer.error.message}\`);
console.error(\`Call \${answer.execution_id} cost \${answer.cost_usdc} USDC and the service fee\`);
${printed(input)}`,
  };
}

/**
 * The settings of an app that signs in by itself and gets this agent as a tool; `url` alone is enough for most, and
 * `command` adds it to Claude Code.
 */
export function mcpSnippet(baseUrl: string, agentId: string) {
  const url = `${baseUrl}/mcp?pay_by=key&agents=${agentId}`;
  return {
    file: '.mcp.json or .cursor/mcp.json',
    text: `${JSON.stringify({ mcpServers: { 'agent-marketplace': { type: 'http', url } } }, null, 2)}\n`,
    url,
    command: `claude mcp add --transport http agent-marketplace \\\n  "${url}"`,
  };
}

const bodyOf = ({ task, parameters, priceUsdc }: SnippetInput) => ({ task, parameters, max_cost_usdc: priceUsdc });

/** Quotes any text for a POSIX shell. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function curl(input: SnippetInput): string {
  return `# Keep this Idempotency-Key until you have the answer.
# A retry with the same one never pays twice; a new one is a new, paid call.
idempotency_key=\${IDEMPOTENCY_KEY:-$(od -An -N16 -tx1 /dev/urandom | tr -dc 0-9a-f)}
echo "Idempotency-Key: $idempotency_key" >&2
SERVICE=${quote(input.baseUrl)}
AGENT=${quote(input.agentId)}
call() {
  curl -sS \\
    "$SERVICE/v1/agents/$AGENT/execute" \\
    -H "Authorization: Bearer $${KEY_VARIABLE}" \\
    -H 'Content-Type: application/json' \\
    -H "Idempotency-Key: $idempotency_key" \\
    -w ' %{http_code}' \\
    --data-binary @- <<'JSON'
${JSON.stringify(bodyOf(input), null, 2)}
JSON
}
ANSWER=$(call)
# While the call runs, the same request is not paid again. In the end it gets the outcome.
while case "$ANSWER" in *' 202' | *'"request_in_progress"'*' 409') true ;; *) false ;; esac; do
  sleep 2
  ANSWER=$(call)
done
${input.isJson ? "# Its result is JSON as text. With jq: sh call.sh | jq '.result | fromjson'\n" : ''}printf '%s\\n' "\${ANSWER% ???}"
`;
}

function typescript(input: SnippetInput): string {
  return `// Keep this Idempotency-Key until you have the answer.
// A retry with the same one never pays twice; a new one is a new, paid call.
const idempotencyKey = process.env.IDEMPOTENCY_KEY ?? crypto.randomUUID();
console.error(\`Idempotency-Key: \${idempotencyKey}\`);
const service = ${JSON.stringify(input.baseUrl)};
const agent = ${JSON.stringify(input.agentId)};
const url = \`\${service}/v1/agents/\${agent}/execute\`;
const call = () =>
  fetch(url, {
    method: 'POST',
    headers: {
      Authorization: \`Bearer \${process.env.${KEY_VARIABLE}}\`,
      'Content-Type': 'application/json',
      'Idempotency-Key': idempotencyKey,
    },
    body: JSON.stringify(${indent(JSON.stringify(bodyOf(input), null, 2), '    ')}),
  });
let response = await call();
let answer = await response.json();
// While the call runs, the same request is not paid again. In the end it gets the outcome.
while (response.status === 202 || answer.error?.code === 'request_in_progress') {
  const seconds = Number(response.headers.get('retry-after') ?? 1);
  await new Promise((resolve) => setTimeout(resolve, 1_000 * seconds));
  response = await call();
  answer = await response.json();
}
if (!response.ok) throw new Error(\`\${answer.error.code}: \${answer.error.message}\`);
console.error(\`Call \${answer.execution_id} cost \${answer.cost_usdc} USDC\`);
${printed(input)}`;
}

function python(input: SnippetInput): string {
  return `import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

# Keep this Idempotency-Key until you have the answer.
# A retry with the same one never pays twice; a new one is a new, paid call.
idempotency_key = os.environ.get("IDEMPOTENCY_KEY") or str(uuid.uuid4())
print("Idempotency-Key:", idempotency_key, file=sys.stderr)
service = ${JSON.stringify(input.baseUrl)}
agent = ${JSON.stringify(input.agentId)}
url = f"{service}/v1/agents/{agent}/execute"
body = ${pythonValue(bodyOf(input))}
request = urllib.request.Request(
    url,
    data=json.dumps(body).encode(),
    headers={
        "Authorization": f"Bearer {os.environ['${KEY_VARIABLE}']}",
        "Content-Type": "application/json",
        "Idempotency-Key": idempotency_key,
    },
)


def call():
    try:
        return urllib.request.urlopen(request)
    except urllib.error.HTTPError as error:
        return error


response = call()
answer = json.load(response)
# While the call runs, the same request is not paid again. In the end it gets the outcome.
while answer.get("status") == "running" or answer.get("error", {}).get("code") == "request_in_progress":
    time.sleep(float(response.headers.get("Retry-After") or 1))
    response = call()
    answer = json.load(response)
if "error" in answer:
    raise SystemExit(f"{answer['error']['code']}: {answer['error']['message']}")
print("Call", answer["execution_id"], "cost", answer["cost_usdc"], "USDC", file=sys.stderr)
${input.isJson ? '# The result is JSON as text.\nprint(json.loads(answer["result"]))' : 'print(answer["result"])'}
`;
}

const printed = ({ isJson }: Pick<SnippetInput, 'isJson'>): string =>
  isJson
    ? '// The result is JSON as text.\nconsole.log(JSON.parse(answer.result));\n'
    : 'console.log(answer.result);\n';

const indent = (text: string, by: string): string => text.replaceAll('\n', `\n${by}`);

/** A JSON value in Python's syntax: only null, true and false differ. */
function pythonValue(value: unknown, by = ''): string {
  const inner = `${by}    `;
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((item) => `${inner}${pythonValue(item, inner)},\n`)
    : Object.entries(value).map(([name, item]) => `${inner}${JSON.stringify(name)}: ${pythonValue(item, inner)},\n`);
  const [open, close] = isList ? '[]' : '{}';
  return parts.length === 0 ? `${open}${close}` : `${open}\n${parts.join('')}${by}${close}`;
}

/** True if the agent promises something other than text, which comes as JSON. */
export function isJson({ output_schema: { type } }: Pick<AgentFull, 'output_schema'>): boolean {
  const types = [type ?? []].flat();
  return types.length > 0 && !types.includes('string');
}
