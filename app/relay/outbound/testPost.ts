/** Sends the requests of a conformance test like paid calls: to allowed addresses, within the same limits. */
import { errors, request as httpRequest } from 'undici';
import { describeConnectionFault } from '../../sdk/creator/connectionFault.ts';
import { isCompressed, type Post } from '../../sdk/creator/testPost.ts';
import { AnswerTooLarge, readBeginning, readBounded } from './answerBody.ts';
import type { CreatorPool } from './dispatch.ts';
import { ForbiddenEndpoint } from './egress.ts';

export function createPost(pool: Pick<CreatorPool, 'agent' | 'turnsOf'>): Post {
  return async ({ url, headers, body, deadlineMs }) => {
    const signal = AbortSignal.timeout(Math.max(1, Math.ceil(deadlineMs - performance.now())));
    try {
      const response = await httpRequest(url, {
        dispatcher: pool.agent,
        method: 'POST',
        headers: { ...headers, accept: 'application/json', 'accept-encoding': 'identity' },
        body,
        signal,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      // A body destroyed before its end emits an error event, which without a listener ends the process.
      response.body.on('error', () => undefined);
      const { statusCode: status } = response;
      const found = {
        kind: 'answer' as const,
        status,
        contentType: response.headers['content-type']?.toString() ?? null,
        isCompressed: isCompressed(response.headers['content-encoding']?.toString()),
      };
      if (status !== 200 || found.isCompressed) {
        return { ...found, body: [(await readBeginning(response.body)).body], isTooLong: false };
      }
      try {
        return { ...found, body: await readBounded(response.body, pool.turnsOf(url), signal), isTooLong: false };
      } catch (error) {
        if (!(error instanceof AnswerTooLarge)) throw error;
        response.body.destroy();
        return { ...found, body: error.chunks, isTooLong: true };
      }
    } catch (error) {
      if (signal.aborted) return { kind: 'late' };
      const never = error instanceof ForbiddenEndpoint || error instanceof errors.InvalidArgumentError;
      if (never) {
        return { kind: 'unreachable', problem: `The creator's server cannot be called: ${(error as Error).message}` };
      }
      return { kind: 'unreachable', problem: `The server cannot be reached: ${describeConnectionFault(error)}` };
    }
  };
}
