/**
 * The x402 part of /openapi.json, where catalogues look for paid routes: the price of the route, and a path of its own
 * for each agent, because catalogues do not fill in `{agent_id}`. OpenAPI matches such paths before the templated one.
 */
import { plain, quote } from '../../../sdk/wire/creatorsWords.ts';
import { formatUsdc } from '../../../sdk/wire/usdc.ts';
import { BUY_PATH, type Offered, offeredPath } from '../../calls/x402/directory.ts';
import type { OpenApi, Operation } from './document.ts';
import type { Json } from './schemas.ts';

/** Begins the names of the components that all agents share. */
const SHARED = 'buyExecution';

/** The document with these agents. */
export function withOffered(document: OpenApi, offered: readonly Offered[]): object {
  const { paths, components } = document;
  const template = paths[BUY_PATH]!.post!;
  const parameters = template.parameters.filter((one) => one.in !== 'path');
  const own = offered.map((agent) => [offeredPath(agent.agentId), { post: operationOf(agent, template) }]);
  return {
    ...document,
    paths: {
      ...paths,
      [BUY_PATH]: { post: { ...template, 'x-payment-info': paymentInfo(rangeOf(offered)) } },
      ...Object.fromEntries(own),
    },
    components: {
      ...components,
      ...(offered.length > 0 && {
        parameters: named(Object.fromEntries(parameters.map((one) => [one.name, one]))),
        responses: named(template.responses),
      }),
    },
  };
}

function operationOf({ agentId, name, tagline, total }: Offered, template: Operation): Json {
  const { tags, security, parameters, requestBody, responses } = template;
  const { schema } = requestBody!.content['application/json']!;
  return {
    operationId: `${SHARED}_${agentId}`,
    tags,
    summary: `Execute the agent that its creator calls ${JSON.stringify(plain(name))}`,
    description: `Like ${BUY_PATH}. About the agent, ${quote(tagline)}`,
    security,
    'x-payment-info': paymentInfo({ mode: 'fixed', amount: formatUsdc(total) }),
    parameters: parameters.filter((one) => one.in !== 'path').map((one) => pointTo('parameters', one.name)),
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: Object.fromEntries(Object.keys(responses).map((status) => [status, pointTo('responses', status)])),
  };
}

function rangeOf(offered: readonly Offered[]): Record<string, string> {
  const totals = offered.map(({ total }) => total).sort((one, other) => Number(one - other));
  const [min, max] = [totals[0], totals.at(-1)];
  return { mode: 'dynamic', ...(min && max && { min: formatUsdc(min), max: formatUsdc(max) }) };
}

/** The price in the format that catalogues read; USDC counts as USD. */
const paymentInfo = (price: Record<string, string>): Json => ({
  price: { ...price, currency: 'USD' },
  protocols: [{ x402: {} }],
});

const named = (parts: object): Json =>
  Object.fromEntries(Object.entries(parts).map(([name, part]) => [`${SHARED}_${name}`, part]));

const pointTo = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${SHARED}_${name}` });
