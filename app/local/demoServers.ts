/** The parent's side of the demo creators' process: starts it, asks it to listen, tells it what is listed. */
import { fork } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from '../cli/refusal.ts';
import { demoAgents } from './creators/definitions.ts';
import type { FromCreators, ListeningMessage, StartMessage, ToCreators } from './creators/main.ts';

export interface DemoServers {
  /** Where each agent listens, by its name. */
  agents: Map<string, ListeningMessage['agents'][number]>;
  /** The agent is listed now: its server behaves as documented from here on. */
  setListed(name: string): Promise<void>;
  stop(): void;
  /** Resolves when the process is gone, with what its end looked like. */
  exited: Promise<string>;
}

/** A server's signing key, which its creator also needs for listing the agent. */
export function signingKeyPath(demoDir: string, name: string): string {
  return join(demoDir, `signing-key-${name}.json`);
}

/**
 * Starts the servers on the ports of the last run. `listed` names the agents that are listed already, under those very
 * ports: one that is taken is then refused; any other is replaced by a free one.
 */
export async function startDemoServers(demoDir: string, listed: Set<string>): Promise<DemoServers> {
  const child = fork(join(import.meta.dirname, 'creators', 'main.ts'), [], {
    execArgv: ['--import', import.meta.resolve('tsx')],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
  });
  const ask = (message: ToCreators, isAnswer: (answer: FromCreators) => boolean) =>
    new Promise<FromCreators>((resolve, reject) => {
      const onMessage = (answer: FromCreators) => {
        if (!isAnswer(answer)) return;
        child.off('message', onMessage);
        resolve(answer);
      };
      child.on('message', onMessage);
      exited.then((end) => reject(new Error(`the demo creators' process ended (${end})`)));
      child.send(message);
    });

  const portsPath = join(demoDir, 'ports.json');
  const ports: Record<string, number> = existsSync(portsPath) ? JSON.parse(readFileSync(portsPath, 'utf8')) : {};
  let answer: FromCreators;
  for (;;) {
    const agents = demoAgents.map(({ name }) => ({
      name,
      port: ports[name] ?? 0,
      signingKeyPath: signingKeyPath(demoDir, name),
      listed: listed.has(name),
    }));
    const start: StartMessage = { type: 'start', dataDir: demoDir, agents };
    answer = await ask(start, ({ type }) => type === 'listening' || type === 'error');
    if (answer.type !== 'error') break;
    const canMove = answer.code === 'EADDRINUSE' && answer.port !== 0 && !listed.has(answer.name);
    if (!canMove) {
      child.kill();
      throw new Refusal(
        `The demo creators cannot start: ${answer.message}. Their ports belong to their listings; free the port, or ` +
          'start afresh in another directory: DATA_DIR=OTHER npm start',
      );
    }
    ports[answer.name] = 0;
  }
  const listening = (answer as ListeningMessage).agents;
  const taken = Object.fromEntries(listening.map(({ name, port }) => [name, port]));
  writeFileSync(portsPath, `${JSON.stringify(taken, null, 2)}\n`, { mode: 0o600 });
  return {
    agents: new Map(listening.map((agent) => [agent.name, agent])),
    async setListed(name) {
      await ask({ type: 'listed', name }, (reply) => reply.type === 'listed' && reply.name === name);
    },
    stop: () => void child.kill('SIGKILL'),
    exited,
  };
}
