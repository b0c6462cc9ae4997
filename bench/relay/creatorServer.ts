/** A creator that answers at once, well signed, so that nothing of a call is its. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hashResult, signResult } from '../../app/sdk/receipt/receipt.ts';
import { namedKeypair } from '../../tests/harness/vm/keys.ts';

const RESULT = 'done';

export interface InstantCreator {
  endpoint: string;
  stop(): void;
}

/** Answers everything with one result, signed beforehand by the key of the VM's demo agent. */
export async function startInstantCreator(): Promise<InstantCreator> {
  const result_hash = hashResult(RESULT);
  const signature = signResult(namedKeypair('signing key').secretKey, result_hash);
  const rest = JSON.stringify({ status: 'completed', result: RESULT, result_hash, signature, tokens_used: 1 }).slice(1);
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { execution_id } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { execution_id: string };
    const body = `{"execution_id":${JSON.stringify(execution_id)},${rest}`;
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.end(body);
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/execute`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
