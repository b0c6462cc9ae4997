/**
 * Serves the dashboard's files, and its page at the address of each view; the page at /docs contains the guide. The
 * page's Content-Security-Policy allows only the service's own scripts, styles and requests, and requests to the node
 * that the service names.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { basename, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import bs58 from 'bs58';
import type { NextFunction, Request, Response } from 'express';
import { isThisComputer } from '../access/clientAddress.ts';
import type { PublicLimit } from '../access/publicLimit.ts';
import { getAgent } from '../agents/catalog.ts';
import { ApiError } from '../errors.ts';
import type { RelayDeps } from './deps.ts';
import { escapeHtml } from './docs/html.ts';

const DEVELOPMENT_WALLETS = '/development-wallets.json';
const YEAR_SECONDS = 31_536_000;

/** The page of OAuth. Some hosts first ask for it themselves, accepting anything. */
const CONNECT = 'connect';

/** Addresses of views with their documents; the first match wins. */
const VIEWS: [address: RegExp, document: string][] = [
  [/^\/$/, 'catalogue'],
  [/^\/agents\/[^/]+$/, 'agent'],
  [/^\/verify$/, 'verify'],
  [/^\/terms$/, 'terms'],
  [/^\/keys$/, 'keys'],
  [/^\/connect$/, CONNECT],
  [/^\/executions$/, 'executions'],
  [/^\/executions\/[^/]+$/, 'execution'],
  [/^\/spend$/, 'spend'],
  [/^\/webhooks$/, 'webhooks'],
  [/^\/disputes$/, 'disputes'],
  [/^\/disputes\/[^/]+$/, 'dispute'],
  [/^\/creator$/, 'creator'],
  [/^\/creator\/new$/, 'newListing'],
  [/^\/creator\/calls$/, 'creatorCalls'],
  [/^\/creator\/[^/]+$/, 'listing'],
  [/^\/docs$/, 'docs'],
  [/^\/admin$/, 'admin'],
  [/^\/admin\/disputes\/[^/]+$/, 'adminDispute'],
];
/** The catalogue with a query in its address, and the view of an unknown agent. */
const SEARCH = 'search';
const UNKNOWN_AGENT = 'unknownAgent';
/** The view of an unknown address. */
const UNKNOWN = 'unknown';
/** Addresses below these are for programs. They never get the page, whatever they accept. */
const PROGRAMS = /^\/(v1|trpc|assets|\.well-known)\//;

/** The view of the guide, and the placeholder for it in the document. */
const DOCS = 'docs';
const GUIDE = '__GUIDE__';

const TITLE = 'Agent Marketplace';
/** Fast enough for each answer. The build compresses the files harder. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** On this page the visitor may choose any node to verify with. */
const VERIFY = '/verify';
const ANY_NODE = 'https: http://127.0.0.1:* http://localhost:*';

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

interface File {
  type: string;
  cache: string;
  bytes: Buffer;
  /** Compressed by Brotli; null if the type is compressed already. */
  brotli: Buffer | null;
}

type DashboardDeps = Pick<RelayDeps, 'config' | 'log'> & Parameters<typeof getAgent>[0];
type Handler = (request: Request, response: Response, next: NextFunction) => void;

interface Dashboard {
  serve: Handler;
  /** Answers a browser's request for an unknown address with the page's 404 view; false if the answer must be JSON. */
  answerUnknown(request: Request, response: Response): Promise<boolean>;
}

/** Serves the folder of the built page. Null if it is not built, which is logged. */
export function createDashboard(
  deps: DashboardDeps,
  folder: string,
  limit: PublicLimit,
  guide: () => string,
): Dashboard | null {
  if (!existsSync(join(folder, 'catalogue.html'))) {
    deps.log.warn('the dashboard is not built, so / has no web page; build it with npm run build:dashboard');
    return null;
  }
  const documents = readDocuments(folder);
  const files = readFiles(folder);
  const answer = (view: string, request: Request, response: Response) =>
    answerPage({ deps, documents, limit, guide }, view, request, response);
  const serve: Handler = (request, response, next) => {
    if (!isRead(request)) next();
    else if (request.path === DEVELOPMENT_WALLETS) answerWallets(deps, request, response, next);
    else if (files.has(request.path)) answerFile(request, response, files.get(request.path)!);
    else {
      const [, view] = VIEWS.find(([address]) => address.test(request.path)) ?? [];
      if (view === undefined || !(view === CONNECT ? mayGetHtml : wantsHtml)(request)) next();
      else answer(view, request, response).catch(next);
    }
  };
  return {
    serve,
    async answerUnknown(request, response) {
      if (!isRead(request) || !wantsHtml(request) || PROGRAMS.test(request.path)) return false;
      response.status(404);
      await answer(UNKNOWN, request, response);
      return true;
    },
  };
}

const isRead = ({ method }: Request): boolean => method === 'GET' || method === 'HEAD';
const wantsHtml = (request: Request): boolean => request.accepts(['json', 'html']) === 'html';
const mayGetHtml = (request: Request): boolean => request.accepts('html') !== false;

function readDocuments(folder: string): Map<string, string> {
  const names = readdirSync(folder).filter((name) => extname(name) === '.html');
  return new Map(names.map((name) => [basename(name, '.html'), readFileSync(join(folder, name), 'utf8')]));
}

/**
 * All files by path: a few megabytes. They are in memory, so that the next build can replace the folder at any time.
 */
function readFiles(folder: string): Map<string, File> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => extname(name) in TYPES);
  return new Map(
    names.map((name) => {
      const twin = join(folder, `${name}.br`);
      const isHashed = name.startsWith('assets/');
      const file = {
        type: TYPES[extname(name)]!,
        cache: isHashed ? `public, max-age=${YEAR_SECONDS}, immutable` : 'public, max-age=300',
        bytes: readFileSync(join(folder, name)),
        brotli: existsSync(twin) ? readFileSync(twin) : null,
      };
      return [`/${name}`, file];
    }),
  );
}

function answerFile(request: Request, response: Response, { type, cache, bytes, brotli }: File): void {
  const isSmall = brotli !== null && request.acceptsEncodings(['br', 'identity']) === 'br';
  response.setHeader('Cache-Control', cache);
  response.setHeader('Content-Type', type);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  if (brotli) response.setHeader('Vary', 'Accept-Encoding');
  if (isSmall) response.setHeader('Content-Encoding', 'br');
  const body = isSmall ? brotli : bytes;
  response.setHeader('Content-Length', body.length);
  response.end(request.method === 'HEAD' ? undefined : body);
}

interface Pages {
  deps: DashboardDeps;
  documents: Map<string, string>;
  limit: PublicLimit;
  guide: () => string;
}

async function answerPage(pages: Pages, view: string, request: Request, response: Response): Promise<void> {
  const { deps, documents, limit, guide } = pages;
  const { config } = deps;
  // Limited, because it is the longest document.
  if (view === DOCS) await limit.admit(request);
  const agent = view === 'agent' ? await readHead(deps, limit, request) : null;
  const document =
    view === 'agent' && !agent ? UNKNOWN_AGENT : view === 'catalogue' && hasQuery(request) ? SEARCH : view;
  const nonce = randomBytes(16).toString('base64');
  const nodes = request.path === VERIFY ? ANY_NODE : new URL(config.publicRpcUrl).origin;
  const wallets = config.developmentWallets && isHere(request) ? DEVELOPMENT_WALLETS : '';
  const title = view === DOCS ? 'Docs' : agent?.name;
  const filled = fill(documents.get(document)!, {
    __NONCE__: nonce,
    __ENVIRONMENT__: config.environment,
    __DEVELOPMENT_WALLETS__: wallets,
    __TITLE__: `${config.environment === 'test' ? 'TEST · ' : ''}${title ? `${title} · ` : ''}${TITLE}`,
    ...(agent && {
      __AGENT_ID__: agent.agent_id,
      __AGENT_NAME__: agent.name,
      __AGENT_TAGLINE__: agent.tagline,
      __AGENT_DESCRIPTION__: agent.description,
    }),
  });
  const html = view === DOCS ? filled.replace(GUIDE, guide) : filled;
  const isSmall = request.acceptsEncodings(['br', 'identity']) === 'br';
  const body = isSmall ? await promisify(brotliCompress)(html, QUALITY) : Buffer.from(html);
  response.setHeader(
    'Content-Security-Policy',
    [
      "default-src 'none'",
      "script-src 'self'",
      `style-src 'self' 'nonce-${nonce}'`,
      // A wallet's picture is a data: URI.
      "img-src 'self' data:",
      "font-src 'self'",
      `connect-src 'self' ${nodes}`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  );
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Vary', 'Accept, Accept-Encoding');
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  if (isSmall) response.setHeader('Content-Encoding', 'br');
  response.setHeader('Content-Length', body.length);
  response.end(request.method === 'HEAD' ? undefined : body);
}

/**
 * The agent for the head of its document. Null if there is none or the rate limit is reached; then the page reports it.
 */
async function readHead(deps: DashboardDeps, limit: PublicLimit, request: Request) {
  try {
    await limit.admit(request);
    return await getAgent(deps, request.path.slice('/agents/'.length));
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

const hasQuery = ({ url }: Request): boolean => url.includes('?');

/** One pass, so that no placeholder in untrusted text is replaced. */
function fill(html: string, values: Record<string, string>): string {
  return html.replace(/__[A-Z]+(?:_[A-Z]+)*__/g, (place) => escapeHtml(values[place] ?? place));
}

/** The demo users' keypairs, only for the page on this computer. */
function answerWallets({ config }: DashboardDeps, request: Request, response: Response, next: NextFunction): void {
  if (!config.developmentWallets || !isHere(request)) {
    next();
    return;
  }
  const wallets = config.developmentWallets.map(({ name, keypair }) => ({
    name,
    secret_key: bs58.encode(keypair.secretKey),
  }));
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
  response.end(JSON.stringify({ wallets }));
}

/** True if this computer asks, by a loopback name. Another name may be a foreign page's (DNS rebinding). */
function isHere(request: Request): boolean {
  const { hostname } = request;
  const isNamedHere = hostname === 'localhost' || (isIP(hostname) === 4 && hostname.startsWith('127.'));
  const site = request.headers['sec-fetch-site'];
  const isOwnPage = site === undefined || site === 'same-origin' || site === 'none';
  return isNamedHere && isOwnPage && isThisComputer(request);
}
