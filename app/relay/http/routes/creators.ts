/** Routes of creators: the description of a listing, and the keys that sign calls to their servers. */
import type { IncomingMessage } from 'node:http';
import { MAX_METADATA_BYTES } from '../../../sdk/wire/metadata.ts';
import { AgentMetadata, KeyDirectory, MetadataAccepted } from '../../../sdk/wire/wire.ts';
import { type AskerDeps, askerOf } from '../../access/asker.ts';
import { readBearer } from '../../access/bearer.ts';
import { clientNetwork } from '../../access/clientAddress.ts';
import { type CookieDeps, cookieOf, requireOwnOrigin, useSession } from '../../access/cookie.ts';
import { acceptMetadata } from '../../agents/metadata.ts';
import { ApiError } from '../../errors.ts';
import type { Poster } from '../../ledger/metadata.ts';
import { CACHING, ok, route } from './route.ts';
import { INPUT_SCHEMA, OUTPUT_SCHEMA } from './samples.ts';

export const creatorRoutes = {
  postMetadata: route({
    method: 'post',
    path: '/v1/metadata',
    tag: 'Creators',
    summary: "Send a listing's description",
    about:
      "Stores the JSON document whose SHA-256 is the `metadata_hash` of a listing. The hash is over the exact bytes that you send. For a listing that does not exist yet the document is kept for 24 hours and not shown to anyone. With a wallet's session (token in `Authorization`, or its cookie) it is kept for that wallet, which can then have the endpoint tested.",
    access: 'public',
    body: {
      schema: AgentMetadata,
      maxBytes: MAX_METADATA_BYTES,
      example: {
        custom_tags: ['spreadsheets'],
        description: 'Reads a CSV file and answers one SQL query over it.',
        display_name: 'Ada Analytics',
        endpoint: 'https://agents.example.com/csv/execute',
        input_schema: INPUT_SCHEMA,
        name: 'csv-analyst',
        output_schema: OUTPUT_SCHEMA,
        tagline: 'Answers one SQL question about a CSV file.',
      },
    },
    answers: ok({
      about: 'Accepted.',
      schema: MetadataAccepted,
      examples: { accepted: { metadata_hash: '3a9ac66a66f2a1a0bb3a8e9ac6c04bdfaa4ab4b54d6ff5fd38e15cd05a92e4fc' } },
    }),
    errors: ['unauthorized', 'foreign_origin'],
    cache: CACHING.never,
    // Two schemas are compiled.
    weight: 3,
    async handle({ deps }, { request, bytes }) {
      const poster = await findPoster(deps, request);
      const ask = () => askerOf(deps, request, poster.wallet || null);
      return { status: 200, value: await acceptMetadata(deps, bytes, poster, ask) };
    },
  }),

  getKeyDirectory: route({
    method: 'get',
    path: '/.well-known/http-message-signatures-directory',
    tag: 'Creators',
    summary: 'Fetch the keys that sign calls to creators',
    about:
      'Every call to a creator has an HTTP Message Signature (RFC 9421) by one of these Ed25519 keys. It covers method, authority, path, content type, body digest and the headers `Marketplace-Signing-Key` and `Marketplace-Purpose`. `kid` is the RFC 7638 thumbprint, which the signature names as `keyid`.',
    access: 'public',
    answers: ok({
      about: 'The keys of all relays of the service.',
      schema: KeyDirectory,
      examples: {
        directory: {
          keys: [
            {
              kty: 'OKP',
              crv: 'Ed25519',
              x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs',
              kid: 'poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U',
              use: 'sig',
            },
          ],
        },
      },
    }),
    errors: [],
    cache: CACHING.document,
    async handle({ deps }) {
      return { status: 200, value: await deps.readKeyDirectory() };
    },
  }),
};

/** The poster of a description: the wallet whose session sent it, and the network of the request. */
async function findPoster(deps: CookieDeps & AskerDeps, request: IncomingMessage): Promise<Poster> {
  const wallet = (await readSession(deps, request)) ?? '';
  const network = clientNetwork(request, deps.config.trustProxy);
  return { wallet, network, isKnown: wallet !== '' && (await deps.payers.isKnown(wallet)) };
}

/**
 * The wallet of the request's session, by token or cookie; null without one. An API key counts as none, because clients
 * send it everywhere. An ended session is an error.
 */
async function readSession(deps: CookieDeps, request: IncomingMessage): Promise<string | null> {
  const { authorization } = request.headers;
  const cookie = cookieOf(deps, request);
  if (cookie !== null) requireOwnOrigin(deps, request);
  if (authorization === undefined && cookie === null) return null;
  if (readBearer(authorization)?.startsWith('crtx_')) return null;
  const session = await useSession(deps, request);
  if (session) return session.wallet;
  throw new ApiError(
    'unauthorized',
    'The session has ended. Sign in again, or send neither Authorization nor the cookie.',
  );
}
