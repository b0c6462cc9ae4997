/** Tests the work, and the whole server as the marketplace tests it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import {
  createCreatorServer,
  createTestKeys,
  generateSigningKey,
  signingKeyAddress,
  testCreator,
} from '@agent-marketplace/sdk/creator';
import { execute } from './agent.ts';

const listing = JSON.parse(readFileSync(new URL('agent.json', import.meta.url), 'utf8').replace(/^\uFEFF/, ''));

test('passes the conformance test, and answers the test of the listing', async () => {
  const signingKey = generateSigningKey();
  const { sign, directory } = createTestKeys();
  const server = createCreatorServer({ signingKey, verify: directory, execute }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const conformance = await testCreator(
      { sign },
      {
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/execute`,
        signingKey: signingKeyAddress(signingKey),
        task: listing.test.task,
        parameters: JSON.stringify(listing.test.parameters),
        userPubkey: '11111111111111111111111111111111',
        timeoutSeconds: listing.timeout_seconds,
      },
      { full: true },
    );
    assert.deepEqual(
      conformance.findings.filter(({ ok }) => !ok),
      [],
    );
    const result = JSON.parse(Buffer.from(conformance.result!.result).toString());
    assert.deepEqual(result, { words: [{ word: 'the', count: 2 }] });
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

test('counts the words of every script', async () => {
  const answer = await execute({ parameters: { text: 'Caf\u00e9, cafe\u0301 हिन्दी' } } as never, {} as never);
  assert.deepEqual(JSON.parse((answer as { result: string }).result), {
    words: [
      { word: 'café', count: 2 },
      { word: 'हिन्दी', count: 1 },
    ],
  });
});
