/** `archive`: ended executions as leaves of Merkle trees. Anyone can archive them, and rebuild the trees. */
import { readFileSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { Command } from 'commander';
import { Refusal } from '../../sdk/wallet/refusal.ts';
import { textOfFile } from '../../sdk/wire/jsonFile.ts';
import { type CommonOptions, fromCaller } from '../config.ts';
import { printResult, report } from '../output.ts';
import { openOnChain, readWallet, toCount, withMarketplace, withWallet } from './options.ts';

const LAST_INDEX = 2 ** 16 - 1;

export function archiveCommands(): Command {
  const group = new Command('archive').description('archive ended executions, rebuild a tree');

  withWallet(group.command('run'))
    .description(
      'archive and close every record that can be closed now; each refundable deposit is returned to the wallet that paid it; anyone can do this',
    )
    .option(
      '--make-tree',
      'pay for a new tree if all trees are full: 0.56 SOL at 5,080 lamports a byte, for a million records',
    )
    .action(async (options: CommonOptions & { makeTree?: boolean }) => {
      const { runArchive } = await import('../../sdk/wallet/archiving.ts');
      const wallet = await readWallet(options);
      const run = { wallet, makesTree: options.makeTree ?? false, onProgress: report };
      printResult(await runArchive(await openOnChain(options), run), options.json);
    });

  withMarketplace(group.command('rebuild'))
    .description("rebuild an archive's tree from its transactions and compare its root with the chain")
    .argument('<index>', 'the index of the archive, from 0', toCount(LAST_INDEX, 0))
    .option('--from <file>', 'read the leaves from a file that --out wrote, or from the service at a URL')
    .option('--out <file>', 'write the leaves to a file, one line of JSON each')
    .action(async (index: number, options: CommonOptions & { from?: string; out?: string }) => {
      const { publishedLeaves, rebuildArchive } = await import('../../sdk/wallet/rebuilding.ts');
      const chain = await openOnChain(options);
      const { from } = options;
      const published = (url: string) => publishedLeaves({ baseUrl: url, onProgress: report }, index);
      const given = (place: string) => (/^https?:/.test(place) ? published(place) : readLeaves(fromCaller(place)));
      const leaves = from === undefined ? undefined : given(from);
      const lines: string[] = [];
      const onLeaf = (leaf: object) => void lines.push(`${JSON.stringify(leaf)}\n`);
      const rebuilt = await rebuildArchive(chain, {
        index,
        onProgress: report,
        ...(leaves && { leaves }),
        ...(options.out !== undefined && { onLeaf }),
      });
      if (options.out !== undefined) await write(fromCaller(options.out), lines);
      printResult(rebuilt, options.json);
      if (!rebuilt.is_equal) throw new Refusal('The rebuilt root differs from the root on-chain.');
    });
  return group;
}

/** The leaves of a file, one per line. */
function* readLeaves(path: string) {
  let text: string;
  try {
    text = textOfFile(readFileSync(path));
  } catch (error) {
    throw new Refusal(`${path} cannot be read: ${(error as Error).message}`);
  }
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const { leaf_index, record, fields, unclaimed } = parseLine(line, `${path}:${at + 1}`);
    const index = { leaf_index: Number(leaf_index) };
    if (unclaimed !== undefined) yield { ...index, unclaimed: String(unclaimed) };
    else yield { ...index, record: String(record), fields: String(fields) };
  }
}

function parseLine(line: string, where: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // The error below names the line.
  }
  throw new Refusal(
    `${where} is not a leaf: expected a JSON object with leaf_index, and record and fields or unclaimed.`,
  );
}

async function write(path: string, lines: string[]): Promise<void> {
  const file = await openFile(path, 'w');
  try {
    for (const line of lines) await file.write(line);
  } finally {
    await file.close();
  }
}
