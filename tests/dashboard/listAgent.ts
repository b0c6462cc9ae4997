/** Lists an agent that does what the test says: of the same creator, and at the same price, as `sandbox-slow`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type CreatorOptions,
  createCreatorServer,
  generateSigningKey,
  saveSigningKey,
} from '../../app/sdk/creator/creator.ts';
import { listen } from '../harness/edge/listen.ts';
import type { useSite } from './site.ts';

export interface ListedAgent {
  /** Of its page, and below `/v1` of its routes. */
  path: string;
  /** Pauses the agent, so that nothing else calls it, and ends its server. */
  close(): Promise<void>;
}

/** The marketplace tests the agent with the task "Hello" before it is listed. */
export async function listAgent(
  { visitor, dataDir }: Pick<ReturnType<typeof useSite>, 'visitor' | 'dataDir'>,
  name: string,
  execute: CreatorOptions['execute'],
): Promise<ListedAgent> {
  const signingKey = generateSigningKey();
  saveSigningKey(join(dataDir, `${name}-key.json`), signingKey);
  const server = createCreatorServer({ signingKey, programId: visitor.demo.program_id, execute });
  const url = await listen(server);
  const description = {
    name,
    tagline: 'Answers when it may.',
    description: 'Returns the task.',
    display_name: 'A test',
    tags: ['monitoring'],
    price_usdc: '0.02',
    timeout_seconds: 600,
    input_schema: { type: 'object', properties: {} },
    output_schema: { type: 'string' },
    endpoint: `${url}/execute`,
    signing_key: `${name}-key.json`,
    test: { task: 'Hello', parameters: {} },
  };
  const file = join(dataDir, `${name}.json`);
  writeFileSync(file, JSON.stringify(description));
  const wallet = join(dataDir, 'demo', 'creator-b.json');
  const { agent_id } = await visitor.command(wallet, 'listing', 'create', file);
  return {
    path: `/agents/${agent_id}`,
    async close() {
      await visitor.command(wallet, 'listing', 'pause', agent_id);
      await visitor.sendUntil(`/v1/agents/${agent_id}`, 0, ({ body }) => body.status === 'paused');
      server.closeAllConnections();
      server.close();
    },
  };
}
