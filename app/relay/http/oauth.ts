/**
 * OAuth 2.1 for MCP hosts, as MCP's authorization asks: metadata of the resource (RFC 9728) and of the authorization
 * server (RFC 8414), registration of clients (RFC 7591), and the exchange of a code for an API key. The person's part is
 * the page at /connect. A code on its way needs TLS, so without https all of it is only for hosts on this computer.
 */
import {
  getOAuthProtectedResourceMetadataUrl,
  OAuthError,
  OAuthErrorCode,
  type OAuthMetadata,
  type OAuthProtectedResourceMetadata,
} from '@modelcontextprotocol/server';
import type { Express, Request, RequestHandler, Response } from 'express';
import { DEFAULT_SCOPES } from '../../sdk/wire/keyScopes.ts';
import { askerOf } from '../access/asker.ts';
import { isLoopback, ownOrigin } from '../access/cookie.ts';
import { registerClient } from '../access/oauth/clients.ts';
import { exchangeCode, MCP_PATH } from '../access/oauth/codes.ts';
import type { PublicLimit } from '../access/publicLimit.ts';
import { ApiError } from '../errors.ts';
import { JsonError, parseJson } from '../json.ts';
import type { RelayDeps } from './deps.ts';
import { readForm, readJsonBody, requireMethod } from './request.ts';

/** Registrations and forms are small. */
const MAX_BYTES = 32 * 1024;

type OriginDeps = Pick<RelayDeps, 'baseUrl'>;

export function addOAuth(app: Express, deps: RelayDeps, limit: PublicLimit): void {
  const ask = (request: Request) => () => askerOf(deps, request, null);
  const offered =
    (answer: (request: Request, response: Response) => Promise<object>): RequestHandler =>
    async (request, response, next) => {
      if (!isOffered(deps)) {
        next();
        return;
      }
      await limit.admit(request);
      send(response, await answer(request, response));
    };
  // Hosts that find no metadata at the resource's own path look at the root.
  app.get(
    ['/.well-known/oauth-protected-resource', `/.well-known/oauth-protected-resource${MCP_PATH}`],
    offered(async (request) => describeResource(deps, request)),
  );
  app.get(
    '/.well-known/oauth-authorization-server',
    offered(async (request) => describeServer(ownOrigin(deps, request))),
  );
  app.all(
    '/oauth/register',
    offered((request, response) =>
      refusing(response, async () => {
        requireMethod(request, response, ['POST']);
        const { id, name, redirectUris } = registerClient(
          parseJson(await readJsonBody(request, MAX_BYTES, ask(request))),
        );
        response.status(201);
        return {
          client_id: id,
          ...(name !== null && { client_name: name }),
          redirect_uris: redirectUris,
          token_endpoint_auth_method: 'none',
          grant_types: ['authorization_code'],
          response_types: ['code'],
        };
      }),
    ),
  );
  app.all(
    '/oauth/token',
    offered((request, response) =>
      refusing(response, async () => {
        requireMethod(request, response, ['POST']);
        return exchangeCode(deps, ownOrigin(deps, request), await readForm(request, MAX_BYTES, ask(request)));
      }),
    ),
  );
}

/** WWW-Authenticate of a 401 of /mcp. */
export function challengeFor(deps: OriginDeps, request: Request): string {
  if (!isOffered(deps)) return 'Bearer';
  const parameters = {
    ...(request.headers.authorization !== undefined && { error: 'invalid_token' }),
    resource_metadata: getOAuthProtectedResourceMetadataUrl(resourceFor(deps, request)),
  };
  return `Bearer ${Object.entries(parameters)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')}`;
}

function isOffered({ baseUrl }: OriginDeps): boolean {
  const { protocol, hostname } = new URL(baseUrl());
  return protocol === 'https:' || isLoopback(hostname);
}

/** With the host's settings in its query: some hosts require the metadata to name exactly the address that they use. */
function resourceFor(deps: OriginDeps, request: Request): URL {
  const resource = new URL(MCP_PATH, ownOrigin(deps, request));
  const start = request.url.indexOf('?');
  resource.search = start < 0 ? '' : request.url.slice(start);
  return resource;
}

function describeResource(deps: OriginDeps, request: Request): OAuthProtectedResourceMetadata {
  return {
    resource: resourceFor(deps, request).href,
    authorization_servers: [ownOrigin(deps, request)],
    bearer_methods_supported: ['header'],
    scopes_supported: [...DEFAULT_SCOPES],
  };
}

function describeServer(origin: string): OAuthMetadata {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/connect`,
    token_endpoint: `${origin}/oauth/token`,
    registration_endpoint: `${origin}/oauth/register`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code'],
    token_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    scopes_supported: [...DEFAULT_SCOPES],
    authorization_response_iss_parameter_supported: true,
  };
}

/** The answer, or a refusal in OAuth's form. Other errors keep the form of this service. */
async function refusing(response: Response, answer: () => Promise<object>): Promise<object> {
  try {
    return await answer();
  } catch (error) {
    const refusal = toOAuthError(error);
    if (!refusal) throw error;
    response.status(400);
    return refusal.toResponseObject();
  }
}

function toOAuthError(error: unknown): OAuthError | null {
  if (error instanceof OAuthError) return error;
  const isMalformed = error instanceof JsonError || (error instanceof ApiError && error.code === 'invalid_request');
  return isMalformed ? new OAuthError(OAuthErrorCode.InvalidRequest, error.message) : null;
}

function send(response: Response, body: object): void {
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.json(body);
}
