/**
 * A creator's server in a separate process, so that it affects the relay only over the network. The task names the
 * misbehaviour; any other task gets a good answer.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { goodAnswer } from '../../harness/node/marketplace.ts';
import { misbehaviours } from './cases.ts';

const [signingKey, stranger] = process.argv.slice(2).map((hex) => Buffer.from(hex, 'hex')) as [Buffer, Buffer];
const cases = new Map(
  Object.entries(misbehaviours(signingKey, stranger)).flatMap(([kind, entries]) =>
    entries.map((entry): [string, typeof entry] => [`${kind}: ${entry.name}`, entry]),
  ),
);

const server = createServer((incoming, response) => {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    const reply = (answer: unknown) => void response.end(JSON.stringify(answer));
    const found = cases.get(body.task);
    if (found) found.behave(body, response, reply);
    else reply(goodAnswer(signingKey, body.execution_id, 'x'));
  });
});
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send?.({ port: (server.address() as AddressInfo).port });
process.on('disconnect', () => process.exit(0));
