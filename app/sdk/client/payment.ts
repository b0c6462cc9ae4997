/** Pays x402 quotes from a wallet. Checks each quote first; x402's own packages make the transaction. */
import { type CheckedQuote, checkQuote, type Purchase, QuoteRefusedError } from './quote.ts';

/** A signer of @solana/kit, such as `createKeyPairSignerFromBytes` returns. It needs USDC, but no SOL. */
export interface X402Wallet {
  /** Base58. */
  readonly address: string;
}

export interface X402Options extends Pick<Purchase, 'network' | 'asset'> {
  wallet: X402Wallet;
  /** JSON-RPC URL of a Solana node. Default: a public node of the network. */
  rpcUrl?: string | undefined;
  /** Called with each quote that passed the checks, before it is paid. Throw to refuse the payment. */
  onQuote?: ((quote: CheckedQuote) => void) | undefined;
}

type Bought = Omit<Purchase, 'payer' | 'network' | 'asset'>;

/**
 * Makes `new AgentMarketplace({ payment })` pay for each call from a wallet instead of with an API key. Needs the
 * packages @x402/core and @x402/svm. A quote that does not match the call throws QuoteRefusedError, unpaid.
 */
export function payWithX402({ wallet, network, asset, rpcUrl, onQuote }: X402Options) {
  return {
    payer: wallet.address,

    /** Returns the header PAYMENT-SIGNATURE that pays the quote in the header PAYMENT-REQUIRED. */
    async pay(required: string, bought: Bought): Promise<string> {
      const { resource, accepts } = readRequired(required);
      const [quote] = accepts;
      const checked = checkQuote(quote, { ...bought, payer: wallet.address, network, asset });
      onQuote?.(checked);
      const [{ encodePaymentSignatureHeader }, { ExactSvmScheme }] = await Promise.all([
        import('@x402/core/http'),
        import('@x402/svm/exact/client'),
      ]);
      const scheme = new ExactSvmScheme(wallet as never, rpcUrl === undefined ? undefined : { rpcUrl });
      const accepted = quote as never;
      const payload = await scheme.createPaymentPayload(2, accepted);
      return encodePaymentSignatureHeader({ ...payload, resource, accepted } as never);
    },
  };
}

function readRequired(header: string): { resource: unknown; accepts: unknown[] } {
  try {
    const bytes = Uint8Array.from(atob(header), (letter) => letter.charCodeAt(0));
    const { x402Version, resource, accepts } = JSON.parse(new TextDecoder().decode(bytes));
    if (x402Version === 2 && Array.isArray(accepts)) return { resource, accepts };
  } catch {
    // Reported below.
  }
  throw new QuoteRefusedError('header PAYMENT-REQUIRED', header.slice(0, 40), 'x402 version 2 in base64');
}
