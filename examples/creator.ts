/**
 * The agent of agent.json: it sells the most frequent words of a text. With MARKETPLACE_URL it refuses every call that this
 * marketplace did not sign, as a creator should.
 *
 *   npx tsx examples/creator.ts SIGNING_KEY_FILE PORT [MARKETPLACE_URL]
 */
import { createCreatorServer, ExecutionFailure, loadSigningKey } from '../app/sdk/creator/creator.ts';

const [keyFile, port, marketplace] = process.argv.slice(2);
if (!keyFile || !port) throw new Error('usage: creator.ts SIGNING_KEY_FILE PORT [MARKETPLACE_URL]');

createCreatorServer({
  signingKey: loadSigningKey(keyFile),
  ...(marketplace && { verify: { directoryUrl: `${marketplace}/.well-known/http-message-signatures-directory` } }),
  execute({ parameters }) {
    const { text, top = 10 } = parameters as { text: string; top?: number };
    const counts = new Map<string, number>();
    const plain = text.normalize('NFC').toLowerCase();
    for (const word of plain.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []) counts.set(word, (counts.get(word) ?? 0) + 1);
    if (counts.size === 0) throw new ExecutionFailure('the text has no words');
    const words = [...counts].sort(([, a], [, b]) => b - a).map(([word, count]) => ({ word, count }));
    return { result: JSON.stringify({ words: words.slice(0, top) }) };
  },
}).listen(Number(port), '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${port}/execute`));
