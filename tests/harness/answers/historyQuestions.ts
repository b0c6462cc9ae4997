/** Questions about blocks, transactions and signatures. */
import bs58 from 'bs58';
import { ANY_VERSION, ask, BASE64, FAR, JSON_PARSED, type Question, shape, V0 } from './question.ts';
import { at, MEMO, type Scene } from './scene.ts';

const UNKNOWN_SIGNATURE = bs58.encode(Buffer.alloc(64, 7));

export function aboutBlocks({ played }: Scene): Record<string, Question> {
  const { transfer } = played as Record<string, { slot: number }>;
  return {
    getBlockTime: shape('getBlockTime', transfer!.slot),
    'getBlockTime to come': ask('getBlockTime', FAR),
  };
}

export function aboutHistory({ played, outcomes }: Scene): Record<string, Question> {
  const of = (name: string) => played[name]!.signature;
  const everything = { searchTransactionHistory: true };
  const statuses = Object.entries(outcomes).map(([name, { signature }]): [string, Question] => [
    `getSignatureStatuses after a send of: ${name}`,
    ask('getSignatureStatuses', [signature], everything),
  ]);
  return {
    getTransaction: ask('getTransaction', of('transfer')),
    'getTransaction parsed: of a transfer': ask('getTransaction', of('transfer'), JSON_PARSED),
    'getTransaction parsed: of a mint': ask('getTransaction', of('mint'), 'jsonParsed'),
    'getTransaction parsed: of token accounts': ask('getTransaction', of('tokens'), JSON_PARSED),
    'getTransaction parsed: of a token transfer': ask('getTransaction', of('approve'), JSON_PARSED),
    'getTransaction parsed: of all that tokens can do': ask('getTransaction', of('all of tokens'), JSON_PARSED),
    'getTransaction parsed: of an account that is closed': ask('getTransaction', of('an account closed'), JSON_PARSED),
    'getTransaction of a token transfer': ask('getTransaction', of('approve')),
    'getTransaction in base64': ask('getTransaction', of('memo'), BASE64),
    'getTransaction in base58': ask('getTransaction', of('memo'), { encoding: 'base58' }),
    'getTransaction of one that failed': ask('getTransaction', of('failed'), V0),
    'getTransaction of version 0': ask('getTransaction', of('v0'), V0),
    'getTransaction of version 0, parsed': ask('getTransaction', of('v0'), { ...V0, ...JSON_PARSED }),
    'getTransaction of version 0 for a client of old': ask('getTransaction', of('v0')),
    ...Object.fromEntries(
      [0, 1, 255, 256, null].map((maxSupportedTransactionVersion): [string, Question] => [
        `getTransaction of version 1 for a client of version ${JSON.stringify(maxSupportedTransactionVersion)}`,
        ask('getTransaction', of('v1'), { maxSupportedTransactionVersion }),
      ]),
    ),
    'getTransaction of version 1, parsed': ask('getTransaction', of('v1'), { ...ANY_VERSION, ...JSON_PARSED }),
    'getTransaction of version 1 in base64': ask('getTransaction', of('v1'), { ...ANY_VERSION, ...BASE64 }),
    'getTransaction of version 1 in base58': ask('getTransaction', of('v1'), { ...ANY_VERSION, encoding: 'base58' }),
    'getTransaction with null for what is not said': ask('getTransaction', of('memo'), {
      encoding: 'json',
      commitment: null,
      maxSupportedTransactionVersion: null,
    }),
    'getTransaction of none': ask('getTransaction', UNKNOWN_SIGNATURE),
    'getTransaction of no signature': ask('getTransaction', 'nothing'),
    'getTransaction at processed': ask('getTransaction', of('memo'), { commitment: 'processed' }),
    // The payer's balance depends on the order in which the sends ran.
    'getTransaction of a send without its program': shape('getTransaction', outcomes['missing program']!.signature),
    getSignaturesForAddress: ask('getSignaturesForAddress', at('mint')),
    'getSignaturesForAddress: memos and errors': ask('getSignaturesForAddress', MEMO.toBase58(), { limit: 30 }),
    'getSignaturesForAddress: two': ask('getSignaturesForAddress', at('mint'), { limit: 2 }),
    'getSignaturesForAddress before one': ask('getSignaturesForAddress', at('mint'), { before: of('approve') }),
    'getSignaturesForAddress until one': ask('getSignaturesForAddress', at('mint'), { until: of('mint') }),
    'getSignaturesForAddress before an unknown one': ask('getSignaturesForAddress', at('mint'), {
      before: UNKNOWN_SIGNATURE,
    }),
    'getSignaturesForAddress before no signature': ask('getSignaturesForAddress', at('mint'), { before: 'nothing' }),
    'getSignaturesForAddress with null for what is not said': ask('getSignaturesForAddress', at('mint'), {
      before: null,
      until: null,
      limit: null,
      minContextSlot: null,
    }),
    'getSignaturesForAddress: too many': ask('getSignaturesForAddress', at('mint'), { limit: 1_001 }),
    'getSignaturesForAddress at processed': ask('getSignaturesForAddress', at('mint'), { commitment: 'processed' }),
    'getSignaturesForAddress of an address without any': ask('getSignaturesForAddress', at('listener')),
    getSignatureStatuses: ask('getSignatureStatuses', [of('transfer'), of('failed'), UNKNOWN_SIGNATURE], everything),
    'getSignatureStatuses of no signature': ask('getSignatureStatuses', ['nothing']),
    'getSignatureStatuses: too many': ask('getSignatureStatuses', Array(257).fill(UNKNOWN_SIGNATURE)),
    ...Object.fromEntries(statuses),
  };
}
