/** Requests to the Solana node without web3.js, which is too large for a view that only shows a figure. */

interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: each method has its own result, which its caller checks.
  result?: any;
  error?: { code: number };
}

export async function askNode(rpcUrl: string, method: string, params: unknown[]): Promise<Answer> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return (await response.json()) as Answer;
}
