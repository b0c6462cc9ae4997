/** A real object storage for results, behind a proxy that injects faults. */
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import S3rver from 's3rver';
import { request as ask } from 'undici';
import { serve } from './edge/listen.ts';

const BUCKET = 'results-of-tests';
const KEYS = { bucket: BUCKET, region: 'us-east-1', accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

/** The injected fault. `locked` stores objects but does not delete them, `lost` does not find them. */
type Weather =
  | 'fair'
  | 'down'
  | 'forbidden'
  | 'other bytes'
  | 'slow'
  | 'hangs'
  | 'trickles'
  | 'refuses'
  | 'locked'
  | 'lost';

export async function startStorage() {
  const directory = mkdtempSync(join(tmpdir(), 'objects-'));
  const configureBuckets = [{ name: BUCKET, configs: [] }];
  const storage = new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory, configureBuckets });
  const { port } = await storage.run();
  const state = { weather: 'fair' as Weather, held: 0 };

  async function pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (state.weather === 'down') return void incoming.socket.destroy();
    if (state.weather === 'forbidden') return void response.writeHead(403).end();
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const method = incoming.method as 'GET';
    if (state.weather === 'lost' && method === 'GET') return void response.writeHead(404).end();
    if (state.weather === 'refuses' || (state.weather === 'locked' && incoming.method === 'DELETE')) {
      return void response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
    }
    if (state.weather === 'hangs') {
      state.held += 1;
      return;
    }
    if (state.weather === 'trickles') {
      response.writeHead(200);
      const drops = setInterval(() => response.write('r'), 20);
      return void response.on('close', () => clearInterval(drops));
    }
    if (state.weather === 'slow') await sleep(100);
    const { connection, 'transfer-encoding': _, ...headers } = incoming.headers;
    const body = incoming.method === 'PUT' ? Buffer.concat(chunks) : null;
    const answer = await ask(`http://127.0.0.1:${port}${incoming.url}`, { method, headers, body });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    if (state.weather === 'other bytes') bytes.fill('x');
    response.writeHead(answer.statusCode).end(bytes);
  }
  const front = await serve((incoming, response) => void pass(incoming, response).catch(() => {}));
  return {
    state,
    /** The relay's settings for this storage. */
    settings: { endpoint: front.url, ...KEYS },
    async stop() {
      front.close();
      await storage.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
export type Storage = Awaited<ReturnType<typeof startStorage>>;
