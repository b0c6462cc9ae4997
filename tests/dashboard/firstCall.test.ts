/** The first request that the page shows with a new key. */
import { expect } from 'chai';
import { firstCurl } from '../../app/dashboard/views/keys/firstCall.ts';
import type { KeyScope } from '../../app/sdk/wire/keyScopes.ts';

describe('the first request with a new key', () => {
  const requests: [scopes: KeyScope[], path: string][] = [
    [['webhooks'], '/v1/webhooks'],
    [['read'], '/v1/executions?limit=5'],
    [['read', 'webhooks'], '/v1/executions?limit=5'],
  ];
  for (const [scopes, path] of requests) {
    it(`is one that the scopes ${scopes.join(' and ')} allow`, () => {
      expect(firstCurl('crtx_test_1', scopes, null)).to.include(`'${path}'`);
    });
  }
});
