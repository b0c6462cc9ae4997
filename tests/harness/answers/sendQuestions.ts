/** Sends, simulations and fees of transactions. */
import { LAMPORTS_PER_SOL } from '@solana/web3.js';
import bs58 from 'bs58';
import { ask, call, FAR, http, type Question } from './question.ts';
import { at, type Scene, spoiled, toMissingProgram, transfer, unitLimit, unitPrice, unknownBudget } from './scene.ts';

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

export function sends(scene: Scene): Record<string, Question> {
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
  const [one, two] = [scene.make([transfer('rich', 3)]), scene.make([transfer('rich', 4)])];
  return {
    ...Object.fromEntries(tried),
    ...Object.fromEntries(untried),
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
    'sendTransaction: no transaction': send(Buffer.alloc(100, 1).toString('base64')),
    'sendTransaction: one and more': send(Buffer.concat([bytes, Buffer.from([1])]).toString('base64')),
    'sendTransaction after a slot to come': send(bytes.toString('base64'), { minContextSlot: FAR }),
    'sendTransaction in an unknown encoding': send(bytes.toString('base64'), { encoding: 'hex' }),
    requestAirdrop: ask('requestAirdrop', at('listener'), LAMPORTS_PER_SOL),
    'requestAirdrop to no address': ask('requestAirdrop', 'nothing', 1),
  };
}

export function simulations(scene: Scene): Record<string, Question> {
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

export function fees({ make, ones }: Scene): Record<string, Question> {
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
