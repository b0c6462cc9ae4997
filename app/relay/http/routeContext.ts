/** The context of the routes: their dependencies, and documents made once for many requests. */
import { isDeepStrictEqual } from 'node:util';
import { createDirectory, type Offered } from '../calls/x402/directory.ts';
import { createEndpoints } from '../events/endpoints.ts';
import { createReadiness } from '../operation/health.ts';
import type { RelayDeps } from './deps.ts';
import { createLlmsText } from './docs/llms.ts';
import { createGuide, createPage } from './docs/page.ts';
import { createDocument, type OpenApi } from './openapi/document.ts';
import { withOffered } from './openapi/offered.ts';
import type { RouteContext } from './routes/route.ts';

const NONE: Offered[] = [];

export function createRouteContext(deps: RelayDeps): RouteContext {
  // Made at the first request, because the address is known only once the server listens.
  let written: OpenApi | undefined;
  let document: { offered: Offered[]; bytes: Buffer } | undefined;
  let guide: string | undefined;
  let page: Buffer | undefined;
  let llms: Buffer | undefined;
  const readOffered = createDirectory(deps);
  const writeDocument = () => {
    const { environment, operatorContact } = deps.config;
    written ??= createDocument({ baseUrl: deps.baseUrl(), environment, operatorContact });
    return written;
  };
  const writeGuide = () => {
    const { environment, publicRpcUrl: rpcUrl, sponsorsAll: isSponsored, developmentWallets } = deps.config;
    const leastServiceFee = deps.x402?.leastServiceFee;
    const isLocal = developmentWallets !== null;
    guide ??= createGuide(writeDocument(), { environment, isLocal, rpcUrl, isSponsored, leastServiceFee });
    return guide;
  };
  return {
    deps,
    webhooks: createEndpoints(deps),
    guide: writeGuide,
    readReadiness: createReadiness(deps),
    readOffered,
    async openapi() {
      // Without the database, the routes are still known.
      const offered = await readOffered().catch(() => document?.offered ?? NONE);
      if (!document || !isDeepStrictEqual(document.offered, offered)) {
        const shown = deps.x402 ? withOffered(writeDocument(), offered) : writeDocument();
        document = { offered, bytes: Buffer.from(JSON.stringify(shown)) };
      }
      return document.bytes;
    },
    docs() {
      page ??= Buffer.from(createPage(writeGuide()));
      return page;
    },
    llms() {
      llms ??= Buffer.from(createLlmsText(writeDocument()));
      return llms;
    },
  };
}
