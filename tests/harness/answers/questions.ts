/** The questions to both nodes about the scene, over JSON-RPC, WebSocket and plain HTTP. */
import { aboutBlocks, aboutHistory } from './historyQuestions.ts';
import { BASE64, call, http, type Question, SYSTEM } from './question.ts';
import { at, type Scene, transfer } from './scene.ts';
import { fees, sends, simulations } from './sendQuestions.ts';
import { aboutAccounts, aboutTheCluster, aboutTokens } from './stateQuestions.ts';

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
    'a call without a version': http(JSON.stringify({ id: 1, method: 'getHealth' })),
    'a call without a method': http(JSON.stringify({ jsonrpc: '2.0', id: 1 })),
    'a call without an id': http(JSON.stringify({ jsonrpc: '2.0', method: 'getHealth' })),
    'a call with null as id': http(JSON.stringify(call('getHealth', [], null))),
    'a call with parameters by name': http(JSON.stringify({ ...call('getBalance'), params: { pubkey: SYSTEM } })),
    'a call of an unknown method': http(JSON.stringify(call('getNothing'))),
    'a batch': http(JSON.stringify([call('getHealth', [], 1), call('getNothing', [], 2)])),
    'an empty batch': http('[]'),
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
    slotSubscribe: on('slotSubscribe', [], { shape: true }),
    blockSubscribe: on('blockSubscribe', ['all']),
    nothingSubscribe: on('nothingSubscribe', []),
  };
}
