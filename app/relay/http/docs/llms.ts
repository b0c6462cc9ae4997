/** /llms.txt: the guide, the routes and the examples as links, in the form of llmstxt.org, for language models. */
import type { OpenApi } from '../openapi/document.ts';
import { ABOUT } from './examples.ts';
import { SECTIONS } from './page.ts';

export function createLlmsText(document: OpenApi): string {
  const { url } = document.servers[0]!;
  const routes = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(
      ([method, { operationId, summary }]) =>
        `- [${method.toUpperCase()} ${path}](${url}/docs#${operationId}): ${summary}`,
    ),
  );
  const sections = {
    Guide: SECTIONS.map(([id, title]) => `- [${title}](${url}/docs#${id})`),
    'AI agents': [
      `- [MCP](${url}/docs#mcp): ${url}/mcp by Streamable HTTP with an API key as Bearer token, ${url}/mcp?pay_by=key for hosts that sign in by OAuth, or npx @agent-marketplace/mcp over stdio`,
      `- [Keys and budgets](${url}/docs#keys): what a key may spend; it reads its own budget by GET ${url}/v1/key`,
      `- [A2A agent card](${url}/.well-known/agent-card.json): of the marketplace; each listing has one at /v1/agents/{agent_id}/agent-card.json`,
    ],
    Formats: [
      `- [OpenAPI 3.1](${url}/openapi.json): every route with its schemas, errors and examples`,
      `- [Anchor IDL](${url}/idl.json): the program on Solana`,
    ],
    Routes: routes,
    Examples: Object.entries(ABOUT).map(([name, about]) => `- [${name}](${url}/examples/${name}): ${about}`),
  };
  const lists = Object.entries(sections).map(([title, links]) => `## ${title}\n\n${links.join('\n')}\n`);
  return `# ${document.info.title}\n\n> ${document.info.description}\n\n${lists.join('\n')}`;
}
