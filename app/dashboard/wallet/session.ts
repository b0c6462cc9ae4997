/** The signed-in wallet, whose signature created this browser's session cookie. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import bs58 from 'bs58';
import { call, queryClient } from '../service.ts';
import { askNode } from './node.ts';
import { type Connected, connect, disconnect, type SolanaWallet } from './wallets.ts';

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => call('auth.session'),
  staleTime: 60_000,
});

/** The signed-in wallet's address; null if nobody is signed in, undefined until known. */
export function useSession() {
  const { data } = useQuery(sessionQuery);
  return {
    wallet: data?.wallet,
    isAdmin: data?.is_admin ?? false,
    /** The wallet has listed an agent. */
    isCreator: data?.has_listings ?? false,
    isKnown: data !== undefined,
  };
}

/** USDC that the wallet can spend, straight from the node; undefined until it is known. */
export function useBalance(): number | undefined {
  const { data: session } = useQuery(sessionQuery);
  const account = session?.usdc_account;
  const { data } = useQuery({
    queryKey: ['balance', account],
    queryFn: () => readBalance(account!),
    enabled: Boolean(account),
    refetchInterval: BALANCE_MS,
    retry: false,
  });
  return data;
}

/** The wallet's SOL in lamports, straight from the node; undefined until it is known. */
export function useLamports(wallet: string): number | undefined {
  const { data } = useQuery({
    queryKey: ['balance', 'lamports', wallet],
    queryFn: async () => {
      const { result } = await askNode('getBalance', [wallet, { commitment: 'finalized' }]);
      if (typeof result?.value !== 'number') throw new Error('The node did not return the balance.');
      return result.value;
    },
    retry: false,
  });
  return data;
}

const BALANCE_MS = 30_000;
/** JSON-RPC error: the account does not exist, so its balance is 0. */
const NO_ACCOUNT = -32602;

async function readBalance(account: string): Promise<number> {
  const params = [account, { commitment: 'finalized' }];
  const { result, error } = await askNode('getTokenAccountBalance', params);
  if (error?.code === NO_ACCOUNT) return 0;
  if (typeof result?.value?.uiAmountString !== 'string') throw new Error('The node did not return the balance.');
  return Number(result.value.uiAmountString);
}

/** Connects the wallet and signs in with one signature, which is not a transaction. */
export async function signIn(wallet: SolanaWallet): Promise<void> {
  const connected = await connect(wallet);
  const { address } = connected.account;
  const challenge = await call('auth.challenge', { wallet: address });
  const signed = await signChallenge(connected, challenge);
  await call('auth.signIn', { wallet: address, ...signed });
  await queryClient.invalidateQueries();
}

/** Uses the wallet's own sign-in window if it has one, else signs a plain message. */
async function signChallenge(
  { wallet, account }: Connected,
  { message, sign_in }: Awaited<ReturnType<typeof call<'auth.challenge'>>>,
): Promise<{ message: string; signature: string; signed_message?: string }> {
  const own = wallet.features['solana:signIn'];
  const [output] = own
    ? await own.signIn(sign_in)
    : await wallet.features['solana:signMessage'].signMessage({ account, message: new TextEncoder().encode(message) });
  if (!output) throw new Error(`${wallet.name} did not sign.`);
  const { signedMessage, signature } = output;
  const { textOf } = await import('../../sdk/receipt/offchain.ts');
  // A sign-in window may show the fields in its own way.
  const text = own ? textOf(signedMessage, bs58.decode(account.address)) : message;
  // No UTF-8 text begins with this byte. Hardware wallets sign an envelope that does.
  const isEnvelope = signedMessage[0] === 0xff;
  return {
    message: text ?? message,
    signature: bs58.encode(signature),
    ...(isEnvelope && { signed_message: btoa(String.fromCharCode(...signedMessage)) }),
  };
}

export async function signOut(): Promise<void> {
  await call('auth.signOut');
  await disconnect();
  // Drops data read as this wallet, and reloads what is visible.
  await queryClient.resetQueries();
}
