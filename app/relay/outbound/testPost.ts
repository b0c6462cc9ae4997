/** Sends the requests of a conformance test like paid calls: to allowed addresses, within the same limits. */
import { describeConnectionFault } from '../../sdk/creator/connectionFault.ts';
import { isCompressed, type Post } from '../../sdk/creator/testPost.ts';
import { AnswerTooLarge, readBeginning, readBounded } from './answerBody.ts';
import { type CreatorPool, sendToCreator, whyNever } from './dispatch.ts';

export function createPost(pool: Pick<CreatorPool, 'agent' | 'turnsOf'>): Post {
  return async ({ url, headers, body, deadlineMs }) => {
    const signal = AbortSignal.timeout(Math.max(1, Math.ceil(deadlineMs - performance.now())));
    try {
      const accepting = { ...headers, accept: 'application/json' };
      const response = await sendToCreator(pool.agent, url, { headers: accepting, body, signal });
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
      const problem = whyNever(error) ?? `The server cannot be reached: ${describeConnectionFault(error)}`;
      return { kind: 'unreachable', problem };
    }
  };
}
