/**
 * The answer of a paid call as Server-Sent Events, for callers that ask for `stream`. It begins when the creator is
 * called: an error before that is an ordinary answer with its own status. The execution continues even if nobody reads
 * the stream.
 */
import type { Response } from 'express';
import { EVENT_STREAM, renderEvent } from '../../sdk/wire/eventStream.ts';
import type { CallOutput } from '../calls/execute.ts';
import type { Body } from '../longBytes.ts';
import { drained } from '../waiting.ts';

/** Proxies close connections that are silent for longer. */
const HEARTBEAT_MS = 15_000;
/**
 * A caller that reads slowly delays its creator by at most this much in total. Then it gets only the result, without
 * further deltas: a slow caller must not make the creator miss its deadline.
 */
const SLOW_MS = 5_000;

/** Sends the head of Server-Sent Events. */
export function beginEvents(response: Response, headers: Record<string, string> = {}): void {
  response.writeHead(200, {
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    // Proxies such as nginx would buffer the events otherwise.
    'X-Accel-Buffering': 'no',
    ...headers,
    'Content-Type': `${EVENT_STREAM}; charset=utf-8`,
  });
}

interface Output extends CallOutput {
  /** Ends the stream with this answer. Returns false if the answer must be sent as usual. */
  finish(status: number, body: Body, headers: Record<string, string>): boolean;
}

/** Creates the stream of a response. It stays unused unless the call wants it. */
export function createOutput(response: Response, slowestMs = SLOW_MS): CallOutput {
  let isWanted = false;
  let isOpen = false;
  let slowMs = slowestMs;
  let heartbeat: NodeJS.Timeout | undefined;

  function open(): void {
    isOpen = true;
    beginEvents(response);
    heartbeat = setInterval(() => {
      // A slow reader still has unread data.
      if (!response.writableNeedDrain) write(':\n\n');
    }, HEARTBEAT_MS);
    response.once('close', () => clearInterval(heartbeat));
  }
  const write = (text: string): boolean => response.destroyed || response.write(text);

  const output: Output = {
    want() {
      isWanted = true;
    },
    begun(executionId) {
      if (!isWanted || isOpen || response.destroyed || response.headersSent) return;
      open();
      write(renderEvent('execution', JSON.stringify({ execution_id: executionId, status: 'running' })));
    },
    async delta(text) {
      if (!isOpen || response.writableEnded || slowMs <= 0) return;
      if (write(renderEvent('delta', JSON.stringify({ text, verified: false })))) return;
      const begunMs = performance.now();
      await drained(response, slowMs);
      slowMs -= performance.now() - begunMs;
    },
    finish(status, body, headers) {
      if (!isWanted || response.destroyed || (!isOpen && status >= 300)) return false;
      if (!isOpen) {
        for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
        open();
      }
      clearInterval(heartbeat);
      // 202: the outcome is not known yet, so there is no result.
      const name = status === 202 ? 'execution' : status < 300 ? 'result' : 'error';
      response.end(Buffer.concat([Buffer.from(`event: ${name}\ndata: `), ...body, Buffer.from('\n\n')]));
      return true;
    },
  };
  response.locals.output = output;
  return output;
}

/** Ends the stream of a response with this answer. Returns false if there is none: send the answer as usual. */
export function finishOutput(response: Response, status: number, body: Body, headers = {}): boolean {
  return (response.locals.output as Output | undefined)?.finish(status, body, headers) ?? false;
}
