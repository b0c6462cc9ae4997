/** The parent's side of the demo creators' process: starts it, makes it listen, and reports listed agents to it. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { forkSource } from '../process/typescript.ts';
import { KEY_DIRECTORY_PATH } from '../sdk/creator/callSignature.ts';
import { demoAgents } from './creators/definitions.ts';
import type { FromCreators, StartMessage, ToCreators } from './creators/main.ts';

/** Time to wait for a port of the last run: an ending process may still hold it. Then another port is used. */
const PORT_PATIENCE_MS = 1_500;
const PORT_RETRY_MS = 100;

/** Ports by agent name. */
export type Ports = Record<string, number>;

/** URL for executions of a demo server. */
export const endpointOf = (port: number): string => `http://127.0.0.1:${port}/execute`;

/** File of a server's signing key, which its creator also needs to list the agent. */
export const signingKeyPath = (demoDir: string, name: string): string => join(demoDir, `signing-key-${name}.json`);

const portsPath = (demoDir: string): string => join(demoDir, 'ports.json');

/** The ports of the last run; empty before the first. */
export function readPorts(demoDir: string): Ports {
  return existsSync(portsPath(demoDir)) ? JSON.parse(readFileSync(portsPath(demoDir), 'utf8')) : {};
}

export type DemoServers = ReturnType<typeof forkDemoServers>;

/** Starts the process; nothing listens yet. */
export function forkDemoServers(demoDir: string) {
  const child = forkSource(join(import.meta.dirname, 'creators', 'main.ts'), [], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
  });

  /** Sends a message and returns the first answer for which `isAnswer` is true. */
  function ask(message: ToCreators, isAnswer: (answer: FromCreators) => boolean): Promise<FromCreators> {
    return new Promise((resolve, reject) => {
      const onMessage = (answer: FromCreators) => {
        if (!isAnswer(answer)) return;
        child.off('message', onMessage);
        resolve(answer);
      };
      child.on('message', onMessage);
      exited.then((end) => reject(new Error(`the demo creators' process ended (${end})`)));
      child.send(message, (error) => error && reject(error));
    });
  }

  return {
    exited,
    stop: () => void child.kill('SIGKILL'),

    /**
     * Listens on these ports, or on a free one if none is given or if another program holds it. `listed` names agents
     * already listed under their port, which show their behaviour at once. Returns the ports in use.
     */
    async listen(wanted: Ports, listed: ReadonlySet<string>): Promise<Ports> {
      const ports = { ...wanted };
      const patientUntil = Date.now() + PORT_PATIENCE_MS;
      for (;;) {
        const agents = demoAgents.map(({ name }) => ({
          name,
          port: ports[name] ?? 0,
          signingKeyPath: signingKeyPath(demoDir, name),
          listed: listed.has(name) && ports[name] === wanted[name],
        }));
        const start: StartMessage = { type: 'start', dataDir: demoDir, agents };
        const answer = await ask(start, ({ type }) => type === 'listening' || type === 'error');
        if (answer.type === 'listening') {
          const inUse = Object.fromEntries(answer.agents.map(({ name, port }) => [name, port]));
          writeFileSync(portsPath(demoDir), `${JSON.stringify(inUse, null, 2)}\n`, { mode: 0o600 });
          return inUse;
        }
        if (answer.type !== 'error' || answer.code !== 'EADDRINUSE' || answer.port === 0) {
          throw new Error(`the demo creators cannot start: ${answer.type === 'error' ? answer.message : answer.type}`);
        }
        if (Date.now() < patientUntil) await delay(PORT_RETRY_MS);
        else ports[answer.name] = 0;
      }
    },

    /** From now on, only calls signed by this marketplace are answered. */
    async setTrusted(baseUrl: string): Promise<void> {
      const directoryUrl = `${baseUrl}${KEY_DIRECTORY_PATH}`;
      await ask({ type: 'trust', directoryUrl }, ({ type }) => type === 'trust');
    },

    /** The agent is listed now: its server behaves as documented from now on. */
    async setListed(name: string): Promise<void> {
      await ask({ type: 'listed', name }, (answer) => answer.type === 'listed' && answer.name === name);
    },
  };
}
