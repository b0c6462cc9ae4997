/** The questions to both nodes about the scene, over JSON-RPC, WebSocket and plain HTTP. */
import { LAMPORTS_PER_SOL, PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import {
  at,
  MEMO,
  memo,
  type Scene,
  spoiled,
  toMissingProgram,
  transfer,
  unitLimit,
  unitPrice,
  unknownBudget,
} from './scene.ts';

/** One question. With `shape`, only the types of values are compared, because the values depend on the node. */
export type Question = { shape?: true } & (
  | { method: string; params: unknown[] }
  | { http: HttpQuestion }
  | Subscribing
);

export interface HttpQuestion {
  /** POST by default. */
  method?: string;
  path?: string;
  body?: string;
  /** JSON by default. */
  type?: string;
  /** Sends an Origin header. */
  origin?: true;
}

export interface Subscribing {
  subscribe: string;
  params: unknown[];
  /** A transaction to send after the subscription, base64. */
  send?: string;
  /** The subscription ends with its first notification. */
  ends?: true;
}

const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const SYSTEM = '11111111111111111111111111111111';
const CLOCK = 'SysvarC1ock11111111111111111111111111111111';
const RENT = 'SysvarRent111111111111111111111111111111111';
const UNKNOWN_SIGNATURE = bs58.encode(Buffer.alloc(64, 7));
const FAR = 1_000_000_000;
const BASE64 = { encoding: 'base64' };
const JSON_PARSED = { encoding: 'jsonParsed' };
const V0 = { maxSupportedTransactionVersion: 0 };
const ANY_VERSION = { maxSupportedTransactionVersion: 255 };

const ask = (method: string, ...params: unknown[]): Question => ({ method, params });
const shape = (method: string, ...params: unknown[]): Question => ({ method, params, shape: true });
const http = (body: string | undefined, more: Omit<HttpQuestion, 'body'> = {}): Question => ({
  http: { ...(body !== undefined && { body }), ...more },
});
const call = (method: string, params: unknown[] = [], id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });

export function questionsOf(scene: Scene): Record<string, Question> {
  return {
    ...overHttp(),
    ...aboutTheCluster(scene),
    ...aboutBlocks(scene),
    ...aboutAccounts(scene),
    ...aboutTokens(),
    ...aboutHistory(scene),
    // Before the sends, which change the state.
    ...simulations(scene),
    ...sends(scene),
    ...fees(scene),
    ...subscriptions(scene),
  };
}

function overHttp(): Record<string, Question> {
  const health = JSON.stringify(call('getHealth'));
  return {
    'a call': http(health),
    'a call with the charset named': http(health, { type: 'application/json; charset=utf-8' }),
    'a call as text': http(health, { type: 'text/plain' }),
    'a call without a type': http(health, { type: '' }),
    'a body that is no JSON': http('{"jsonrpc'),
    'an empty body': http(''),
    'a number': http('5'),
    'a call without a version': http(JSON.stringify({ id: 1, method: 'getHealth' })),
    'a call of version 1.0': http(JSON.stringify({ ...call('getHealth'), jsonrpc: '1.0' })),
    'a call without a method': http(JSON.stringify({ jsonrpc: '2.0', id: 1 })),
    'a call without an id': http(JSON.stringify({ jsonrpc: '2.0', method: 'getHealth' })),
    'a call with null as id': http(JSON.stringify(call('getHealth', [], null))),
    'a call with a text as id': http(JSON.stringify(call('getHealth', [], 'one'))),
    'a call with a fraction as id': http(JSON.stringify(call('getHealth', [], 1.5))),
    'a call with parameters by name': http(JSON.stringify({ ...call('getBalance'), params: { pubkey: SYSTEM } })),
    'a call without parameters': http(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getHealth' })),
    'a call of an unknown method': http(JSON.stringify(call('getNothing'))),
    'a batch': http(JSON.stringify([call('getHealth', [], 1), call('getNothing', [], 2)])),
    'an empty batch': http('[]'),
    'a batch with something else in it': http(JSON.stringify([5, call('getHealth')])),
    'a batch of calls without ids': http(JSON.stringify([{ jsonrpc: '2.0', method: 'getHealth' }])),
    'a body of 50 KiB': http(health.padEnd(50 * 1024)),
    'a body of one byte more': http(health.padEnd(50 * 1024 + 1)),
    'GET of the root': http(undefined, { method: 'GET' }),
    'GET of the health': http(undefined, { method: 'GET', path: '/health' }),
    'GET of something else': http(undefined, { method: 'GET', path: '/nothing' }),
    'POST to another path': http(health, { path: '/rpc' }),
    PUT: http(health, { method: 'PUT' }),
    'a call of a browser': http(health, { origin: true }),
    'OPTIONS, as a browser asks': http(undefined, { method: 'OPTIONS', origin: true }),
  };
}

function aboutTheCluster({ blockhash }: Scene): Record<string, Question> {
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
    getSlotLeaders: shape('getSlotLeaders', 1, 2),
    'getSlotLeaders: too many': ask('getSlotLeaders', 1, 5_001),
    getVoteAccounts: shape('getVoteAccounts'),
    getSupply: shape('getSupply', { excludeNonCirculatingAccountsList: true }),
    getTransactionCount: shape('getTransactionCount'),
    'getRecentPerformanceSamples: too many': ask('getRecentPerformanceSamples', 721),
    getRecentPrioritizationFees: shape('getRecentPrioritizationFees', [at('payer')]),
    'getRecentPrioritizationFees of no address': shape('getRecentPrioritizationFees'),
    getFirstAvailableBlock: shape('getFirstAvailableBlock'),
  };
}

function aboutBlocks({ played }: Scene): Record<string, Question> {
  const { transfer, failed, v0, v1 } = played as Record<string, { slot: number }>;
  const ofVersion1 = (options: object) => ask('getBlock', v1!.slot, { ...options, rewards: false });
  return {
    'getBlock with rewards': shape('getBlock', transfer!.slot),
    getBlock: ask('getBlock', transfer!.slot, { rewards: false }),
    'getBlock parsed': ask('getBlock', transfer!.slot, { ...JSON_PARSED, ...V0, rewards: false }),
    'getBlock with accounts': ask('getBlock', failed!.slot, { transactionDetails: 'accounts', rewards: false, ...V0 }),
    'getBlock with signatures': ask('getBlock', failed!.slot, { transactionDetails: 'signatures', rewards: false }),
    'getBlock with nothing': ask('getBlock', failed!.slot, { transactionDetails: 'none', rewards: false }),
    'getBlock as bytes': ask('getBlock', failed!.slot, { ...BASE64, ...V0, rewards: false }),
    'getBlock with a version 0': ask('getBlock', v0!.slot, { ...V0, rewards: false }),
    'getBlock of version 0 for a client of old': ask('getBlock', v0!.slot),
    'getBlock with a version 1': ofVersion1(ANY_VERSION),
    'getBlock with a version 1, parsed': ofVersion1({ ...ANY_VERSION, ...JSON_PARSED }),
    'getBlock with a version 1, as bytes': ofVersion1({ ...ANY_VERSION, ...BASE64 }),
    'getBlock with a version 1, in base58': ofVersion1({ ...ANY_VERSION, encoding: 'base58' }),
    'getBlock with a version 1, with accounts': ofVersion1({ ...ANY_VERSION, transactionDetails: 'accounts' }),
    'getBlock with a version 1, with signatures': ofVersion1({ transactionDetails: 'signatures' }),
    'getBlock of version 1 for a client of old': ofVersion1({}),
    'getBlock of version 1 for a client of version 0': ofVersion1(V0),
    'getBlock of version 1 for a client of version 0, with accounts': ofVersion1({
      ...V0,
      transactionDetails: 'accounts',
    }),
    'getBlock of version 1 for a client of version 256': ofVersion1({ maxSupportedTransactionVersion: 256 }),
    'getBlock at processed': ask('getBlock', v0!.slot, { commitment: 'processed' }),
    'getBlock to come': ask('getBlock', FAR),
    getBlockTime: shape('getBlockTime', transfer!.slot),
    'getBlockTime to come': ask('getBlockTime', FAR),
    getBlocks: shape('getBlocks', transfer!.slot, transfer!.slot),
    'getBlocks to come': ask('getBlocks', FAR, FAR + 2),
    'getBlocks over too many slots': shape('getBlocks', 0, 500_001),
    'getBlocks backwards': ask('getBlocks', 5, 4),
    'getBlocks at processed': ask('getBlocks', 0, 1, { commitment: 'processed' }),
  };
}

function aboutAccounts({ programId }: Scene): Record<string, Question> {
  const code = PublicKey.findProgramAddressSync(
    [new PublicKey(programId).toBytes()],
    new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111'),
  )[0].toBase58();
  return {
    'getAccountInfo of a wallet': ask('getAccountInfo', at('rich')),
    'getAccountInfo at confirmed': ask('getAccountInfo', at('rich'), { commitment: 'confirmed', ...BASE64 }),
    'getAccountInfo in base58': ask('getAccountInfo', at('rich'), { encoding: 'base58' }),
    'getAccountInfo of none': ask('getAccountInfo', at('ghost'), BASE64),
    'getAccountInfo of one that a failed transfer named': ask('getAccountInfo', at('new'), BASE64),
    'getAccountInfo of a mint': ask('getAccountInfo', at('mint'), BASE64),
    'getAccountInfo of a mint, compressed': ask('getAccountInfo', at('mint'), { encoding: 'base64+zstd' }),
    'getAccountInfo of a mint, parsed': ask('getAccountInfo', at('mint'), JSON_PARSED),
    'getAccountInfo of a token account, parsed': ask('getAccountInfo', at('tokens of payer'), JSON_PARSED),
    'getAccountInfo of a frozen one, parsed': ask('getAccountInfo', at('tokens of poor'), JSON_PARSED),
    'getAccountInfo of a wallet, parsed': ask('getAccountInfo', at('rich'), JSON_PARSED),
    'getAccountInfo of a token account in base58': ask('getAccountInfo', at('tokens of payer')),
    'getAccountInfo of a token account in base58, named': ask('getAccountInfo', at('tokens of payer'), {
      encoding: 'base58',
    }),
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
    'getAccountInfo of the clock, parsed': shape('getAccountInfo', CLOCK, JSON_PARSED),
    'getAccountInfo of the rent': ask('getAccountInfo', RENT, BASE64),
    'getAccountInfo of the rent, parsed': ask('getAccountInfo', RENT, JSON_PARSED),
    'getAccountInfo of no address': ask('getAccountInfo', 'nothing'),
    'getAccountInfo of too short an address': ask('getAccountInfo', 'abc1'),
    'getAccountInfo of a number': ask('getAccountInfo', 5),
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

function aboutTokens(): Record<string, Question> {
  const mint = { mint: at('mint') };
  return {
    getTokenAccountBalance: ask('getTokenAccountBalance', at('tokens of payer')),
    'getTokenAccountBalance of none': ask('getTokenAccountBalance', at('ghost')),
    'getTokenAccountBalance of a wallet': ask('getTokenAccountBalance', at('rich')),
    'getTokenAccountBalance of a mint': ask('getTokenAccountBalance', at('mint')),
    'getTokenAccountsByOwner by mint': ask('getTokenAccountsByOwner', at('rich'), mint, JSON_PARSED),
    'getTokenAccountsByOwner by program': ask('getTokenAccountsByOwner', at('payer'), { programId: TOKEN }, BASE64),
    'getTokenAccountsByOwner by an unknown mint': ask('getTokenAccountsByOwner', at('rich'), { mint: at('ghost') }),
    'getTokenAccountsByOwner by another program': ask('getTokenAccountsByOwner', at('rich'), { programId: SYSTEM }),
    'getTokenAccountsByOwner by nothing': ask('getTokenAccountsByOwner', at('rich'), {}),
    'getTokenAccountsByOwner in base58': ask('getTokenAccountsByOwner', at('rich'), mint),
  };
}

function aboutHistory({ played, outcomes }: Scene): Record<string, Question> {
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
    'getTransaction in an unknown encoding': ask('getTransaction', of('memo'), { encoding: 'hex' }),
    'getTransaction of one that failed': ask('getTransaction', of('failed'), V0),
    'getTransaction of version 0': ask('getTransaction', of('v0'), V0),
    'getTransaction of version 0, parsed': ask('getTransaction', of('v0'), { ...V0, ...JSON_PARSED }),
    'getTransaction of version 0 for a client of old': ask('getTransaction', of('v0')),
    ...Object.fromEntries(
      [0, 1, 255, 256, -1, 1.5, '1', null].map((maxSupportedTransactionVersion): [string, Question] => [
        `getTransaction of version 1 for a client of version ${JSON.stringify(maxSupportedTransactionVersion)}`,
        ask('getTransaction', of('v1'), { maxSupportedTransactionVersion }),
      ]),
    ),
    'getTransaction of version 1 for a client of old': ask('getTransaction', of('v1')),
    'getTransaction of version 1, parsed': ask('getTransaction', of('v1'), { ...ANY_VERSION, ...JSON_PARSED }),
    'getTransaction of version 1 in base64': ask('getTransaction', of('v1'), { ...ANY_VERSION, ...BASE64 }),
    'getTransaction of version 1 in base58': ask('getTransaction', of('v1'), { ...ANY_VERSION, encoding: 'base58' }),
    'getTransaction of version 1 in base64 for a client of version 0': ask('getTransaction', of('v1'), {
      ...V0,
      ...BASE64,
    }),
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
    'getSignaturesForAddress until one of another address': ask('getSignaturesForAddress', at('mint'), {
      until: of('transfer'),
    }),
    'getSignaturesForAddress before an unknown one': ask('getSignaturesForAddress', at('mint'), {
      before: UNKNOWN_SIGNATURE,
    }),
    'getSignaturesForAddress until an unknown one': ask('getSignaturesForAddress', at('mint'), {
      until: UNKNOWN_SIGNATURE,
    }),
    'getSignaturesForAddress before no signature': ask('getSignaturesForAddress', at('mint'), { before: 'nothing' }),
    'getSignaturesForAddress with null for what is not said': ask('getSignaturesForAddress', at('mint'), {
      before: null,
      until: null,
      limit: null,
      minContextSlot: null,
    }),
    'getSignaturesForAddress: none': ask('getSignaturesForAddress', at('mint'), { limit: 0 }),
    'getSignaturesForAddress: too many': ask('getSignaturesForAddress', at('mint'), { limit: 1_001 }),
    'getSignaturesForAddress at processed': ask('getSignaturesForAddress', at('mint'), { commitment: 'processed' }),
    'getSignaturesForAddress of an address without any': ask('getSignaturesForAddress', at('listener')),
    getSignatureStatuses: ask('getSignatureStatuses', [of('transfer'), of('failed'), UNKNOWN_SIGNATURE], everything),
    'getSignatureStatuses of no signature': ask('getSignatureStatuses', ['nothing']),
    'getSignatureStatuses: too many': ask('getSignatureStatuses', Array(257).fill(UNKNOWN_SIGNATURE)),
    ...Object.fromEntries(statuses),
  };
}

/** Transactions for both sends and simulations. */
function variants({ make, played }: Scene) {
  const filler = transfer('rich', 1);
  const good = make([filler]);
  return {
    'the same bytes again': played.memo!,
    'a wrong signature': spoiled(good),
    'no signature': make([filler], { unsigned: true }),
    'an unknown blockhash': make([filler], { blockhash: at('ghost') }),
    'a missing program': make([filler, toMissingProgram()]),
    'a payer that is not there': make([filler], { signer: 'ghost' }),
    'a payer without rent after the fee': make([filler], { signer: 'poor' }),
    'more than is there': make([filler, transfer('new', 1_000 * LAMPORTS_PER_SOL)]),
    'an account left without rent': make([transfer('new', 5)]),
    'an unknown compute-budget instruction': make([unknownBudget(), filler]),
    'a compute-budget instruction twice': make([unitLimit(1_000), unitLimit(2_000), filler]),
    'too few units': make([unitLimit(200), filler]),
    'no units': make([unitLimit(0), filler]),
  };
}

function sends(scene: Scene): Record<string, Question> {
  const config = { encoding: 'base64', preflightCommitment: 'confirmed' };
  const send = (base64: string, more: object = {}) => ask('sendTransaction', base64, { ...config, ...more });
  const tried = Object.entries(variants(scene)).map(([name, { base64 }]): [string, Question] => [
    `sendTransaction: ${name}`,
    send(base64),
  ]);
  const blind = ['the same bytes again', 'a wrong signature', 'no signature', 'a missing program'] as const;
  const untried = blind.map((name): [string, Question] => [
    `sendTransaction, untried: ${name}`,
    send(variants(scene)[name].base64, { skipPreflight: true }),
  ]);
  const { bytes } = scene.make([transfer('rich', 2)]);
  const big = scene.make([memo('x'.repeat(1_200))]).bytes.toString('base64');
  const [one, two] = [scene.make([transfer('rich', 3)]), scene.make([transfer('rich', 4)])];
  const ofVersion1 = Object.entries(scene.ones).map(([name, made]): [string, Question] => [
    `sendTransaction of version 1: ${name}`,
    send(made.base64),
  ]);
  return {
    ...Object.fromEntries(tried),
    ...Object.fromEntries(untried),
    ...Object.fromEntries(ofVersion1),
    'sendTransaction of version 1 in base58': ask(
      'sendTransaction',
      bs58.encode(scene.ones['a wrong signature']!.bytes),
    ),
    'sendTransaction of version 1 in base58: too large': ask(
      'sendTransaction',
      bs58.encode(scene.ones['the largest']!.bytes),
    ),
    'sendTransaction: a byte too large': send(Buffer.alloc(1_233).toString('base64')),
    'sendTransaction: a good one': send(one.base64),
    'sendTransaction in base58': ask('sendTransaction', bs58.encode(two.bytes), { preflightCommitment: 'confirmed' }),
    'sendTransaction and its status at once': http(
      JSON.stringify([
        call('sendTransaction', [scene.make([transfer('rich', 5)]).base64, config], 1),
        call('getSignatureStatuses', [[scene.make([transfer('rich', 5)]).signature]], 2),
      ]),
    ),
    'sendTransaction with null for what is not said': send(scene.make([transfer('rich', 6)]).base64, {
      maxRetries: null,
      minContextSlot: null,
    }),
    'sendTransaction: base64 without saying so': ask('sendTransaction', one.base64),
    'sendTransaction: no base64': send('###'),
    'sendTransaction: no text': ask('sendTransaction', 5, config),
    'sendTransaction: nothing': send(''),
    'sendTransaction: no transaction': send(Buffer.alloc(100, 1).toString('base64')),
    'sendTransaction: half of one': send(bytes.subarray(0, 80).toString('base64')),
    'sendTransaction: one and more': send(Buffer.concat([bytes, Buffer.from([1])]).toString('base64')),
    'sendTransaction: too large': send(big),
    'sendTransaction after a slot to come': send(bytes.toString('base64'), { minContextSlot: FAR }),
    'sendTransaction in an unknown encoding': send(bytes.toString('base64'), { encoding: 'hex' }),
    requestAirdrop: ask('requestAirdrop', at('listener'), LAMPORTS_PER_SOL),
    'requestAirdrop to no address': ask('requestAirdrop', 'nothing', 1),
  };
}

function simulations(scene: Scene): Record<string, Question> {
  const config = { encoding: 'base64', commitment: 'confirmed' };
  const simulate = (base64: string, more: object = {}) => ask('simulateTransaction', base64, { ...config, ...more });
  const tried = Object.entries(variants(scene)).map(([name, { base64 }]): [string, Question] => [
    `simulateTransaction: ${name}`,
    simulate(base64),
  ]);
  const ofVersion1 = Object.entries(scene.ones).map(([name, { base64 }]): [string, Question] => [
    `simulateTransaction of version 1: ${name}`,
    simulate(base64),
  ]);
  const paying = scene.make([transfer('rich', 1_000)]).base64;
  return {
    ...Object.fromEntries(tried),
    ...Object.fromEntries(ofVersion1),
    'simulateTransaction of version 1, signatures checked: a wrong one': simulate(
      scene.ones['a wrong signature']!.base64,
      { sigVerify: true },
    ),
    'simulateTransaction of version 1 with another blockhash': simulate(scene.ones['an unknown blockhash']!.base64, {
      replaceRecentBlockhash: true,
    }),
    'simulateTransaction: a good one': simulate(paying),
    'simulateTransaction of version 0': simulate(
      scene.make([unitPrice(5_000), transfer('rich', 1)], { version: 0 }).base64,
    ),
    'simulateTransaction with a lookup table that is not there': simulate(
      scene.make([transfer('delegate', 1_000_000)], { version: 0, lookup: 'delegate' }).base64,
    ),
    'simulateTransaction with accounts': simulate(paying, {
      accounts: { encoding: 'base64', addresses: [at('rich'), at('ghost')] },
    }),
    'simulateTransaction with accounts, parsed': simulate(paying, {
      accounts: { encoding: 'jsonParsed', addresses: [at('tokens of payer')] },
    }),
    'simulateTransaction with too many accounts': simulate(paying, {
      accounts: { encoding: 'base64', addresses: Array(9).fill(at('rich')) },
    }),
    'simulateTransaction with accounts in base58': simulate(paying, {
      accounts: { encoding: 'base58', addresses: [at('rich')] },
    }),
    'simulateTransaction with inner instructions': simulate(paying, { innerInstructions: true }),
    'simulateTransaction, signatures checked: a good one': simulate(paying, { sigVerify: true }),
    'simulateTransaction, signatures checked: a wrong one': simulate(variants(scene)['a wrong signature'].base64, {
      sigVerify: true,
    }),
    'simulateTransaction with another blockhash': simulate(variants(scene)['an unknown blockhash'].base64, {
      replaceRecentBlockhash: true,
    }),
    'simulateTransaction of the same bytes with another blockhash': simulate(scene.played.memo!.base64, {
      replaceRecentBlockhash: true,
    }),
    'simulateTransaction with another blockhash and signatures checked': simulate(paying, {
      replaceRecentBlockhash: true,
      sigVerify: true,
    }),
    'simulateTransaction with null for what is not said': simulate(paying, {
      accounts: null,
      minContextSlot: null,
      commitment: null,
    }),
    'simulateTransaction at finalized': simulate(paying, { commitment: 'finalized' }),
  };
}

function fees({ make, ones }: Scene): Record<string, Question> {
  const fee = (text: string) => ask('getFeeForMessage', text, { commitment: 'processed' });
  return {
    getFeeForMessage: fee(make([transfer('rich', 1)]).message),
    'getFeeForMessage with a price': fee(make([unitPrice(1_000_000), unitLimit(70_001), transfer('rich', 1)]).message),
    'getFeeForMessage with a price without a limit': fee(make([unitPrice(1_000_000), transfer('rich', 1)]).message),
    'getFeeForMessage of version 0': fee(make([transfer('rich', 1)], { version: 0 }).message),
    ...Object.fromEntries(
      ['a good one', 'a priority fee', 'compute-budget instructions', 'no limits'].map((name): [string, Question] => [
        `getFeeForMessage of version 1: ${name}`,
        fee(ones[name]!.message),
      ]),
    ),
    'getFeeForMessage with an unknown blockhash': fee(make([transfer('rich', 1)], { blockhash: at('ghost') }).message),
    'getFeeForMessage of no message': fee('AAAA'),
    'getFeeForMessage of no base64': fee('###'),
  };
}

function subscriptions({ make, played }: Scene): Record<string, Question> {
  const confirmed = { commitment: 'confirmed' };
  const on = (subscribe: string, params: unknown[], more: { send?: string; ends?: true; shape?: true } = {}) => ({
    subscribe,
    params,
    ...more,
  });
  const toListen = (lamports: number) => make([transfer('listener', lamports)]);
  const signed = toListen(2_000_001);
  return {
    'signatureSubscribe of what has landed': on('signatureSubscribe', [played.memo!.signature, confirmed], {
      ends: true,
    }),
    'signatureSubscribe of what failed': on('signatureSubscribe', [played.failed!.signature, confirmed], {
      ends: true,
    }),
    'signatureSubscribe of what is sent': on('signatureSubscribe', [signed.signature, confirmed], {
      send: signed.base64,
      ends: true,
    }),
    'signatureSubscribe of no signature': on('signatureSubscribe', ['nothing', confirmed]),
    accountSubscribe: on('accountSubscribe', [at('listener'), { ...confirmed, ...BASE64 }], {
      send: toListen(2_000_002).base64,
      shape: true,
    }),
    'accountSubscribe of no address': on('accountSubscribe', ['nothing']),
    'logsSubscribe by mention': on('logsSubscribe', [{ mentions: [at('listener')] }, confirmed], {
      send: toListen(2_000_003).base64,
    }),
    'logsSubscribe by two mentions': on('logsSubscribe', [{ mentions: [at('listener'), at('rich')] }, confirmed]),
    'logsSubscribe by nothing': on('logsSubscribe', [{}, confirmed]),
    programSubscribe: on(
      'programSubscribe',
      [SYSTEM, { ...confirmed, ...BASE64, filters: [{ dataSize: 0 }, { memcmp: { offset: 0, bytes: '' } }] }],
      { send: toListen(2_000_004).base64, shape: true },
    ),
    slotSubscribe: on('slotSubscribe', [], { shape: true }),
    blockSubscribe: on('blockSubscribe', ['all']),
    nothingSubscribe: on('nothingSubscribe', []),
  };
}
