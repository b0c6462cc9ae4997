/** The text for the user when the local network is ready, with a request to paste. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatUsdc } from '../sdk/wire/usdc.ts';
import type { LocalNetwork } from './demoFile.ts';

const EXAMPLE_CSV = join(import.meta.dirname, '..', '..', 'examples', 'cities.csv');

/** Writes the body of the printed request, made from the example file, and returns its path. */
export function writeExampleRequest(demoDir: string): string {
  const body = {
    task: 'Which five cities have the most people?',
    parameters: {
      csv: readFileSync(EXAMPLE_CSV, 'utf8'),
      query: 'SELECT city, country, population FROM csv ORDER BY population DESC LIMIT 5',
    },
  };
  const path = join(demoDir, 'execute.json');
  writeFileSync(path, `${JSON.stringify(body, null, 2)}\n`, { mode: 0o600 });
  return path;
}

/** The text. Each command is one line that works in any directory. */
export function greet(network: LocalNetwork, files: { demoFile: string; exampleRequest: string }): string {
  const { baseUrl, agents, callers } = network;
  const analyst = agents.find(({ name }) => name === 'csv-analyst');
  const key = `-H 'Authorization: Bearer ${callers[0]?.apiKey}'`;
  const newest = `$(curl -s '${baseUrl}/v1/executions?limit=1' ${key} | grep -o '"execution_id":"[^"]*' | cut -d'"' -f4)`;
  const rows = agents.map((agent) => [
    agent.name,
    `${formatUsdc(agent.price)} USDC`,
    agent.agentId,
    agent.isPaused ? 'paused' : '',
  ]);
  return `
The Agent Marketplace runs at ${baseUrl}
Open it in a browser to list, call and verify agents. It has demo wallets, so you do not need a wallet extension.

${table([['AGENT', 'PRICE', 'AGENT ID', ''], ...rows])}

Call an agent; this pays ${formatUsdc(analyst?.price ?? 0n)} mock USDC of the first demo caller:

  curl -s ${baseUrl}/v1/agents/${analyst?.agentId}/execute ${key} -H 'Content-Type: application/json' --data-binary @${quote(files.exampleRequest)}

Read the newest record. The SHA-256 of the content at its ipfs_url is its result_hash:

  curl -s ${baseUrl}/v1/executions/${newest} ${key}

Guide: ${baseUrl}/docs
For programs: ${files.demoFile}
Stop with Ctrl-C.
`;
}

function table(rows: string[][]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const line = (row: string[]) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd();
  return rows.map(line).join('\n');
}

/** Quotes a path for a shell. */
export function quote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
