/**
 * The process of the demo creators, separate from the marketplace like real creators. The local network forks it and
 * exchanges messages with it:
 *
 *     in   {type: 'start', dataDir, agents: [{name, port, signingKeyPath, listed?}]}   port 0 picks a free one
 *     out  {type: 'listening', agents: [{name, url, port, signingKey}]}
 *     out  {type: 'error', name, port, code, message}     nothing listens; send 'start' again, with another port
 *     in   {type: 'trust', directoryUrl}                   out  {type: 'trust', directoryUrl}: refuse other callers
 *     in   {type: 'listed', name}                          out  {type: 'listed', name} when it is in force
 */
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, resolve } from 'node:path';
import {
  type CallVerifier,
  createCallVerifier,
  generateSigningKey,
  loadSigningKey,
  saveSigningKey,
  signingKeyAddress,
} from '../../sdk/creator/creator.ts';
import { demoAgent } from './definitions.ts';
import { createDemoServer, type DemoServer } from './server.ts';

export interface StartMessage {
  type: 'start';
  /** Base of relative key paths. */
  dataDir: string;
  agents: {
    name: string;
    port: number;
    /** Created, with mode 0600, if missing. */
    signingKeyPath: string;
    /** Already listed in an earlier run: show its behaviour at once. */
    listed?: boolean;
  }[];
}

/** From now on, only calls signed by a key of this directory are answered. Without this message, anyone may call. */
export interface TrustMessage {
  type: 'trust';
  directoryUrl: string;
}

export interface ListedMessage {
  type: 'listed';
  name: string;
}

export interface ListeningMessage {
  type: 'listening';
  agents: { name: string; url: string; port: number; signingKey: string }[];
}

export interface ErrorMessage {
  type: 'error';
  name: string;
  port: number;
  /** The system's error code, such as EADDRINUSE. */
  code: string;
  message: string;
}

/** Messages from the parent and to the parent. */
export type ToCreators = StartMessage | TrustMessage | ListedMessage;
export type FromCreators = ListeningMessage | TrustMessage | ListedMessage | ErrorMessage;

const HOST = '127.0.0.1';
const running = new Map<string, DemoServer>();
/** Accepts every call until a 'trust' message names a marketplace. */
let verify: CallVerifier = async () => true;

/** Starts the agents one after another. If one cannot start, stops the others and reports it. */
async function start({ agents, dataDir }: StartMessage): Promise<ListeningMessage | ErrorMessage> {
  const listening: ListeningMessage['agents'] = [];
  for (const agent of agents) {
    try {
      listening.push(await startAgent(agent, dataDir));
    } catch (error) {
      for (const { server } of running.values()) server.close();
      running.clear();
      const { code = 'FAILED', message } = error as NodeJS.ErrnoException;
      const reason = code === 'EADDRINUSE' ? `port ${agent.port} is in use by another program` : message;
      return { type: 'error', name: agent.name, port: agent.port, code, message: `${agent.name}: ${reason}` };
    }
  }
  return { type: 'listening', agents: listening };
}

async function startAgent(agent: StartMessage['agents'][number], dataDir: string) {
  const keyPath = resolve(dataDir, agent.signingKeyPath);
  if (!existsSync(keyPath)) {
    mkdirSync(dirname(keyPath), { recursive: true });
    saveSigningKey(keyPath, generateSigningKey());
  }
  const signingKey = loadSigningKey(keyPath);
  const definition = demoAgent(agent.name);
  const demo = createDemoServer(definition, signingKey, (request, body) => verify(request, body));
  // An offline agent keeps its address; nothing may listen there.
  const staysOffline = definition.behaviour === 'offline' && agent.listed === true && agent.port !== 0;
  const port = staysOffline ? agent.port : await listen(demo.server, agent.port);
  running.set(agent.name, demo);
  if (agent.listed) await demo.listed();
  return { name: agent.name, url: `http://${HOST}:${port}/execute`, port, signingKey: signingKeyAddress(signingKey) };
}

/** Resolves with the port; rejects with the system's error. */
async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, HOST);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function answer(message: ToCreators): Promise<FromCreators> {
  if (message.type === 'start') return start(message);
  if (message.type === 'trust') verify = createCallVerifier({ directoryUrl: message.directoryUrl });
  else await running.get(message.name)?.listed();
  return message;
}

process.on('message', (message: ToCreators) => {
  answer(message).then((reply) => process.send?.(reply));
});
// Without its parent the process has no purpose. Ctrl-C reaches the whole group, and then the parent decides.
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
process.on('SIGINT', () => {});
