/** A host that gets its key by OAuth, with the official client: it opens a page and listens for the answer. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import {
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  type StoredOAuthClientInformation,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { listen } from '../harness/edge/listen.ts';
import { type Host, newHost } from './hosts.ts';

export const HOST_NAME = 'Test host';

export type OAuthHost = Awaited<ReturnType<typeof startOAuthHost>>;

/** `url` is the address of /mcp as a person gives it. */
export async function startOAuthHost(url: string) {
  let answered: (parameters: URLSearchParams) => void;
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, redirectUrl);
    if (pathname !== '/callback') return void response.writeHead(404).end();
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end('<!doctype html><html lang="en"><title>Host</title><h1>Back in the host</h1></html>');
    answered(searchParams);
  });
  const redirectUrl = `${await listen(server)}/callback`;

  const asked: URL[] = [];
  const kept: {
    state?: string;
    verifier?: string;
    client?: StoredOAuthClientInformation;
    tokens?: OAuthTokens;
    discovered?: OAuthDiscoveryState;
  } = {};
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: { client_name: HOST_NAME, redirect_uris: [redirectUrl] },
    state() {
      kept.state = randomUUID();
      return kept.state;
    },
    clientInformation: () => kept.client,
    saveClientInformation(client) {
      kept.client = client;
    },
    tokens: () => kept.tokens,
    saveTokens(tokens) {
      kept.tokens = tokens;
    },
    redirectToAuthorization: (address) => void asked.push(address),
    codeVerifier: () => kept.verifier!,
    saveCodeVerifier(verifier) {
      kept.verifier = verifier;
    },
    discoveryState: () => kept.discovered,
    saveDiscoveryState(discovered) {
      kept.discovered = discovered;
    },
  };
  const transport = () => new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });

  async function connect(): Promise<Host> {
    const host = newHost({});
    await host.client.connect(transport());
    return host;
  }

  return {
    redirectUrl,
    connect,
    tokens: () => kept.tokens,
    /** Connects in vain. Returns the address that the person must open. */
    async refused(attempt: () => Promise<unknown> = connect): Promise<URL> {
      const before = asked.length;
      const error = await attempt().then(
        () => null,
        (reason: unknown) => reason,
      );
      expect(error).to.be.instanceOf(UnauthorizedError);
      expect(asked).to.have.length(before + 1);
      return asked.at(-1)!;
    },
    /** The parameters with which the person next comes back. */
    answer: () =>
      new Promise<URLSearchParams>((resolve) => {
        answered = resolve;
      }),
    /** Exchanges the code for a key. */
    async finish(parameters: URLSearchParams): Promise<void> {
      expect(parameters.get('state')).to.equal(kept.state);
      await transport().finishAuth(parameters);
    },
    stop: () => server.close(),
  };
}
