/** What every party holds, so that a test can say what moved and be told of everything else that did. */
import { PublicKey } from '@solana/web3.js';
import type { Vm } from './vm.ts';

/** What one party gained, or with a minus lost; what did not change is left out. */
export type Movement = { usdc?: bigint; lamports?: bigint };
type Holdings = Map<string, { usdc: bigint; lamports: bigint }>;

export class Balances {
  private readonly watched = new Map<string, { account: PublicKey; tokens: PublicKey }>();

  constructor(private readonly vm: Vm) {}

  /** Count the lamports of `account` and the USDC of `tokens` under a name. */
  watch(name: string, account: PublicKey, tokens: PublicKey): void {
    this.watched.set(name, { account, tokens });
  }

  /** Lamports and USDC of every party now; an account that does not exist holds nothing. */
  async read(): Promise<Holdings> {
    const holdings: Holdings = new Map();
    for (const [name, { account, tokens }] of this.watched) {
      const usdc = (await this.vm.tokens(tokens)) ?? 0n;
      holdings.set(name, { usdc, lamports: await this.vm.lamports(account) });
    }
    return holdings;
  }

  /** Every byte, owner and lamport of these accounts and all parties', the fee payer's own aside. */
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

/** What moved between two readings, to the unit. */
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
