/** Rebuilds a whole tree of the archive from its own transactions, or from leaves that a file or a service has. */
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Connection, PublicKey } from '@solana/web3.js';
import { createArchiveRoot } from '../program/archiveTree.ts';
import { ARCHIVE_PAGE, ArchiveLine } from '../wire/wire.ts';
import { readArchive } from './archive.ts';
import { AT_ONCE, leafOfLine, leavesIn, linesOf, signaturePages } from './archiveLeaves.ts';
import type { Progress } from './format.ts';
import type { MarketplaceChain } from './marketplace.ts';
import { Refusal } from './refusal.ts';
import { ask, clientOf, type Service } from './service.ts';

/** The leaves of an archive in order, as a service publishes them. */
export async function* publishedLeaves(service: Service, index: number): AsyncGenerator<ArchiveLine> {
  for (let first = 0; ; ) {
    const at = { archive_index: String(index), first };
    const text = await ask(service, () => clientOf(service).request('listLeaves', at));
    const lines = text.split('\n').filter((line) => line !== '');
    const page = lines.map((line) => ArchiveLine.parse(JSON.parse(line)));
    yield* page;
    first += page.length;
    if (page.length < ARCHIVE_PAGE) return;
  }
}

/**
 * Rebuilds an archive's root from its leaves in order, and reports if it equals the one on-chain. The leaves come from
 * its own transactions unless `leaves` is given. `onLeaf` gets each leaf. Throws Refusal if leaves are missing or
 * malformed.
 */
export async function rebuildArchive(
  { connection }: Pick<MarketplaceChain, 'connection'>,
  options: {
    index: number;
    leaves?: Iterable<ArchiveLine> | AsyncIterable<ArchiveLine>;
    onLeaf?: (leaf: ArchiveLine) => void;
    onProgress?: Progress;
  },
) {
  const { address, archive, tree } = await readArchive(connection, options.index);
  const leaves = options.leaves ?? (await readLeaves(connection, archive.tree, tree.count, options.onProgress));
  const made = createArchiveRoot();
  for await (const leaf of leaves) {
    if (leaf.leaf_index !== made.count)
      throw new Refusal(`The leaf ${made.count} is missing: got leaf ${leaf.leaf_index}.`);
    made.add(leafOfLine(leaf));
    options.onLeaf?.(leaf);
  }
  const root = bytesToHex(made.root());
  return {
    archive: address.toBase58(),
    tree: archive.tree.toBase58(),
    leaves: made.count,
    root,
    leaves_on_chain: tree.count,
    root_on_chain: bytesToHex(tree.root),
    is_equal: made.count === tree.count && root === bytesToHex(tree.root),
    leaves_from: options.leaves ? 'the given leaves' : connection.rpcEndpoint,
    root_from: connection.rpcEndpoint,
  };
}

/** The first `count` leaves of a tree. Leaves added after the count was read are skipped. */
async function readLeaves(
  connection: Connection,
  tree: PublicKey,
  count: number,
  onProgress: Progress | undefined,
): Promise<ArchiveLine[]> {
  const signatures: string[] = [];
  for await (const page of signaturePages(connection, tree)) signatures.push(...page);
  const leaves: ArchiveLine[] = [];
  for (let at = 0; at < signatures.length; at += AT_ONCE) {
    onProgress?.(`Reading transaction ${at + 1} of ${signatures.length} ...`);
    const found = await leavesIn(connection, signatures.slice(at, at + AT_ONCE), { onProgress });
    leaves.push(...linesOf(found, tree));
  }
  return leaves.filter(({ leaf_index }) => leaf_index < count).sort((one, other) => one.leaf_index - other.leaf_index);
}
