/** Every view of the page, filled with data, for screenshots and for checks of all views. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { registerClient } from '../../app/relay/access/oauth/clients.ts';
import type { Visitor } from '../journey/visitor.ts';
import type { Person } from './browser.ts';

export interface Scene {
  /** The base name of its files. */
  name: string;
  path: string;
  as?: Person;
  /** True for the window as the visitor sees it first; else the whole page. */
  isWindow?: boolean;
  /** Actions on the page before the view is complete. */
  act?(page: Page): Promise<void>;
}

/**
 * Runs executions that complete and fail, disputes two, and resolves one. Returns the ids and the receipt for the
 * scenes.
 */
export async function makeData(visitor: Visitor, dataDir: string) {
  const { demo, command, execute, send, sendUntil } = visitor;
  const csv = 'city,population\nIstanbul,15655000\nLagos,15388000\nMumbai,12479000\n';
  const query = 'SELECT city, population FROM csv ORDER BY population DESC';
  const ids: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    const { body } = await execute('csv-analyst', { task: 'Largest cities', parameters: { csv, query } });
    ids.push(body.execution_id);
    await execute('text-report', { task: 'Report', parameters: { text: csv } });
  }
  for (const name of ['sandbox-error', 'sandbox-unsigned', 'sandbox-echo']) {
    if (demo.agents.some((agent) => agent.name === name)) await execute(name, { task: 'Say hello' });
  }
  const [disputed = '', answered = '', plain = ''] = ids;
  const evidence = join(dataDir, 'evidence.txt');
  writeFileSync(evidence, 'The table has three rows, and I asked for ten.\n');
  const reason = join(dataDir, 'reason.txt');
  writeFileSync(reason, 'The data had three rows.\n');
  const { keypair_path } = demo.callers[0]!;
  // The command line uploads the evidence of the first.
  for (const [id, ...words] of [[disputed], [answered, '--hash-only']]) {
    await command(keypair_path, 'dispute', 'open', id!, '--evidence', evidence, ...words);
    await sendUntil(`/v1/executions/${id}`, 0, ({ body }) => body.status === 'disputed');
  }
  const admin = join(dataDir, 'demo', 'admin.json');
  await command(admin, 'admin', 'resolve-dispute', answered, '--reject', '--reason-file', reason);
  const { body: receipt } = await send(`/v1/executions/${plain}/receipt`, 0);
  return {
    disputed,
    answered,
    plain,
    receipt,
    agentId: visitor.agent('csv-analyst').agent_id,
    pausedId: visitor.agent('sandbox-paused').agent_id,
  };
}

export type Data = Awaited<ReturnType<typeof makeData>>;

export function scenesOf({ disputed, answered, plain, receipt, agentId, pausedId }: Data): Scene[] {
  const caller = { as: 'Demo caller 1' } as const;
  const creator = { as: 'Demo creator A' } as const;
  const admin = { as: 'Demo admin' } as const;
  const chooseReceipt = async (page: Page, content: object) => {
    const buffer = Buffer.from(JSON.stringify(content));
    const file = { name: 'receipt.json', mimeType: 'application/json', buffer };
    await page.getByLabel('Choose a receipt').setInputFiles(file);
    await page.getByRole('button', { name: 'Download the verification', disabled: false }).waitFor();
  };
  const search = async (page: Page) => {
    await page.getByRole('banner').getByRole('button', { name: 'Search' }).click();
    await page.getByRole('dialog', { name: 'Search' }).getByRole('combobox').fill('report');
    await page.getByRole('option', { name: /^text-report/ }).waitFor();
  };
  return [
    { name: 'catalogue', path: '/' },
    {
      name: 'account',
      path: '/',
      ...caller,
      act: (page) => page.getByRole('banner').getByRole('button', { name: '…' }).click(),
    },
    { name: 'search', path: '/', ...caller, act: search },
    { name: 'agent', path: `/agents/${agentId}` },
    { name: 'agent-run', path: `/agents/${agentId}?tab=run`, ...caller },
    { name: 'agent-code', path: `/agents/${agentId}?tab=code` },
    {
      name: 'agent-code-x402',
      path: `/agents/${agentId}?tab=code`,
      act: (page) => page.getByRole('tab', { name: 'x402' }).click(),
    },
    {
      name: 'agent-code-mcp',
      path: `/agents/${agentId}?tab=code`,
      act: (page) => page.getByRole('tab', { name: 'MCP' }).click(),
    },
    { name: 'agent-paused', path: `/agents/${pausedId}` },
    { name: 'docs', path: '/docs' },
    { name: 'docs-route', path: '/docs#executeAgent', isWindow: true },
    { name: 'verify', path: '/verify' },
    { name: 'verify-holds', path: '/verify', act: (page) => chooseReceipt(page, receipt) },
    { name: 'verify-altered', path: '/verify', act: (page) => chooseReceipt(page, { ...receipt, result: 'Another' }) },
    { name: 'terms', path: '/terms' },
    { name: 'signed-out', path: '/keys' },
    {
      name: 'keys',
      path: '/keys',
      ...caller,
      async act(page) {
        await page.getByText('Use in the last').first().click();
        await page.getByText(/ USDC spent\.$/).waitFor();
      },
    },
    {
      name: 'keys-create',
      path: '/keys',
      ...caller,
      async act(page) {
        await page.getByRole('button', { name: 'Create API key' }).click();
        await page.getByRole('dialog').getByText('Reading …').waitFor({ state: 'detached' });
      },
    },
    { name: 'connect', path: connectPath(), ...caller },
    { name: 'webhooks', path: '/webhooks', ...caller },
    { name: 'executions', path: '/executions', ...caller },
    { name: 'execution', path: `/executions/${plain}`, ...caller },
    { name: 'execution-disputed', path: `/executions/${disputed}`, ...caller },
    { name: 'spend', path: '/spend', ...caller },
    { name: 'disputes', path: '/disputes', ...caller },
    { name: 'dispute-open', path: `/disputes/${disputed}`, ...caller },
    {
      name: 'dispute-reply',
      path: `/disputes/${disputed}`,
      ...creator,
      act: (page) => page.getByLabel('Your reply').waitFor(),
    },
    { name: 'dispute-ended', path: `/disputes/${answered}`, ...caller },
    {
      name: 'dispute-dialog',
      path: `/executions/${plain}`,
      ...caller,
      async act(page) {
        await page.getByRole('button', { name: 'Open a dispute' }).click();
        await page.getByRole('dialog').getByText('Reading …').first().waitFor({ state: 'detached' });
      },
    },
    { name: 'creator', path: '/creator', ...creator },
    { name: 'creator-calls', path: '/creator/calls', ...creator },
    { name: 'creator-introduction', path: '/creator/new' },
    { name: 'creator-new', path: '/creator/new', ...creator },
    { name: 'creator-listing', path: `/creator/${agentId}`, ...creator },
    { name: 'creator-received', path: `/creator/${agentId}?tab=received`, ...creator },
    { name: 'creator-disputes', path: `/creator/${agentId}?tab=disputes`, ...creator },
    { name: 'admin', path: '/admin', ...admin },
    { name: 'admin-disputes', path: '/admin?tab=disputes', ...admin },
    { name: 'admin-dispute', path: `/admin/disputes/${disputed}`, ...admin },
    { name: 'admin-creators', path: '/admin?tab=creators', ...admin },
    { name: 'admin-settings', path: '/admin?tab=settings', ...admin },
    { name: 'admin-log', path: '/admin?tab=log', ...admin },
    { name: 'nothing', path: '/agents/nobody' },
  ];
}

/** Where a host sends the browser. */
function connectPath(): string {
  const uri = 'https://host.example/callback';
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: registerClient({ client_name: 'Example host', redirect_uris: [uri] }).id,
    redirect_uri: uri,
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
  });
  return `/connect?${query}`;
}
