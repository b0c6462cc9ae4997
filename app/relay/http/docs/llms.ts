/** /llms.txt: the guide, the routes and the examples as links, in the form of llmstxt.org, for language models. */
import type { OpenApi } from '../openapi/document.ts';
import { ABOUT, EXAMPLES } from './examples.ts';
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
    Formats: [
      `- [OpenAPI 3.1](${url}/openapi.json): every route with its schemas, errors and examples`,
      `- [Anchor IDL](${url}/idl.json): the program on Solana`,
    ],
    Routes: routes,
    Examples: [...EXAMPLES.keys()].map((name) => `- [${name}](${url}/examples/${name}): ${ABOUT[name]}`),
  };
  const lists = Object.entries(sections).map(([title, links]) => `## ${title}\n\n${links.join('\n')}\n`);
  return `# ${document.info.title}\n\n> ${document.info.description}\n\n${lists.join('\n')}`;
}
