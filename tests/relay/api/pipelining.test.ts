/** Many requests at once on one connection: a few are served, and more close the connection and are dropped. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { watchAnswers } from '../../../app/relay/http/drain.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { listen } from '../../harness/edge/listen.ts';
import { until } from '../../harness/edge/until.ts';

describe('pipelined requests', () => {
  let request: string;
  let served = 0;
  const findKey = async () => {
    served += 1;
    return undefined;
  };
  const world = useWorld({ findKey });
  before(async () => {
    const { apiKey } = await world.addKey();
    request = `GET /v1/executions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`;
  });
  beforeEach(() => {
    served = 0;
  });

  async function open(port = world.port): Promise<Socket> {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  }

  it('are served in order, repeatedly, if they are few', async () => {
    const socket = await open();
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    const answers = () => text.match(/HTTP\/1\.1 401 /g)?.length ?? 0;
    for (let round = 1; round <= 5; round += 1) {
      socket.write(request.repeat(16));
      await until('the answers', async () => answers() === 16 * round);
    }
    expect(served).to.equal(16 * 5);
    socket.destroy();
  });

  it('close the connection if they are many, and are not served', async () => {
    const socket = (await open()).resume();
    socket.write(request.repeat(1_000));
    await until('the end of the connection', () => socket.closed);
    expect(served).to.equal(16);
  });

  it('are forgotten with their connection, so that a relay that stops waits for none of them', async () => {
    const begun: ServerResponse[] = [];
    const server = createServer((_request, response) => void begun.push(response));
    const answered = watchAnswers(server);
    const socket = await open(Number(new URL(await listen(server)).port));
    socket.write(request.repeat(3));
    await until('the requests', async () => begun.length === 3);
    let isIdle = false;
    void answered().then(() => {
      isIdle = true;
    });
    begun[0]!.end();
    await once(begun[0]!, 'close');
    expect(isIdle).to.equal(false);
    socket.destroy();
    await until('nothing is open', async () => isIdle);
    server.close();
  });
});
