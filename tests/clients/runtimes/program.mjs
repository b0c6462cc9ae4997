/**
 * Uses the client in several ways and returns the results as JSON. Each request names the marketplace to call. Deno,
 * Bun and workerd all serve the default export of a module.
 */
import {
  AgentMarketplace,
  ExecutionFailedError,
  hasCode,
  MarketplaceError,
  verifyWebhook,
  WebhookVerificationError,
} from '@agent-marketplace/client';
import { checkQuote, payWithX402 } from '@agent-marketplace/client/x402';

/** The JSON of the error that a call throws. */
const refusal = (call) =>
  call.then(
    () => 'no error',
    (error) => [error.name, error.code ?? error.message],
  );

async function run({ baseUrl, apiKey, rpcUrl, lossyUrl, silentUrl, closedUrl, webhook, purchase, quote }) {
  const to = (url, options) => new AgentMarketplace({ baseUrl: url, apiKey, ...options });
  const { agents, executions } = to(baseUrl);
  const report = {};

  report.listed = [];
  for await (const { name } of agents.list()) report.listed.push(name);
  const { items } = await agents.list().page();
  const id = items[0].agent_id;

  const deltas = [];
  const onDelta = (text) => void deltas.push(text);
  const paid = await agents.run(id, { task: 'runtime' }, { maxCostUsdc: 0.05, onDelta });
  report.paid = [paid.result, paid.cost_usdc, deltas.join('')];
  const { ok, checks } = await executions.verify(paid.execution_id, { rpcUrl });
  report.verified = [ok, checks.filter(({ state }) => state === 'failed')];

  const failure = await agents.run(id, { task: 'fail' }).catch((error) => error);
  report.failed = [
    failure instanceof ExecutionFailedError && failure instanceof MarketplaceError,
    hasCode(failure, 'execution_failed'),
    failure.executionId !== null,
  ];

  report.lost = (await to(lossyUrl).agents.run(id, { task: 'lost' })).result;
  report.resumed = [];
  const following = to(lossyUrl, { timeout: 4_000, maxRetries: 20 }).executions.events(paid.execution_id);
  for await (const { type } of following) report.resumed.push(type);
  report.closed = await refusal(to(closedUrl, { maxRetries: 0 }).agents.run(id, { task: 'x' }));
  report.late = await refusal(to(silentUrl, { maxRetries: 0, timeout: 200 }).agents.run(id, { task: 'x' }));
  report.over = await refusal(to(silentUrl).agents.run(id, { task: 'x' }, { timeout: 200 }));
  const own = new AbortController();
  const reason = new Error('enough');
  setTimeout(() => own.abort(reason), 200);
  const aborted = to(silentUrl).agents.run(id, { task: 'x' }, { signal: own.signal });
  report.aborted = (await aborted.catch((error) => error)) === reason;

  const event = verifyWebhook(webhook.body, new Headers(webhook.headers), webhook.secret);
  report.webhook = [event.id, event.type];
  try {
    verifyWebhook(`${webhook.body} `, webhook.headers, webhook.secret);
  } catch (error) {
    report.forged = error instanceof WebhookVerificationError;
  }

  report.payer = payWithX402({ wallet: { address: purchase.payer }, network: 'devnet' }).payer;
  report.deposit = checkQuote(quote, purchase).deposit;
  return report;
}

export default {
  async fetch(request) {
    // The tests poll this page until Deno or Bun answers.
    if (request.method === 'GET') return new Response('ready');
    try {
      return Response.json(await run(await request.json()));
    } catch (error) {
      return new Response(String(error.stack), { status: 500 });
    }
  },
};
