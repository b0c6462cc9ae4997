/** Questions about the cluster, its accounts and its tokens. */
import { PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { ask, BASE64, FAR, JSON_PARSED, type Question, SYSTEM, shape } from './question.ts';
import { at, type Scene } from './scene.ts';

const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const CLOCK = 'SysvarC1ock11111111111111111111111111111111';
const RENT = 'SysvarRent111111111111111111111111111111111';

export function aboutTheCluster({ blockhash }: Scene): Record<string, Question> {
  return {
    getHealth: ask('getHealth'),
    getAgGenesisCert: ask('getAgGenesisCert'),
    'getAgGenesisCert with a parameter': ask('getAgGenesisCert', 1),
    getVersion: shape('getVersion'),
    getGenesisHash: shape('getGenesisHash'),
    getSlot: shape('getSlot'),
    'getSlot at an unknown commitment': shape('getSlot', { commitment: 'certain' }),
    'getSlot with a commitment as text': ask('getSlot', 'confirmed'),
    'getSlot after a slot to come': ask('getSlot', { minContextSlot: FAR }),
    getBlockHeight: shape('getBlockHeight', { commitment: 'confirmed' }),
    getEpochInfo: shape('getEpochInfo'),
    getEpochSchedule: shape('getEpochSchedule'),
    getLatestBlockhash: shape('getLatestBlockhash', { commitment: 'confirmed' }),
    'isBlockhashValid: one of now': ask('isBlockhashValid', blockhash, { commitment: 'processed' }),
    'isBlockhashValid: an unknown one': ask('isBlockhashValid', at('ghost')),
    'isBlockhashValid: none': ask('isBlockhashValid', 'nothing'),
    getRecentPrioritizationFees: shape('getRecentPrioritizationFees', [at('payer')]),
    'getRecentPrioritizationFees of no address': shape('getRecentPrioritizationFees'),
    getFirstAvailableBlock: shape('getFirstAvailableBlock'),
  };
}

export function aboutAccounts({ programId }: Scene): Record<string, Question> {
  const code = PublicKey.findProgramAddressSync(
    [new PublicKey(programId).toBytes()],
    new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111'),
  )[0].toBase58();
  return {
    'getAccountInfo of a wallet': ask('getAccountInfo', at('rich')),
    'getAccountInfo at confirmed': ask('getAccountInfo', at('rich'), { commitment: 'confirmed', ...BASE64 }),
    'getAccountInfo in base58': ask('getAccountInfo', at('rich'), { encoding: 'base58' }),
    'getAccountInfo of none': ask('getAccountInfo', at('ghost'), BASE64),
    'getAccountInfo of a mint': ask('getAccountInfo', at('mint'), BASE64),
    'getAccountInfo of a mint, parsed': ask('getAccountInfo', at('mint'), JSON_PARSED),
    'getAccountInfo of a token account, parsed': ask('getAccountInfo', at('tokens of payer'), JSON_PARSED),
    'getAccountInfo of a frozen one, parsed': ask('getAccountInfo', at('tokens of poor'), JSON_PARSED),
    'getAccountInfo of a wallet, parsed': ask('getAccountInfo', at('rich'), JSON_PARSED),
    'getAccountInfo of a token account in base58': ask('getAccountInfo', at('tokens of payer')),
    'getAccountInfo of a part': ask('getAccountInfo', at('tokens of payer'), {
      dataSlice: { offset: 0, length: 32 },
      encoding: 'base58',
    }),
    'getAccountInfo of a part behind the end': ask('getAccountInfo', at('mint'), {
      dataSlice: { offset: 100, length: 32 },
      ...BASE64,
    }),
    'getAccountInfo of a program': ask('getAccountInfo', programId, BASE64),
    'getAccountInfo of a program, parsed': ask('getAccountInfo', programId, JSON_PARSED),
    'getAccountInfo of a built-in program': shape('getAccountInfo', SYSTEM, BASE64),
    'getAccountInfo of the clock': shape('getAccountInfo', CLOCK, BASE64),
    'getAccountInfo of the rent': ask('getAccountInfo', RENT, BASE64),
    'getAccountInfo of no address': ask('getAccountInfo', 'nothing'),
    'getAccountInfo of nothing': ask('getAccountInfo'),
    'getAccountInfo in an unknown encoding': ask('getAccountInfo', at('rich'), { encoding: 'hex' }),
    'getAccountInfo with a parameter too many': ask('getAccountInfo', at('rich'), BASE64, 5),
    'getAccountInfo after a slot to come': ask('getAccountInfo', at('rich'), { minContextSlot: FAR }),
    getBalance: ask('getBalance', at('rich')),
    'getBalance of none': ask('getBalance', at('ghost')),
    'getBalance with null for the options': ask('getBalance', at('rich'), null),
    getMultipleAccounts: ask('getMultipleAccounts', [at('rich'), at('ghost'), at('tokens of rich')]),
    'getMultipleAccounts: too many': ask('getMultipleAccounts', Array(101).fill(at('rich'))),
    'getMultipleAccounts: one that is no address': ask('getMultipleAccounts', ['nothing']),
    'getProgramAccounts by filters': ask('getProgramAccounts', TOKEN, {
      ...BASE64,
      filters: [{ dataSize: 165 }, { memcmp: { offset: 0, bytes: at('mint') } }],
      dataSlice: { offset: 64, length: 8 },
      withContext: true,
    }),
    'getProgramAccounts parsed': ask('getProgramAccounts', TOKEN, {
      ...JSON_PARSED,
      filters: [{ memcmp: { offset: 32, bytes: at('rich') } }],
    }),
    'getProgramAccounts by the state of a token account': ask('getProgramAccounts', TOKEN, {
      ...BASE64,
      filters: ['tokenAccountState', { memcmp: { offset: 0, bytes: at('mint') } }],
      dataSlice: { offset: 0, length: 0 },
    }),
    'getProgramAccounts by bytes in base64': ask('getProgramAccounts', TOKEN, {
      ...BASE64,
      filters: [{ memcmp: { offset: 44, bytes: 'Bg==', encoding: 'base64' } }, { dataSize: 82 }],
    }),
    'getProgramAccounts by too many filters': ask('getProgramAccounts', TOKEN, {
      filters: Array(5).fill({ dataSize: 165 }),
    }),
    'getProgramAccounts by too many bytes': ask('getProgramAccounts', TOKEN, {
      filters: [{ memcmp: { offset: 0, bytes: bs58.encode(Buffer.alloc(129, 1)) } }],
    }),
    'getProgramAccounts of none': ask('getProgramAccounts', at('ghost')),
    'getAccountInfo of the code of a program, parsed': shape('getAccountInfo', code, {
      ...JSON_PARSED,
      dataSlice: { offset: 0, length: 0 },
    }),
    'getAccountInfo of the code of a program': shape('getAccountInfo', code, {
      ...BASE64,
      dataSlice: { offset: 0, length: 45 },
    }),
    'getMinimumBalanceForRentExemption of no bytes': ask('getMinimumBalanceForRentExemption', 0),
    'getMinimumBalanceForRentExemption of a token account': ask('getMinimumBalanceForRentExemption', 165),
    'getMinimumBalanceForRentExemption of fewer than none': ask('getMinimumBalanceForRentExemption', -1),
  };
}

export function aboutTokens(): Record<string, Question> {
  const mint = { mint: at('mint') };
  return {
    getTokenAccountBalance: ask('getTokenAccountBalance', at('tokens of payer')),
    'getTokenAccountBalance of none': ask('getTokenAccountBalance', at('ghost')),
    'getTokenAccountBalance of a wallet': ask('getTokenAccountBalance', at('rich')),
    'getTokenAccountsByOwner by mint': ask('getTokenAccountsByOwner', at('rich'), mint, JSON_PARSED),
    'getTokenAccountsByOwner by program': ask('getTokenAccountsByOwner', at('payer'), { programId: TOKEN }, BASE64),
    'getTokenAccountsByOwner by an unknown mint': ask('getTokenAccountsByOwner', at('rich'), { mint: at('ghost') }),
    'getTokenAccountsByOwner by another program': ask('getTokenAccountsByOwner', at('rich'), { programId: SYSTEM }),
    'getTokenAccountsByOwner by nothing': ask('getTokenAccountsByOwner', at('rich'), {}),
    'getTokenAccountsByOwner in base58': ask('getTokenAccountsByOwner', at('rich'), mint),
  };
}
