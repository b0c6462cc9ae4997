/** What the tests of the creator's server share: servers, requests to them, and the shape of a failure. */
import type { Server } from 'node:http';
import nacl from 'tweetnacl';
import { type CreatorOptions, createCreatorServer } from '../../app/sdk/creator/creator.ts';
import { listen } from '../harness/edge/listen.ts';

export const signingKey = nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(3)).secretKey;
export const publicKey = signingKey.subarray(32);
const servers: Server[] = [];

export function serving(server: Server): Promise<string> {
  servers.push(server);
  return listen(server);
}

export function serve(options: Partial<CreatorOptions> = {}): Promise<string> {
  return serving(createCreatorServer({ signingKey, execute: ({ task }) => ({ result: task }), ...options }));
}

/** Stops all servers of a file. */
export function stopServers(): void {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
}

let serial = 0;
/** A well-formed request with a new execution_id. */
export function execution(fields: object = {}): Record<string, unknown> {
  serial += 1;
  return {
    execution_id: `00000000-0000-8000-8000-${serial.toString(16).padStart(12, '0')}`,
    task: 'hello',
    parameters: {},
    user_pubkey: '11111111111111111111111111111111',
    timeout_seconds: 60,
    ...fields,
  };
}

export interface Reply {
  status: number;
  text: string;
  json: Record<string, unknown> & { error?: unknown };
  headers: Headers;
}

export async function post(base: string, body: unknown, init: RequestInit = {}): Promise<Reply> {
  const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const headers = { 'content-type': 'application/json' };
  return read(await fetch(`${base}/execute`, { method: 'POST', headers, body: text, ...init }));
}

export async function read(response: Response): Promise<Reply> {
  const text = await response.text();
  return { status: response.status, text, json: JSON.parse(text), headers: response.headers };
}

export const failure = (executionId: unknown, error: string): object => ({
  execution_id: executionId,
  status: 'failed',
  result: null,
  result_hash: null,
  signature: null,
  error,
});
