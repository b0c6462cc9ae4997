/** Balances of every party, so that a test can check what moved and detect any other change. */
import { PublicKey } from '@solana/web3.js';
import type { Vm } from './vm.ts';

/** Gain of one party, negative for a loss. Unchanged balances are left out. */
export type Movement = { usdc?: bigint; lamports?: bigint };
type Holdings = Map<string, { usdc: bigint; lamports: bigint }>;

export class Balances {
  private readonly watched = new Map<string, { account: PublicKey; tokens: PublicKey }>();

  constructor(private readonly vm: Vm) {}

  /** Tracks the lamports of `account` and the USDC of `tokens` under a name. */
  watch(name: string, account: PublicKey, tokens: PublicKey): void {
    this.watched.set(name, { account, tokens });
  }

  /** Present lamports and USDC of every party; zero if an account does not exist. */
  async read(): Promise<Holdings> {
    const holdings: Holdings = new Map();
    for (const [name, { account, tokens }] of this.watched) {
      const usdc = (await this.vm.tokens(tokens)) ?? 0n;
      holdings.set(name, { usdc, lamports: await this.vm.lamports(account) });
    }
    return holdings;
  }

  /** Lamports, owner and data of these accounts and all parties' accounts, except the fee payer. */
  async photograph(accounts: PublicKey[]): Promise<Record<string, string>> {
    const all = [...accounts, ...[...this.watched.values()].flatMap(({ account, tokens }) => [account, tokens])];
    const picture: Record<string, string> = {};
    for (const address of all) {
      if (address.equals(this.vm.feePayer.publicKey)) continue;
      const account = await this.vm.getAccount(address);
      const { lamports, owner, data } = account ?? { lamports: 0n, owner: PublicKey.default, data: new Uint8Array() };
      picture[address.toBase58()] = `${lamports} ${owner.toBase58()} ${Buffer.from(data).toString('hex')}`;
    }
    return picture;
  }
}

/** The exact changes between two readings. */
export function difference(before: Holdings, after: Holdings): Record<string, Movement> {
  const moved: Record<string, Movement> = {};
  for (const [name, now] of after) {
    const then = before.get(name);
    if (!then) throw new Error(`${name} was watched too late`);
    const [usdc, lamports] = [now.usdc - then.usdc, now.lamports - then.lamports];
    if (usdc !== 0n || lamports !== 0n) moved[name] = { ...(usdc && { usdc }), ...(lamports && { lamports }) };
  }
  return moved;
}
