/**
 * A local Solana node for tests, in its own process, with the marketplace's program. Each test file starts its own
 * node, so that files do not share a chain.
 */
import { Connection, Keypair, type PublicKey } from '@solana/web3.js';
import { callRpc, fundSol } from '../../../app/cli/surfpool.ts';
import { deployProgram, forkNode } from '../../../app/local/network.ts';
import { CLOCK_ADDRESS, decodeClock } from '../../../app/sdk/program/clock.ts';
import { PROGRAM_ID } from '../../../app/sdk/program/program.ts';

export type TestNode = Awaited<ReturnType<typeof startNode>>;

/** Lifetime of a blockhash in slots. */
const BLOCKHASH_SLOTS = 150;
/** The day in execution ids changes an hour after midnight, so that a fast clock does not open with tomorrow's day. */
const TURN_SECONDS = 300;
const HALF_HOUR_SECONDS = 1_800;
const NEAR_SECONDS = 120;
/** Offset of the state in a token account: initialized (1) or frozen (2). */
const TOKEN_STATE_OFFSET = 108;

/**
 * Starts a node, with slots of 50 ms by default, final one slot later or `finalitySlots` later. `deploy: false` leaves
 * the program out.
 */
export async function startNode(options: { slotTimeMs?: number; finalitySlots?: number; deploy?: boolean } = {}) {
  const node = await forkNode({ slotTimeMs: options.slotTimeMs ?? 50, finalitySlots: options.finalitySlots });
  const { rpcUrl, wsUrl } = node;
  const payer = Keypair.fromSecretKey(node.payer.secretKey);
  const connection = new Connection(rpcUrl, { commitment: 'confirmed', wsEndpoint: wsUrl });
  try {
    await fundSol(rpcUrl, payer.publicKey, 1_000e9);
    if (options.deploy !== false) {
      await deployProgram(rpcUrl, { programId: PROGRAM_ID, upgradeAuthority: payer.publicKey });
    }
  } catch (error) {
    await node.stop();
    throw error;
  }
  return {
    rpcUrl,
    wsUrl,
    connection,
    /** Has 1,000 SOL and is the upgrade authority of the program. */
    payer,
    /** Sets an account's balance, lamports. */
    fundSol: (address: PublicKey, lamports: number): Promise<void> => fundSol(rpcUrl, address, lamports),
    /** Freezes or thaws a token account, as its mint's freeze authority would; the mock mint has none. */
    setFrozen: (address: PublicKey, frozen: boolean): Promise<void> => setFrozen(connection, address, frozen),
    timeTravel: (unixSeconds: number): Promise<void> => timeTravel(rpcUrl, unixSeconds),
    outlive: (): Promise<void> => outlive(rpcUrl),
    /** The chain's clock, unix seconds. */
    async now(): Promise<number> {
      const clock = await callRpc<{ value: { data: [string, string] } }>(rpcUrl, 'getAccountInfo', [
        CLOCK_ADDRESS.toBase58(),
        { encoding: 'base64', commitment: 'confirmed' },
      ]);
      return Number(decodeClock(Buffer.from(clock.value.data[0], 'base64')));
    },
    rpc: <T = unknown>(method: string, params?: unknown[]): Promise<T> => callRpc<T>(rpcUrl, method, params),
    stop: (): Promise<void> => node.stop(),
  };
}

/** Freezes or thaws a token account of a local node. */
export async function setFrozen(connection: Connection, address: PublicKey, frozen: boolean): Promise<void> {
  const account = await connection.getAccountInfo(address, 'confirmed');
  const data = Buffer.from(account!.data);
  data[TOKEN_STATE_OFFSET] = frozen ? 2 : 1;
  await callRpc(connection.rpcEndpoint, 'surfnet_setAccount', [address.toBase58(), { data: data.toString('hex') }]);
}

/** Moves the clock of a Surfpool forward to this unix time, unless it is later already. */
export async function timeTravel(rpcUrl: string, unixSeconds: number): Promise<void> {
  try {
    await callRpc(rpcUrl, 'surfnet_timeTravel', [{ absoluteTimestamp: unixSeconds * 1_000 }]);
  } catch (error) {
    if (!String(error).includes('the clock can only move forward')) throw error;
  }
}

/** Advances the chain until all signed transactions have expired. */
export async function outlive(rpcUrl: string): Promise<void> {
  // One time travel makes at most as many blocks as a blockhash lives.
  for (let left = 2; left > 0; left -= 1) {
    const slot = await callRpc<number>(rpcUrl, 'getSlot', [{ commitment: 'processed' }]);
    await callRpc(rpcUrl, 'surfnet_timeTravel', [{ absoluteSlot: slot + BLOCKHASH_SLOTS }]);
  }
}

/** Moves the clock to two minutes before the half-hour in new nonces changes. Returns the time of that change. */
export async function travelNearTurn(node: TestNode): Promise<number> {
  const soon = (await node.now()) + 2 * NEAR_SECONDS;
  const turn = soon - ((soon - TURN_SECONDS) % HALF_HOUR_SECONDS) + HALF_HOUR_SECONDS;
  await node.timeTravel(turn - NEAR_SECONDS);
  return turn;
}
