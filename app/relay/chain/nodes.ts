/**
 * The nodes of the relay. A request goes to one node; if it fails, to the next one at once. A dead or late node is only
 * the last resort until it recovers. A single node answers everything.
 */
import { Connection, type FetchFn } from '@solana/web3.js';
import type { Logger } from 'pino';
import { CLOCK_ADDRESS, decodeClock } from '../../sdk/program/clock.ts';
import { type Node, readAccounts } from '../../solana/calls.ts';
import type { Finality } from '../../solana/finality.ts';
import type { NodeUrls } from '../../solana/nodes.ts';
import { createPatientFetch, type RpcFetch } from '../../solana/rpc.ts';
import { runEvery } from '../waiting.ts';
import { type ChainClock, COMMITMENT, createReader, MAX_LAG_SLOTS, type Reader } from './reader.ts';
import type { Observe } from './stages.ts';

/** How often several nodes are asked for their slot. */
const POLL_MS = 1_000;
/** A node that has not answered for this long is dead. Until then, reads that need its agreement wait for it. */
export const DEAD_MS = 2_000;
/** No chain is faster: a node whose slot rises faster is wrong, not ahead. */
const MAX_SLOTS_PER_MS = 1 / 20;

/**
 * A node shows the present if its chain clock is less than this and a finality behind ours, milliseconds.
 * `MAX_LAG_SLOTS` take longer.
 */
const PRESENT_MS = 9_500;

/**
 * `behind`: not used until it has caught up. `wrong`: it claims an impossible slot, and never overrules other nodes.
 */
export type NodeState = 'up' | 'dead' | 'behind' | 'wrong';

/** The status of a node for operators. `name` contains no API key. */
export interface NodeStatus {
  name: string;
  state: NodeState;
  /** Null before its first answer. */
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
  /** Asks one node after another until one answers; throws the last error. */
  first<Answer>(ask: (node: ChainNode) => Promise<Answer>): Promise<Answer>;
  /** The two nodes that decide; one if there is only one, or if all others are dead or behind. */
  witnesses(): readonly ChainNode[];
  /** Asks one node, and records if it answered. */
  ask<Answer>(node: ChainNode, ask: (node: ChainNode) => Promise<Answer>): Promise<Answer>;
  /** Uses any node that answers. */
  connection: Connection;
  status(): NodeStatus[];
  /** Asks all nodes for their slot. Throws if one of them is on another cluster. */
  poll(): Promise<void>;
  close(): void;
}

interface Health {
  state: NodeState;
  slot: number | null;
  slotAt: number;
  /** Time of the first failure in a row; null while it answers. */
  failedAt: number | null;
  genesis: string | null;
}

export interface NodesOptions {
  nodes: readonly NodeUrls[];
  finality: Finality;
  clock: ChainClock;
  log: Logger;
  closing: AbortSignal;
  fetch: RpcFetch;
  observe?: Observe | undefined;
}

export function createNodes(options: NodesOptions): Nodes {
  const { closing, log } = options;
  const isAlone = options.nodes.length === 1;
  // With several nodes, a failed request goes to another one instead.
  const send = createPatientFetch(closing, options.fetch, isAlone ? undefined : 1);
  const all = options.nodes.map(({ rpcUrl, wsUrl }, index): ChainNode => {
    const connection = new Connection(rpcUrl, { commitment: COMMITMENT, fetch: send, disableRetryOnRateLimit: true });
    const node = { send, url: rpcUrl };
    const reader = createReader({ ...options, node, connection, isAlone });
    return { ...node, name: nameOf(rpcUrl, index), wsUrl, connection, reader };
  });
  const healths = new Map<ChainNode, Health>(
    all.map((node) => [node, { state: 'up', slot: null, slotAt: 0, failedAt: null, genesis: null }]),
  );
  const healthOf = (node: ChainNode) => healths.get(node)!;

  async function ask<Answer>(node: ChainNode, run: (node: ChainNode) => Promise<Answer>): Promise<Answer> {
    const health = healthOf(node);
    try {
      const answer = await run(node);
      health.failedAt = null;
      return answer;
    } catch (error) {
      health.failedAt ??= performance.now();
      throw error;
    }
  }

  /** Nodes that are up, then the others; in each group, those that just failed come last. */
  function ranked(): ChainNode[] {
    const rank = (node: ChainNode) => {
      const { state, failedAt } = healthOf(node);
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
    commitment: COMMITMENT,
    fetch: isAlone ? send : overAny(first),
    disableRetryOnRateLimit: true,
  });

  const pollAll = createPoll({ ...options, all, healthOf, ask });
  const poll = async () => {
    if (!isAlone) await pollAll();
  };

  const stop = isAlone
    ? undefined
    : runEvery(POLL_MS, poll, (error) => log.error({ error }, 'the nodes belong to different clusters'));

  return {
    all,
    first,
    ask,
    witnesses() {
      const isOf = (...states: NodeState[]) => all.filter((node) => states.includes(healthOf(node).state));
      // A node that is wrong about its slot stays a witness: a decision needs it and another node.
      const alive = isOf('up', 'wrong');
      return (alive.length > 0 ? alive : all).slice(0, 2);
    },
    connection,
    status: () => all.map((node) => ({ name: node.name, ...pick(healthOf(node)) })),
    poll,
    close: () => void stop?.(),
  };
}

const pick = ({ state, slot }: Health) => ({ state, slot });

/**
 * Providers put their customers' keys into path, query or user name. The name is therefore only the host and its number
 * in the list.
 */
function nameOf(rpcUrl: string, index: number): string {
  return `${index + 1}:${new URL(rpcUrl).host}`;
}

/** A fetch for web3.js that tries the next node if one refuses. */
function overAny(first: Nodes['first']): FetchFn {
  return (_url, init) =>
    first(async (node) => {
      const response = await node.send(node.url, init);
      if (!response.ok) throw new Error(`the node answered ${response.status} ${response.statusText}`);
      return response;
    });
}

interface PollOptions extends Pick<NodesOptions, 'finality' | 'log'> {
  all: readonly ChainNode[];
  healthOf(node: ChainNode): Health;
  ask: Nodes['ask'];
}

/** Asks all nodes for their slot, and sets the state of each. Throws if one is on another cluster. */
function createPoll({ all, healthOf, ask, finality, log }: PollOptions): () => Promise<void> {
  const presentMs = PRESENT_MS + finality.ms;
  // No honest node is further ahead of a node that shows the present.
  const maxLeadSlots = MAX_LAG_SLOTS + presentMs * MAX_SLOTS_PER_MS;

  async function pollOne(node: ChainNode): Promise<void> {
    const health = healthOf(node);
    const before = { slot: health.slot, at: health.slotAt, state: health.state };
    try {
      health.genesis ??= await ask(node, (its) => its.connection.getGenesisHash());
      const slot = await ask(node, (its) => its.connection.getSlot(COMMITMENT));
      const now = performance.now();
      const isLeap = before.slot !== null && slot - before.slot > MAX_LAG_SLOTS + (now - before.at) * MAX_SLOTS_PER_MS;
      Object.assign(health, { slot, slotAt: now });
      if (health.state === 'dead') health.state = 'up';
      if (isLeap) health.state = 'wrong';
    } catch {
      if (performance.now() - (health.failedAt ?? performance.now()) >= DEAD_MS) health.state = 'dead';
    }
    if (health.state !== before.state) say(node, health);
  }

  /** True if the node shows the current chain, by our own clock; null if it does not answer. */
  async function showsPresent(node: ChainNode): Promise<boolean | null> {
    try {
      const { accounts } = await readAccounts(node, [CLOCK_ADDRESS.toBase58()], {
        commitment: COMMITMENT,
        minContextSlot: 0,
      });
      return Date.now() - Number(decodeClock(accounts[0]!.data)) * 1_000 < presentMs;
    } catch {
      return null;
    }
  }

  /**
   * Compares the nodes' slots. A node is behind if it is far behind the highest slot of those that are not wrong, and
   * shows the past. A node that shows the present stays up. Otherwise one node could exclude the others with a high
   * slot, and decide alone.
   */
  async function compare(): Promise<void> {
    const known = all.filter((node) => healthOf(node).state !== 'dead' && healthOf(node).slot !== null);
    const before = new Map(known.map((node) => [node, healthOf(node).state]));
    const slotOf = (node: ChainNode) => healthOf(node).slot!;
    const highestOf = (nodes: ChainNode[]) => Math.max(0, ...nodes.map(slotOf));
    const right = () => known.filter((node) => healthOf(node).state !== 'wrong');
    for (const node of known.filter((one) => healthOf(one).state === 'wrong')) {
      const others = known.filter((other) => other !== node);
      // If no other node is known, or the others have reached this slot too, the chain itself jumped.
      if (others.length === 0 || slotOf(node) - highestOf(others) <= MAX_LAG_SLOTS) healthOf(node).state = 'up';
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
      if (slotOf(node) - reached > maxLeadSlots) healthOf(node).state = 'wrong';
    }
    const past = late.filter(({ isPresent }) => isPresent === false).map(({ node }) => node);
    const unsaid = late.filter(({ isPresent }) => isPresent === null).map(({ node }) => node);
    for (const node of right()) {
      if (!unsaid.includes(node)) healthOf(node).state = past.includes(node) && isLate(node) ? 'behind' : 'up';
    }
    for (const node of known) if (healthOf(node).state !== before.get(node)) say(node, healthOf(node));
  }

  function say(node: ChainNode, { state, slot }: Health): void {
    if (state === 'up') log.info({ node: node.name, slot }, 'a node is in use again');
    else log.error({ node: node.name, state, slot }, 'a node is not used until it works again');
  }

  function requireOneCluster(): void {
    const [one, ...others] = all.filter((node) => healthOf(node).genesis !== null);
    const stray = others.find((node) => healthOf(node).genesis !== healthOf(one!).genesis);
    if (stray) throw new Error(`SOLANA_RPC_URL: ${one!.name} and ${stray.name} are nodes of different clusters`);
  }

  return async () => {
    await Promise.all(all.map(pollOne));
    await compare();
    requireOneCluster();
  };
}
