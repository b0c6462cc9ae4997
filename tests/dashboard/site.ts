/**
 * The marketplace of `npm start` with its page, once for all files of the suite, and one Chromium. A test whose changes
 * would disturb others, such as a clock that moves by days, has its own by `isOwn`.
 *
 *     const site = useSite();
 *     it('...', () => site.visit({ as: 'Demo caller 1' }, async (page) => { ... }));
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { createVisitor, type Visitor } from '../journey/visitor.ts';
import { cleanUp, newDirectory, ROOT, type Start, startNetwork, untilGone } from '../local/start.ts';
import {
  launchBrowser,
  type OpenedPage,
  openPage,
  type PageOptions,
  requireChromium,
  type SignedIn,
} from './browser.ts';

export interface Site {
  start: Start;
  dataDir: string;
  /** Without a trailing slash. */
  baseUrl: string;
  /** A person with the demo callers' API keys and the command line. */
  visitor: Visitor;
  browser: Browser;
  signedIn: SignedIn;
}

/** A test of the page. It fails for every fault in the page that `expected` does not match. */
export type VisitTest = (page: Page, opened: OpenedPage) => Promise<void>;
export interface VisitOptions extends PageOptions {
  /** Faults that the test causes on purpose. */
  expected?: RegExp;
}

/** Builds the page if its sources have changed, and starts everything. */
async function startSite(): Promise<Site> {
  const dataDir = newDirectory();
  const start = startNetwork(dataDir);
  const demo = await start.ready;
  return {
    start,
    dataDir,
    baseUrl: demo.base_url,
    visitor: createVisitor(demo, dataDir),
    browser: await launchBrowser(),
    signedIn: new Map(),
  };
}

/** The output folder of `buildPage`. */
export const BUILT_PAGE = join(ROOT, 'app', 'dashboard', 'dist');

/** Builds the page alone, for tests of the relay that serves it. */
export function buildPage(): void {
  const build = spawnSync(process.execPath, ['scripts/run.mjs', 'app/dashboard/build.ts'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect(build.status, build.stderr).to.equal(0);
}

let shared: Promise<Site> | null = null;

// Outside of any block, so it runs after the whole suite.
after(async () => {
  await (await shared?.catch(() => null))?.browser.close();
  cleanUp();
});

/** The shared site, for a block; the first block starts it. With `isOwn`, one that ends with the block. */
export function useSite({ isOwn = false } = {}) {
  let site: Site;
  before(async function () {
    this.timeout(0);
    if (!requireChromium()) this.skip();
    if (!isOwn) shared ??= startSite();
    site = await (isOwn ? startSite() : shared!);
  });
  if (isOwn)
    after(async () => {
      await site?.browser.close();
      // The tests that follow need the time that an idle network takes.
      for (const pid of site?.start.processes() ?? []) process.kill(pid, 'SIGKILL');
    });
  return {
    get baseUrl() {
      return site.baseUrl;
    },
    get visitor() {
      return site.visitor;
    },
    get dataDir() {
      return site.dataDir;
    },
    visit: (options: VisitOptions, test: VisitTest) => visit(site, options, test),
    /** Stops the network, as Ctrl-C does. */
    async stop(): Promise<void> {
      site.start.signalGroup('SIGINT');
      await untilGone(site.start);
    },
    /** Starts it again: its chain is new; address, wallets, agents and keys stay the same. */
    async restart(): Promise<void> {
      site.start = startNetwork(site.dataDir, { port: Number(new URL(site.baseUrl).port) });
      site.visitor = createVisitor(await site.start.ready, site.dataDir);
      site.signedIn.clear();
    },
  };
}

/** Stores the evidence of a dispute as the caller's page does, with the session's cookie. */
export const giveEvidence = (site: Pick<ReturnType<typeof useSite>, 'visit'>, executionId: string, text: string) =>
  site.visit({ as: 'Demo caller 1' }, async (page) => {
    const content = Buffer.from(text).toString('base64');
    const input = { execution_id: executionId, content, media_type: 'text/plain' };
    await page.goto('/');
    const status = await page.evaluate<number>(
      `fetch('/trpc/disputes.putEvidence', { method: 'POST', headers: { 'content-type': 'application/json' },
         body: ${JSON.stringify(JSON.stringify(input))} }).then((response) => response.status)`,
    );
    expect(status).to.equal(200);
  });

/** Opens a page, runs the test in it, and closes it. */
async function visit(site: Site, { expected, ...options }: VisitOptions, test: VisitTest): Promise<void> {
  const opened = await openPage(site.browser, site.baseUrl, options, site.signedIn);
  try {
    await test(opened.page, opened);
    expect(opened.faults.filter((fault) => !expected?.test(fault))).to.deep.equal([]);
  } catch (error) {
    // A fault in the page is the most frequent reason for a failure.
    if (opened.faults.length > 0 && error instanceof Error)
      error.message += `\nIn the page:\n${opened.faults.join('\n')}`;
    throw error;
  } finally {
    await opened.close();
  }
}
