/**
 * The nodes that the relay asks. One of them is asked first; where it fails, the next is, at once. One that is dead or
 * behind is left out until it is back. With a single node all of this is that node.
 */
import { type Commitment, Connection, type FetchFn } from '@solana/web3.js';
import type { Logger } from 'pino';
import { CLOCK_ADDRESS, decodeClock } from '../../sdk/program/clock.ts';
import { type Node, readAccounts } from '../../solana/calls.ts';
import type { NodeUrls } from '../../solana/nodes.ts';
import { createPatientFetch, type RpcFetch } from '../../solana/rpc.ts';
import { type ChainClock, createReader, MAX_LAG_SLOTS, type Reader } from './reader.ts';
import type { Observe } from './stages.ts';

/** How often several nodes are asked where they are. */
const LOOK_MS = 1_000;
/** A node that has answered nothing for so long is dead; until then what needs its word waits for it. */
export const DEAD_MS = 2_000;
/** No chain is faster: a node that says so is not ahead of the others but wrong. */
const MAX_SLOTS_PER_MS = 1 / 20;

/** A node whose clock of the chain is no further behind ours shows the present, seconds: `MAX_LAG_SLOTS` take longer. */
const PRESENT_SECONDS = 10;
/** Nobody is further ahead of a node that shows the present. */
const MAX_LEAD_SLOTS = MAX_LAG_SLOTS + PRESENT_SECONDS * 1_000 * MAX_SLOTS_PER_MS;

/** `behind`: left out until it has caught up; `wrong`: it says what cannot be, and nothing is decided against the others by it. */
export type NodeState = 'up' | 'dead' | 'behind' | 'wrong';

/** What operators see of a node; `name` has no key of theirs in it. */
export interface NodeStatus {
  name: string;
  state: NodeState;
  /** Null before it has said one. */
  slot: number | null;
}

export interface ChainNode extends Node {
  name: string;
  wsUrl: string | null;
  connection: Connection;
  reader: Reader;
}

export interface Nodes {
  all: readonly ChainNode[];
  /** Asks one after the other until one answers; throws what the last has said. */
  first<Answer>(ask: (node: ChainNode) => Promise<Answer>): Promise<Answer>;
  /** The two whose word decides; one where there is one, or where all others are dead or behind. */
  witnesses(): readonly ChainNode[];
  /** Asks one node, and notes whether it answered. */
  ask<Answer>(node: ChainNode, ask: (node: ChainNode) => Promise<Answer>): Promise<Answer>;
  /** Over whichever node answers. */
  connection: Connection;
  status(): NodeStatus[];
  /** Asks all where they are. Throws where one that answers is on another cluster than the rest. */
  look(): Promise<void>;
  close(): void;
}

interface Standing {
  state: NodeState;
  slot: number | null;
  slotAt: number;
  /** When it began to answer nothing; null while it answers. */
  failedAt: number | null;
  genesis: string | null;
}

export interface NodesOptions {
  nodes: readonly NodeUrls[];
  commitment: Commitment;
  clock: ChainClock;
  log: Logger;
  closing: AbortSignal;
  fetch: RpcFetch;
  observe?: Observe | undefined;
}

export function createNodes(options: NodesOptions): Nodes {
  const { closing, log, commitment } = options;
  const isAlone = options.nodes.length === 1;
  // With others to ask nobody is asked twice.
  const send = createPatientFetch(closing, options.fetch, isAlone ? undefined : 1);
  const all = options.nodes.map(({ rpcUrl, wsUrl }, index): ChainNode => {
    const connection = new Connection(rpcUrl, { commitment, fetch: send, disableRetryOnRateLimit: true });
    const node = { send, url: rpcUrl };
    const reader = createReader({ ...options, node, connection, isAlone });
    return { ...node, name: nameOf(rpcUrl, index), wsUrl, connection, reader };
  });
  const standings = new Map<ChainNode, Standing>(
    all.map((node) => [node, { state: 'up', slot: null, slotAt: 0, failedAt: null, genesis: null }]),
  );
  const standingOf = (node: ChainNode) => standings.get(node)!;

  async function ask<Answer>(node: ChainNode, run: (node: ChainNode) => Promise<Answer>): Promise<Answer> {
    const standing = standingOf(node);
    try {
      const answer = await run(node);
      standing.failedAt = null;
      return answer;
    } catch (error) {
      standing.failedAt ??= performance.now();
      throw error;
    }
  }

  /** Those that answered last come first, each part in the order of the setting. */
  function ranked(): ChainNode[] {
    const rank = (node: ChainNode) => {
      const { state, failedAt } = standingOf(node);
      return (state === 'up' ? 0 : 2) + (failedAt === null ? 0 : 1);
    };
    return [...all].sort((one, other) => rank(one) - rank(other));
  }

  async function first<Answer>(run: (node: ChainNode) => Promise<Answer>): Promise<Answer> {
    let last: unknown;
    for (const node of isAlone ? all : ranked()) {
      try {
        return await ask(node, run);
      } catch (error) {
        last = error;
        if (closing.aborted) break;
      }
    }
    throw last;
  }

  const connection = new Connection(options.nodes[0]!.rpcUrl, {
    commitment,
    fetch: isAlone ? send : overAny(first),
    disableRetryOnRateLimit: true,
  });

  async function lookAt(node: ChainNode): Promise<void> {
    const standing = standingOf(node);
    const before = { slot: standing.slot, at: standing.slotAt, state: standing.state };
    try {
      standing.genesis ??= await ask(node, (its) => its.connection.getGenesisHash());
      const slot = await ask(node, (its) => its.connection.getSlot(commitment));
      const now = performance.now();
      const isLeap = before.slot !== null && slot - before.slot > MAX_LAG_SLOTS + (now - before.at) * MAX_SLOTS_PER_MS;
      Object.assign(standing, { slot, slotAt: now });
      if (standing.state === 'dead') standing.state = 'up';
      if (isLeap) standing.state = 'wrong';
    } catch {
      if (performance.now() - (standing.failedAt ?? performance.now()) >= DEAD_MS) standing.state = 'dead';
    }
    if (standing.state !== before.state) say(node, standing);
  }

  /** Whether the node shows the chain as it is now, by our own clock; null where it does not say. */
  async function showsPresent(node: ChainNode): Promise<boolean | null> {
    try {
      const { accounts } = await readAccounts(node, [CLOCK_ADDRESS.toBase58()], { commitment, minContextSlot: 0 });
      return Date.now() / 1_000 - Number(decodeClock(accounts[0]!.data)) < PRESENT_SECONDS;
    } catch {
      return null;
    }
  }

  /**
   * Compares where they are: behind is who is far behind the first of those that are not wrong, and shows the past. One that
   * shows the present stays: else any node could have the others left out, and decide alone, by naming a high slot.
   */
  async function compare(): Promise<void> {
    const known = all.filter((node) => standingOf(node).state !== 'dead' && standingOf(node).slot !== null);
    const before = new Map(known.map((node) => [node, standingOf(node).state]));
    const slotOf = (node: ChainNode) => standingOf(node).slot!;
    const highestOf = (nodes: ChainNode[]) => Math.max(0, ...nodes.map(slotOf));
    const right = () => known.filter((node) => standingOf(node).state !== 'wrong');
    for (const node of known.filter((one) => standingOf(one).state === 'wrong')) {
      const others = known.filter((other) => other !== node);
      // Where nobody else is there to compare with, or the others have come there too, it was the chain that leapt.
      if (others.length === 0 || slotOf(node) - highestOf(others) <= MAX_LAG_SLOTS) standingOf(node).state = 'up';
    }
    const isLate = (node: ChainNode) => highestOf(right()) - slotOf(node) > MAX_LAG_SLOTS;
    const late = await Promise.all(
      right()
        .filter(isLate)
        .map(async (node) => ({ node, isPresent: await showsPresent(node) })),
    );
    const present = late.filter(({ isPresent }) => isPresent).map(({ node }) => slotOf(node));
    const reached = Math.max(...present, Number.NEGATIVE_INFINITY);
    for (const node of present.length > 0 ? right() : []) {
      if (slotOf(node) - reached > MAX_LEAD_SLOTS) standingOf(node).state = 'wrong';
    }
    const past = late.filter(({ isPresent }) => isPresent === false).map(({ node }) => node);
    const unsaid = late.filter(({ isPresent }) => isPresent === null).map(({ node }) => node);
    for (const node of right()) {
      if (!unsaid.includes(node)) standingOf(node).state = past.includes(node) && isLate(node) ? 'behind' : 'up';
    }
    for (const node of known) if (standingOf(node).state !== before.get(node)) say(node, standingOf(node));
  }

  function say(node: ChainNode, { state, slot }: Standing): void {
    if (state === 'up') log.info({ node: node.name, slot }, 'a node is in use again');
    else log.error({ node: node.name, state, slot }, 'a node is left out');
  }

  function requireOneCluster(): void {
    const [one, ...others] = all.filter((node) => standingOf(node).genesis !== null);
    const stray = others.find((node) => standingOf(node).genesis !== standingOf(one!).genesis);
    if (stray) throw new Error(`SOLANA_RPC_URL: ${one!.name} and ${stray.name} are nodes of two different clusters`);
  }

  async function look(): Promise<void> {
    if (isAlone) return;
    await Promise.all(all.map(lookAt));
    await compare();
    requireOneCluster();
  }

  let isLooking = false;
  async function lookAgain(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    await look().catch((error) => log.error({ error: String(error) }, 'the nodes do not fit together'));
    isLooking = false;
  }
  const timer = isAlone ? undefined : setInterval(lookAgain, LOOK_MS).unref();

  return {
    all,
    first,
    ask,
    witnesses() {
      const isOf = (...states: NodeState[]) => all.filter((node) => states.includes(standingOf(node).state));
      // One that is wrong about where it is stays a witness: against its word nothing is decided, nor by it alone.
      const alive = isOf('up', 'wrong');
      return (alive.length > 0 ? alive : all).slice(0, 2);
    },
    connection,
    status: () => all.map((node) => ({ name: node.name, ...pick(standingOf(node)) })),
    look,
    close: () => clearInterval(timer),
  };
}

const pick = ({ state, slot }: Standing) => ({ state, slot });

/** Providers put their customers' keys into path, query or user name: only the host is named, and its place in the list. */
function nameOf(rpcUrl: string, index: number): string {
  return `${index + 1}:${new URL(rpcUrl).host}`;
}

/** Fetch for web3.js that turns to the next node where one refuses. */
function overAny(first: Nodes['first']): FetchFn {
  return (_url, init) =>
    first(async (node) => {
      const response = await node.send(node.url, init);
      if (!response.ok) throw new Error(`the node answered ${response.status} ${response.statusText}`);
      return response;
    });
}
