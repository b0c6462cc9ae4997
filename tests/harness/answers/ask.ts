/** Asks a node the questions, and normalizes its answers, so that answers of equivalent nodes are equal. */
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { ASSOCIATED_TOKEN_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { WebSocket } from 'ws';
import type { HttpQuestion, Question, Subscribing } from './question.ts';
import { questionsOf } from './questions.ts';
import { ADDRESSES, type Made, MEMO, type Scene } from './scene.ts';

export type Answers = Record<string, unknown>;

/** The validator's answers, one line per question. */
const RECORD = join(import.meta.dirname, '..', '..', 'local', 'answers.json');

export function readAnswers(): Answers {
  return JSON.parse(readFileSync(RECORD, 'utf8'));
}

export function writeAnswers(answers: Answers): void {
  const lines = Object.entries(answers).map(([name, answer]) => `${JSON.stringify(name)}: ${JSON.stringify(answer)}`);
  writeFileSync(RECORD, `{\n${lines.join(',\n')}\n}\n`);
}

/** Names of numbers that count slots, blocks, time and the like, and so differ between nodes. */
const RUNNING = new Set([
  ...['slot', 'blockHeight', 'lastValidBlockHeight', 'blockTime', 'contextSlot', 'lastRestartSlot'],
  ...['root', 'parent', 'subscription', 'transactionIndex'],
]);
const HASHES = new Set(['recentBlockhash', 'blockhash']);
/** The two nodes have different builds of these programs, so their compute units and logs are not compared. */
const BUNDLED = [MEMO, TOKEN_PROGRAM_ID, ASSOCIATED_TOKEN_PROGRAM_ID].map(String);
const OF_BUNDLED = new Set(['computeUnitsConsumed', 'unitsConsumed']);
const SYSVARS = 'Sysvar1111111111111111111111111111111111111';
/** Figures of a block's producer, and balances in simulations: the node leaves them out. */
const isLeftOut = (name: string, fields: object): boolean =>
  /^(costUnits|loadedAccountsDataSize)$/.test(name) ||
  ('unitsConsumed' in fields && /^(pre|post)\w*Balances$/.test(name));
/** Lists of balances in which those of programs are replaced: they depend on the chain, not on the scene. */
const BALANCES = new Set(['preBalances', 'postBalances']);
const HEADERS = ['content-type', 'access-control-allow-origin', 'access-control-allow-headers'] as const;
/** Parse errors. Their reasons are worded by Rust's libraries on the validator, and by our own code on our node. */
const REASONS = /^(Invalid params:|invalid base(?:58|64) encoding:|failed to deserialize [\w:]+:) .*$/;
/** On a busy machine, a notification may wait until its transaction is confirmed. */
const NOTIFICATION_MS = 60_000;
/** Balances of the programs that the scene calls, lamports. */
const PROGRAM_BALANCES = new Set([1, 1_141_440, 16_926_720, 521_498_880]);
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

export async function askAll(scene: Scene): Promise<Answers> {
  const normalise = normaliserOf(scene);
  const answers: Answers = {};
  for (const [name, question] of Object.entries(questionsOf(scene))) {
    const raw = await ask(scene, question).catch((cause) => {
      throw new Error(`no answer to: ${name}`, { cause });
    });
    const answer = normalise(raw);
    answers[name] = question.shape ? shapeOf(answer) : answer;
  }
  return answers;
}

async function ask(scene: Scene, question: Question): Promise<unknown> {
  if ('http' in question) return overHttp(scene.rpcUrl, question.http);
  if ('subscribe' in question) return subscribe(scene, question);
  return call(scene.rpcUrl, question.method, question.params);
}

async function call(rpcUrl: string, method: string, params: unknown[]): Promise<unknown> {
  const { body } = await overHttp(rpcUrl, { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) });
  const { error, result } = body as { error?: unknown; result?: unknown };
  return error === undefined ? { result } : { error };
}

interface HttpAnswer {
  status: number | undefined;
  headers: Record<string, unknown>;
  body: unknown;
}

/** Uses Node's own client: fetch would add a content type, and ignore an answer sent before the end of the body. */
function overHttp(
  rpcUrl: string,
  { method = 'POST', path = '/', body, type = 'application/json', origin }: HttpQuestion,
): Promise<HttpAnswer> {
  const asking = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' };
  const headers = {
    connection: 'close',
    ...(type && body !== undefined && { 'content-type': type }),
    ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
    ...(origin && { origin: 'http://a.test' }),
    ...(method === 'OPTIONS' && asking),
  };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, rpcUrl), { method, headers, agent: false }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString();
      const told = HEADERS.map((name) => [name, response.headers[name]]).filter(([, value]) => value !== undefined);
      resolve({ status: response.statusCode, headers: Object.fromEntries(told), body: readJson(text) });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns the answer to the subscription, its first notification, and the answer to the unsubscription. */
async function subscribe(
  { rpcUrl, wsUrl }: Scene,
  { subscribe: method, params, send, ends }: Subscribing,
): Promise<unknown> {
  const socket = new WebSocket(wsUrl);
  const heard: Record<string, unknown>[] = [];
  let wake = () => {};
  socket.on('message', (data) => {
    heard.push(JSON.parse(String(data)));
    wake();
  });
  const next = async (test: (message: Record<string, unknown>) => boolean) => {
    const limit = setTimeout(() => socket.terminate(), NOTIFICATION_MS);
    try {
      for (;;) {
        const found = heard.find(test);
        if (found) return found;
        if (socket.readyState !== WebSocket.OPEN) throw new Error(`${method} told nothing`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      clearTimeout(limit);
    }
  };
  socket.on('close', () => wake());
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const say = (id: number, name: string, parameters: unknown[]) =>
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: name, params: parameters }));
  try {
    say(1, method, params);
    const subscribed = await next(({ id }) => id === 1);
    if ('error' in subscribed || typeof subscribed.result !== 'number') return subscribed;
    if (send) await call(rpcUrl, 'sendTransaction', [send, { encoding: 'base64', preflightCommitment: 'confirmed' }]);
    const notification = await next((message) => 'params' in message);
    say(2, method.replace('Subscribe', 'Unsubscribe'), [subscribed.result]);
    const ended = await next(({ id }) => id === 2);
    return { subscribed: typeof subscribed.result, notification, ...(!ends && { ended }) };
  } finally {
    socket.terminate();
  }
}

/** Replaces values by their types, and lists by their first element. An error stays unchanged. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, key === 'error' ? inner : shapeOf(inner)]),
  );
}

function normaliserOf(scene: Scene): (value: unknown) => unknown {
  const names = new Map<string, string>();
  for (const [name, key] of Object.entries(ADDRESSES)) names.set(key.toBase58(), name);
  names.set(scene.programId, 'program');
  const ones = Object.entries(scene.ones).map(([name, made]): [string, Made] => [`version 1: ${name}`, made]);
  for (const [name, made] of [...ones, ...Object.entries({ ...scene.outcomes, ...scene.played })]) {
    names.set(made.signature, `signature of ${name}`);
    names.set(made.base64, `bytes of ${name}`);
    names.set(bs58.encode(made.bytes), `bytes of ${name}`);
  }

  const text = (string: string): string => {
    const whole = names.get(string);
    if (whole !== undefined) return `$${whole}`;
    if (/^[A-Za-z0-9+/]+=*$/.test(string) && string.length > 88) return string;
    const named = string.replace(/[1-9A-HJ-NP-Za-km-z]{32,88}/g, (word) => {
      const name = names.get(word);
      if (name !== undefined) return `$${name}`;
      return isOwn(word) ? '$own' : word;
    });
    return named.replace(/\b([Ss]lot|Block) \d+/g, '$1 $$n').replace(REASONS, '$1 $$reason');
  };

  const walk = (given: unknown, key: string, isBundled = false): unknown => {
    let value = given;
    if (typeof value === 'number') {
      if (isBundled && OF_BUNDLED.has(key)) return '$bundled';
      return RUNNING.has(key) ? '$n' : value;
    }
    if (typeof value === 'string') {
      if (HASHES.has(key)) return '$blockhash';
      if (key === 'apiVersion') return '$version';
      return isBundled ? ofBundled(text(value)) : text(value);
    }
    if (Array.isArray(value)) {
      if (key === 'logs' || key === 'logMessages') value = withoutMemos(value as string[]);
      if (BALANCES.has(key)) return (value as number[]).map((each) => (PROGRAM_BALANCES.has(each) ? '$program' : each));
      return inOrder((value as unknown[]).map((each) => walk(each, key, isBundled)));
    }
    if (typeof value !== 'object' || value === null) return value;
    const fields = { ...value, ...('owner' in value && value.owner === SYSVARS && { lamports: '$n' }) };
    const { logs, logMessages } = value as { logs?: string[]; logMessages?: string[] };
    const callsBundled = (logs ?? logMessages ?? []).some((line) => BUNDLED.some((id) => line.includes(id)));
    return Object.fromEntries(
      Object.entries(fields)
        .filter(([name]) => !isLeftOut(name, fields))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, inner]) => [text(name), walk(inner, name, isBundled || callsBundled)]),
    );
  };
  return (value) => walk(value, '');
}

/** Sorts the accounts of a program, which nodes list in no fixed order. */
function inOrder(values: unknown[]): unknown[] {
  const keyOf = (value: unknown) => (value as { pubkey?: string } | null)?.pubkey ?? '';
  const isList = values.every((value) => typeof value === 'object' && value !== null && 'account' in value);
  return isList ? values.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) : values;
}

/** Removes the text of memos: one of the two nodes prints it on a separate line. */
function withoutMemos(lines: string[]): string[] {
  return lines.filter((_, index) => !/^Program log: Memo \(len \d+\)$/.test(lines[index - 1] ?? ''));
}

function ofBundled(line: string): string {
  return line.replace(/(Memo \(len \d+\)): .*/, '$1').replace(/consumed \d+ of \d+/, 'consumed $$bundled');
}

/** True for keys and signatures that only one of the chains knows. */
function isOwn(word: string): boolean {
  if (BUNDLED.includes(word)) return false;
  try {
    const { length } = bs58.decode(word);
    if (length === SIGNATURE_BYTES) return true;
    return length === KEY_BYTES && PublicKey.isOnCurve(new PublicKey(word).toBytes()) && !/1111/.test(word);
  } catch {
    return false;
  }
}
