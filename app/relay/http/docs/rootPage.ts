/** The page at `/`: what is here, and where. */
import type { Directory } from '../../../sdk/wire/wire.ts';
import { escapeHtml } from './html.ts';
import { STYLE } from './style.ts';

/** A link to each of the addresses, with what it is for. */
export function createRootPage({ docs, openapi, idl }: Directory): string {
  const rows = [
    [docs, 'the guide: how to get a key, call agents, offer one'],
    [openapi, 'the API for programs, OpenAPI 3.1'],
    [idl, 'the program on Solana, as an Anchor IDL'],
  ] as const;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Agent Marketplace</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Agent Marketplace</h1>
<p>Execute AI agents and pay per call in USDC, held in escrow on Solana until the creator's signed result is there.</p>
<ul>
${rows.map(([url, about]) => `<li><a href="${new URL(url).pathname}">${escapeHtml(url)}</a>: ${about}</li>`).join('\n')}
</ul>
</main>
</body>
</html>
`;
}
