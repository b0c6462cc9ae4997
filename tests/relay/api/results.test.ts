/** GET /results/{execution_id}/{token}: the exact bytes, for everyone who has the address. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { hashResult } from '../../../app/sdk/receipt/receipt.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { EPOCH, newAddress, newExecutionId } from '../../harness/edge/rows.ts';

describe('GET /results/{execution_id}/{token}', () => {
  let id: string;
  let token: string;
  const result = 'Zürich — 東京 🚀\r\n<script>alert(1)</script>\0\ufeff end';
  const world = useWorld();
  before(async () => {
    const listing = await world.addListing();
    id = await world.addJournal({ wallet: newAddress(), listing, state: 'settled', settled_at: BigInt(EPOCH + 2) });
    token = await world.addResult(id, result);
  });

  it('returns the exact UTF-8 bytes of result_hash, as text that no browser runs', async () => {
    const response = await fetch(`${world.url}/results/${id}/${token}`);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(response.status).to.equal(200);
    expect(bytes.equals(Buffer.from(result, 'utf8'))).to.equal(true);
    expect(`sha256:${createHash('sha256').update(bytes).digest('hex')}`).to.equal(hashResult(result));
    expect(response.headers.get('content-type')).to.equal('text/plain; charset=utf-8');
    expect(response.headers.get('x-content-type-options')).to.equal('nosniff');
    expect(response.headers.get('content-security-policy')).to.equal('sandbox');
    expect(response.headers.get('cache-control')).to.equal('private, max-age=31536000, immutable');
    expect(response.headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
  });

  it('rejects: a wrong token, id or path with 404 not_found', async () => {
    const shorter = token.slice(0, -1);
    const paths = [
      `${id}/${shorter}`,
      `${id}/x`,
      `${newExecutionId()}/${token}`,
      `x/${token}`,
      `${id}/%ZZ`,
      id,
      `${id}/`,
    ];
    for (const path of paths) {
      const { status, json } = await world.get(`/results/${path}`);
      expect(status, path).to.equal(404);
      expect(json.error).to.include({ code: 'not_found', execution_id: null });
    }
  });
});
