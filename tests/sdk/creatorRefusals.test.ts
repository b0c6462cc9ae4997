/** Requests that the creator's server refuses. */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import { execution, post, read, serve, stopServers } from './creatorServer.ts';

describe('sdk/creator, refusals', () => {
  let base: string;
  before(async () => {
    base = await serve();
  });
  after(stopServers);

  const id = '00000000-0000-8000-8000-ffffffffffff';
  const BAD_FIELDS: Record<string, unknown[]> = {
    execution_id: [undefined, 7, 'not-a-uuid', id.toUpperCase()],
    task: [undefined, '', ['x']],
    parameters: [null, [], 'x'],
    user_pubkey: [undefined, 1],
    timeout_seconds: [undefined, '60', 0, -1, 1.5, 86_401, true],
  };
  const BAD_BODIES: [string, string | Uint8Array, string][] = [
    ['nothing', '', 'valid JSON'],
    ['no JSON', '{"execution_id":', 'valid JSON'],
    ['invalid UTF-8', Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'valid JSON'],
    ['an array', '[]', 'JSON object'],
    ['null', 'null', 'JSON object'],
    ['text', '"x"', 'JSON object'],
    ...Object.entries(BAD_FIELDS).flatMap(([field, values]) =>
      values.map((value): [string, string, string] => [
        `${field} ${JSON.stringify(value)}`,
        JSON.stringify({ ...execution(), [field]: value }),
        field,
      ]),
    ),
    ['a lone surrogate', JSON.stringify(execution()).replace('hello', '\\ud800'), 'canonical'],
    [
      'deep nesting',
      JSON.stringify(execution({ parameters: { deep: '@' } })).replace('"@"', deep(200_000)),
      'canonical',
    ],
  ];
  function deep(levels: number): string {
    return '['.repeat(levels) + ']'.repeat(levels);
  }
  for (const [what, body, rule] of BAD_BODIES) {
    it(`rejects: a body with ${what}, with 400 and an error that names ${rule}`, async () => {
      const { status, json } = await post(base, body);
      expect(status).to.equal(400);
      expect(Object.keys(json)).to.deep.equal(['error']);
      const error = json.error as { code: string; message: string };
      expect(error.code).to.equal('invalid_request');
      expect(error.message).to.contain(rule);
    });
  }

  it('rejects: a body over the limit, stated or not, with 413', async () => {
    const small = await serve({ maxBodyBytes: 1000 });
    const padded = (bytes: number): string => {
      const empty = JSON.stringify(execution({ task: '' })).length;
      return JSON.stringify(execution({ task: 'x'.repeat(bytes - empty) }));
    };
    expect((await post(small, padded(1000))).status).to.equal(200);
    const { status, json } = await post(small, padded(1001));
    expect(status).to.equal(413);
    expect(json.error).to.deep.equal({ code: 'payload_too_large', message: 'the body must be at most 1000 bytes' });
    const chunked = httpRequest(`${small}/execute`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
    });
    for (let index = 0; index < 50; index += 1) chunked.write('x'.repeat(100_000));
    chunked.end();
    const [answer] = await once(chunked, 'response');
    expect(answer.statusCode).to.equal(413);
    answer.resume();
  });

  it('rejects: other media types with 415', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
      const headers = { 'content-type': type };
      const { status, json } = await post(base, execution(), { headers });
      expect(status).to.equal(415);
      expect(json.error).to.include({ code: 'unsupported_media_type' });
    }
    const headers = { 'content-type': 'Application/JSON; charset=utf-8' };
    expect((await post(base, execution(), { headers })).status).to.equal(200);
  });

  it('rejects: other methods with 405 and other paths with 404', async () => {
    for (const [method, path, status, code, allow] of [
      ['GET', '/execute', 405, 'method_not_allowed', 'POST'],
      ['PUT', '/execute', 405, 'method_not_allowed', 'POST'],
      ['POST', '/health', 405, 'method_not_allowed', 'GET, HEAD'],
      ['GET', '/', 404, 'not_found', null],
      ['POST', '/execute/', 404, 'not_found', null],
      ['POST', '/Execute', 404, 'not_found', null],
    ] as const) {
      const reply = await read(await fetch(base + path, { method }));
      expect(reply.status, `${method} ${path}`).to.equal(status);
      expect(reply.json.error).to.include({ code });
      expect(reply.headers.get('allow')).to.equal(allow);
    }
  });

  it('survives a connection that breaks in the middle of the body', async () => {
    const broken = httpRequest(`${base}/execute`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': 1000 },
    });
    broken.on('error', () => {});
    broken.write('{"execution_id"');
    await new Promise((resolve) => broken.once('socket', (socket) => socket.once('connect', resolve)));
    broken.destroy();
    expect((await post(base, execution())).status).to.equal(200);
  });
});
