/** MCP hosts for tests: the official client over stdio and HTTP, in both revisions of the protocol. */
import { join } from 'node:path';
import { Client, InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect } from 'chai';
import { createMcpServer, type ServerOptions } from '../../app/mcp/server.ts';

const ROOT = join(import.meta.dirname, '..', '..');

export type Era = 'legacy' | 'modern';

export interface Host {
  client: Client;
  /** The tool's result. Fails the test, with the error's text, for an error. */
  // biome-ignore lint/suspicious/noExplicitAny: asserted field by field
  call(name: string, args?: Record<string, unknown>): Promise<any>;
  /** The text of a tool's error; fails the test for a success. */
  refused(name: string, args?: Record<string, unknown>): Promise<string>;
  /** The approvals that the host was asked for. */
  questions: string[];
  close(): Promise<void>;
}

export interface HostOptions {
  era?: Era;
  /** The person's answer to approvals. Without it the host cannot ask. */
  answers?: 'approve' | 'decline' | 'unticked';
}

/** A client that is not connected yet, and its host. */
export function newHost({ era = 'modern', answers }: HostOptions): Host {
  const questions: string[] = [];
  const client = new Client(
    { name: 'test-host', version: '1.0.0' },
    {
      capabilities: answers ? { elicitation: { form: {} } } : {},
      versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: '2026-07-28' } },
    },
  );
  if (answers) {
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      questions.push(params.message);
      if (answers === 'decline') return { action: 'decline' };
      return { action: 'accept', content: { approve: answers === 'approve' } };
    });
  }
  const ask = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
  const textOf = ({ content }: Awaited<ReturnType<typeof ask>>) => (content[0] as { text: string }).text;
  return {
    client,
    questions,
    async call(name, args = {}) {
      const answer = await ask(name, args);
      expect(answer.isError ?? false, `${name}: ${textOf(answer)}`).to.equal(false);
      // Hosts without structured output find the same data in the text.
      expect(JSON.parse(textOf(answer))).to.deep.equal(answer.structuredContent);
      return answer.structuredContent;
    },
    async refused(name, args = {}) {
      const answer = await ask(name, args);
      expect(answer.isError, `${name}: ${textOf(answer)}`).to.equal(true);
      return textOf(answer);
    },
    close: () => client.close(),
  };
}

/** A host in the process of the server. */
export async function hostHere(server: ServerOptions, options: Omit<HostOptions, 'era'> = {}): Promise<Host> {
  const host = newHost({ ...options, era: 'legacy' });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await createMcpServer(server).connect(far);
  await host.client.connect(near);
  return host;
}

/** A host that starts the server as a process. Without an API key, `args` name a wallet. */
export async function stdioHost(
  environment: { baseUrl: string; apiKey: string | null },
  args: string[] = [],
  options: HostOptions = {},
): Promise<Host> {
  const host = newHost(options);
  await host.client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [join(ROOT, 'scripts', 'run.mjs'), 'app/mcp/main.ts', ...args],
      env: {
        PATH: process.env.PATH ?? '',
        MARKETPLACE_URL: environment.baseUrl,
        ...(environment.apiKey !== null && { MARKETPLACE_API_KEY: environment.apiKey }),
      },
      stderr: 'pipe',
    }),
  );
  return host;
}

/** A host that connects to /mcp of the relay. */
export async function httpHost(
  environment: { baseUrl: string; apiKey: string },
  query = '',
  options: HostOptions = {},
): Promise<Host> {
  const host = newHost(options);
  const url = new URL(`${environment.baseUrl}/mcp${query}`);
  const headers = { authorization: `Bearer ${environment.apiKey}` };
  await host.client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return host;
}
