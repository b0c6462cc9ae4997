/** The README's lines for your own node, in two terminals, with Agave's validator on the PATH. */
import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Connection } from '@solana/web3.js';
import { expect } from 'chai';
import { blocksOf } from '../docs/markdown.ts';
import { until } from '../harness/edge/until.ts';
import { isFree } from '../harness/freePort.ts';
import { README_GOSSIP_PORT, setAllPriorities } from '../harness/node/validator.ts';
import { newDirectory, type Start, startNetwork, untilGone } from '../local/start.ts';

const MARK = 'run by tests/validator/newcomer.test.ts';
const [RPC_PORT, WS_PORT] = [8_899, 8_900];
/** Shreds that the README's node keeps, and those kept here: about 160 slots. */
const [USUAL_SHREDS, KEPT_SHREDS] = [100_000_000, 10_000];

/** `program` is the validator's executable. `start` runs the first line of the README. */
export function createOwnNode(dataDir: string, program: string) {
  const folder = newDirectory();
  const fewShreds = `#!/bin/bash\nexec '${program}' "\${@/#${USUAL_SHREDS}/${KEPT_SHREDS}}"\n`;
  writeFileSync(join(folder, 'solana-test-validator'), fewShreds, { mode: 0o755 });
  const rpcUrl = `http://127.0.0.1:${RPC_PORT}`;
  const wsUrl = `ws://127.0.0.1:${WS_PORT}`;
  const connection = new Connection(rpcUrl, { commitment: 'confirmed', wsEndpoint: wsUrl });
  let validator: Start;

  /** Runs a line of the README in a terminal of its own. */
  function paste(at: number): Start {
    const lines = blocksOf('README.md')
      .find(({ mark }) => mark === MARK)!
      .text.trim()
      .split('\n');
    expect(lines).to.have.length(2);
    const env = { PATH: `${folder}${delimiter}${process.env.PATH}` };
    return startNetwork(dataDir, { command: { line: lines[at]! }, env });
  }

  /** Waits for two blocks after the first answer. False if the validator ends before. */
  async function makesBlocks(): Promise<boolean> {
    let hasEnded = false;
    void validator.exited.then(() => {
      hasEnded = true;
    });
    let first: number | null = null;
    await until('the node makes blocks', async () => {
      const now = await connection.getSlot().catch(() => null);
      first ??= now;
      return hasEnded || (first !== null && now !== null && now >= first + 2);
    });
    return !hasEnded;
  }

  return {
    rpcUrl,
    wsUrl,
    connection,
    /** Also after `kill`: on the same chain. Resolves when it makes blocks. */
    async start(): Promise<void> {
      for (;;) {
        await until('the default ports are free', async () => {
          const free = await Promise.all([README_GOSSIP_PORT, RPC_PORT].map(isFree));
          return free.every(Boolean);
        });
        validator = paste(0);
        if (await makesBlocks()) return setAllPriorities();
        // A validator of another test process may have held the gossip port meanwhile.
        if (!/in use/i.test(validator.output())) throw new Error(`it did not start:\n${validator.output()}`);
      }
    },
    /** Kills it, as a power cut would. Its chain stays. */
    async kill(): Promise<void> {
      validator.signalGroup('SIGKILL');
      await untilGone(validator);
    },
    /** Runs the second line. */
    startMarketplace: () => paste(1),
  };
}
