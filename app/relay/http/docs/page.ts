/**
 * /docs: a guide and the reference, generated from the OpenAPI document as HTML without scripts. A browser gets it
 * inside the web page (dashboard.ts), which styles it. Other clients get a separate document.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, PROGRAM_ID } from '../../../sdk/program/program.ts';
import { keyPrefix } from '../../../sdk/receipt/apiKey.ts';
import { hashResult } from '../../../sdk/receipt/receipt.ts';
import { ERROR_CODES } from '../../../sdk/wire/errorCodes.ts';
import { MAX_METADATA_BYTES } from '../../../sdk/wire/metadata.ts';
import { describeSchemaRules } from '../../../sdk/wire/schemaKeywords.ts';
import { formatUsdc } from '../../../sdk/wire/usdc.ts';
import { ERRORS, MAX_BODY_BYTES } from '../../../sdk/wire/wire.ts';
import type { OpenApi } from '../openapi/document.ts';
import { SETTLED } from '../routes/executionSamples.ts';
import { sizeOf } from '../size.ts';
import { ABOUT, programOf } from './examples.ts';
import { codeChoice, escapeHtml, inline, unescapeHtml, withApostrophes, withLines } from './html.ts';
import { reference } from './reference.ts';
import { KEY_VARIABLE } from './snippets.ts';

/** Offset of result_hash in an ExecutionRecord's account, bytes. */
export const RESULT_HASH_OFFSET = 225;

/** Who pays the network fees of calls with a key. */
const SPONSORED = {
  key_sol:
    'for each key about 0.002 SOL (the page shows the exact amount), nearly all of which you get back once the key has ended',
  key_fees: 'This marketplace pays the network fees of calls with a key',
  key_gas: ' A gas balance, if you keep one, is used first; you need none.',
  key_call_sol: 'none: this marketplace pays the fees that the gas balance does not cover',
};
const UNSPONSORED = {
  key_sol: 'for the first key about 0.01 SOL: a refundable deposit, and the gas balance of its first calls',
  key_fees: 'The network fees of calls with a key are paid by your gas balance, about 0.00001 SOL a call',
  key_gas: '',
  key_call_sol: 'about 0.00001 a call, from the gas balance',
};

/** The agent for first calls of a network that `npm start` makes. Its id is known only once it is listed. */
const SANDBOX =
  '. The code finds <a href="/?q=sandbox-echo">sandbox-echo</a>: it returns the task, for 0.01 USDC. For another agent that needs only a task, set <code>AGENT</code> to the id at the top of its page, and <code>max_cost_usdc</code> to its price or more.';
const OTHER_AGENT =
  ' and the id of an agent that needs only a task and costs at most 0.05 USDC; the id stands at the top of its page.';
const FIND_SANDBOX = `# The id of sandbox-echo. For another agent: AGENT= and the id at the top of its page.
AGENT=$(curl -s "$MARKETPLACE_URL/v1/agents?q=sandbox-echo" |
  grep -o '"agent_id":"[^"]*","name":"sandbox-echo"' | cut -d'"' -f4)`;
const CHOOSE_AGENT = "AGENT=AGENT_ID   # replace: the id at the top of an agent's page";

/** What an agent such as sandbox-echo answers to the first call of the guide. */
const ECHO = { ...SETTLED, result: 'Say hello', result_hash: hashResult('Say hello'), cost_usdc: 0.01 };

const PROGRAM = /\{\{program (\S+) (\S+)\}\}/g;
const GUIDE = withAnchors(withPrograms(readFileSync(join(import.meta.dirname, 'guide.html'), 'utf8')));
/** The sections of the page: id and title. */
export const SECTIONS: [id: string, title: string][] = [
  ...[...GUIDE.matchAll(/<section id="(\w+)">\s*<h2>(.*?)<\/h2>/g)].map(([, id, title]): [string, string] => [
    String(id),
    String(title),
  ]),
  ['reference', 'Reference'],
];

const partsOf = (html: string, headings: RegExp): string =>
  `<ul>${[...html.matchAll(headings)].map(([, id, title]) => `<li><a href="#${id}">${title}</a></li>`).join('')}</ul>`;
/** The parts of the only section for creators. */
const CREATOR_PARTS = partsOf(GUIDE, /<h3 id="(creators-[\w-]+|schemas-allowed)">(.*?)<\/h3>/g);

/** Who the sections are for, by the first of each group. */
const GROUPS: Record<string, string> = { keys: 'For callers', creators: 'For creators', disputes: 'For both' };

interface Deployment {
  environment: 'live' | 'test';
  /** True for the network of `npm start`. */
  isLocal: boolean;
  /** For readers who query the chain themselves. */
  rpcUrl: string;
  /** True if this service pays the network fees that a gas balance does not cover. */
  isSponsored: boolean;
  /** Lowest service fee of x402 calls, base units; undefined if they are not accepted. */
  leastServiceFee: bigint | undefined;
}

/** The guide for the deployment in the document. */
export function createGuide(document: OpenApi, deployment: Deployment): string {
  const { environment, isLocal, rpcUrl, isSponsored, leastServiceFee } = deployment;
  const values: Record<string, string> = {
    base_url: document.servers[0]!.url,
    environment,
    agent: isLocal ? FIND_SANDBOX : CHOOSE_AGENT,
    key_prefix: keyPrefix(environment),
    answer: JSON.stringify(ECHO, null, 2),
    program_id: PROGRAM_ID.toBase58(),
    rpc_url: rpcUrl,
    max_body: sizeOf(MAX_BODY_BYTES),
    max_metadata: sizeOf(MAX_METADATA_BYTES),
    ...(isSponsored ? SPONSORED : UNSPONSORED),
    service_fee: `${leastServiceFee === undefined ? '' : `at least ${formatUsdc(leastServiceFee)} and `}at most ${formatUsdc(constants.maxServiceFee)} USDC a call`,
    result_hash_offset: String(RESULT_HASH_OFFSET),
    result_hash_end: String(RESULT_HASH_OFFSET + 32),
  };
  const guide = GUIDE.replace('{{error_table}}', errorTable())
    .replace('{{sandbox}}', isLocal ? SANDBOX : OTHER_AGENT)
    .replace('{{schema_rules}}', schemaRules())
    .replace('{{examples}}', examples())
    .replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
      const value = values[name];
      if (value === undefined) throw new Error(`the guide contains {{${name}}}, which is not defined`);
      return escapeHtml(value);
    });
  const routes = reference(document);
  const parts: Record<string, string> = {
    creators: CREATOR_PARTS,
    reference: partsOf(routes, /<h3 id="([\w-]+)">(.*?)<\/h3>/g),
  };
  return withApostrophes(
    withLines(`<div class="guide">
<h1>Docs</h1>
<nav aria-label="Contents"><div class="find"></div><details><summary>Contents</summary><ul>
${SECTIONS.map(([id, title]) => `${GROUPS[id] ? `<li class="group">${GROUPS[id]}</li>` : ''}<li><a href="#${id}">${title}</a>${parts[id] ?? ''}</li>`).join('\n')}
</ul></details></nav>
<div>
${guide}
<section id="reference">
<h2>Reference</h2>
<p>Every route with a request as code. Replace <code>AGENT_ID</code> by the id at the top of an agent's page; other ids are examples. The code reads your key from the environment variable <code>${KEY_VARIABLE}</code>, TypeScript uses the package of <a href="#clients">Clients</a> or <code>fetch</code>, and Python the package <code>requests</code>.</p>
<pre tabindex="0"><code>export ${KEY_VARIABLE}=${keyPrefix(environment)}...</code></pre>
${routes}
</section>
</div>
</div>
`),
  );
}

/** The guide as a separate document, for clients that do not ask for HTML and for a relay without the web page. */
export function createPage(guide: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Docs · Agent Marketplace</title>
</head>
<body>
<main>
${guide}</main>
</body>
</html>
`;
}

function schemaRules(): string {
  return `<ul>\n${describeSchemaRules()
    .map((line) => `<li>${inline(line.replace(/^- /, ''))}</li>`)
    .join('\n')}\n</ul>`;
}

/**
 * Fills in the programs of the READMEs: `{{program README FILE}}`. In `<div class="code" data-name="...">`, the reader
 * chooses one of the languages.
 */
function withPrograms(guide: string): string {
  return guide
    .replace(/<div class="code" data-name="(\w+)">([\s\S]*?)<\/div>/g, (_, name: string, body: string) =>
      codeChoice(name, blocksOf(body)),
    )
    .replace(
      PROGRAM,
      (_, readme: string, file: string) => `<pre><code>${escapeHtml(programOf(readme, file))}</code></pre>`,
    )
    .replace(/<pre(?! tabindex)/g, '<pre tabindex="0"');
}

function blocksOf(html: string): [language: string, text: string][] {
  const blocks = html.matchAll(
    /<pre data-language="(\w+)"><code>([\s\S]*?)<\/code><\/pre>|\{\{program (\S+) (\S+)\}\}/g,
  );
  return [...blocks].map(([, language = '', code = '', readme, file]) =>
    readme && file
      ? [file.endsWith('.py') ? 'Python' : 'TypeScript', programOf(readme, file)]
      : [language, unescapeHtml(code)],
  );
}

/** Gives each heading within a section an id made of its words, for links and for the search. */
function withAnchors(guide: string): string {
  return guide.replace(/<section id="(\w+)">[\s\S]*?<\/section>/g, (section, id: string) =>
    section.replace(/<h3>(.*?)<\/h3>/g, (_, title: string) => {
      const words = title.toLowerCase().match(/[a-z0-9]+/g) ?? [];
      return `<h3 id="${[id, ...words].join('-')}">${title}</h3>`;
    }),
  );
}

function examples(): string {
  const items = Object.entries(ABOUT).map(
    ([name, about]) => `<li><a href="/examples/${name}"><code>${name}</code></a>: ${inline(about)}</li>`,
  );
  return `<ul>\n${items.join('\n')}\n</ul>`;
}

function errorTable(): string {
  const rows = ERROR_CODES.map((code) => {
    const { status, meaning, remedy } = ERRORS[code];
    return `<tr id="error-${code}"><td>${status}</td><td><code>${code}</code></td><td>${inline(meaning)}</td><td>${inline(remedy)}</td></tr>`;
  });
  return `<div class="wide" role="region" aria-label="Error codes" tabindex="0"><table>
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Meaning</th><th scope="col">What to do</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table></div>`;
}
