/**
 * Measures how heavy the page is, on its own marketplace: bytes of JavaScript in the first view, and Lighthouse's
 * scores of four views. One view belongs to a signed-in wallet.
 */
import type { Browser, Request } from 'playwright-core';
import { launchBrowser, openPage, untilLoaded } from '../tests/dashboard/browser.ts';
import { cleanUp, newDirectory, startNetwork, untilGone } from '../tests/local/start.ts';
import { CATEGORIES, type Device, installLighthouse, runLighthouse, type Scores } from './dashboard/lighthouse.ts';
import { atLeast, atMost, type Goal, median, round, toTable } from './figures.ts';
import type { Part } from './part.ts';

const SCRIPT_GOAL_KB = 200;
const SCORE_GOAL = 95;

const DEVICES: Device[] = ['desktop', 'mobile'];

export interface ViewFigures extends Scores {
  view: string;
  device: Device;
}

export interface DashboardFigures {
  /** Bytes on the wire of the scripts that the first view at `/` loads. */
  script_bytes: number;
  script_files: number;
  views: ViewFigures[];
}

export const dashboardPart: Part = {
  about: 'bytes of the page, and Lighthouse; needs Chromium',
  async run({ quick, report }) {
    const figures = await benchDashboard(quick ? 1 : 3, report);
    return { figures, table: describe(figures), goals: goalsOf(figures) };
  },
};

/** Runs Lighthouse `rounds` times for each figure and takes the median. */
async function benchDashboard(rounds: number, report: (line: string) => void): Promise<DashboardFigures> {
  installLighthouse(report);
  report('dashboard: starting a marketplace');
  const folder = newDirectory();
  const start = startNetwork(folder);
  try {
    const demo = await start.ready;
    const browser = await launchBrowser();
    const scripts = await measureScripts(browser, demo.base_url);
    const cookie = await signIn(browser, demo.base_url);
    await browser.close();
    const views = [
      { view: 'the catalogue', path: '/', cookie: null },
      { view: "an agent's page", path: `/agents/${demo.agents[0]!.agent_id}`, cookie: null },
      { view: 'API keys, signed in', path: '/keys', cookie },
      { view: 'the guide', path: '/docs', cookie: null },
    ];
    const figures: ViewFigures[] = [];
    for (const { view, path, cookie } of views) {
      for (const device of DEVICES) {
        report(`dashboard: ${view}, ${device}`);
        const runs: Scores[] = [];
        for (let i = 0; i < rounds; i += 1)
          runs.push(await runLighthouse(demo.base_url + path, { device, cookie, folder }));
        figures.push({ view, device, ...middleOf(runs) });
      }
    }
    return { ...scripts, views: figures };
  } finally {
    if (start.processes().length > 0) {
      start.signalGroup('SIGINT');
      await untilGone(start);
    }
    cleanUp();
  }
}

/** Loads the first view with an empty cache, until it is shown and nothing more is fetched. */
async function measureScripts(browser: Browser, baseUrl: string) {
  const { page, close } = await openPage(browser, baseUrl);
  const sizes: Promise<number>[] = [];
  const note = (request: Request) => {
    if (request.resourceType() !== 'script') return;
    sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
  };
  page.on('requestfinished', note);
  await page.goto('/', { waitUntil: 'networkidle' });
  await untilLoaded(page);
  // A later size could not be read, because the page closes.
  page.off('requestfinished', note);
  const bytes = await Promise.all(sizes);
  await close();
  return { script_bytes: bytes.reduce((sum, size) => sum + size, 0), script_files: bytes.length };
}

/** Signs in through the page. Returns the session's cookie. */
async function signIn(browser: Browser, baseUrl: string): Promise<string> {
  const { page, context, close } = await openPage(browser, baseUrl, { as: 'Demo caller 1' });
  await untilLoaded(page);
  const cookies = await context.cookies(baseUrl);
  await close();
  if (cookies.length === 0) throw new Error('the sign-in left no cookie');
  return cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
}

const middleOf = (runs: Scores[]): Scores => ({
  scores: Object.fromEntries(
    CATEGORIES.map((category) => [category, median(runs.map(({ scores }) => scores[category]))]),
  ) as Scores['scores'],
  lost: [...new Set(runs.flatMap(({ lost }) => lost))],
});

function goalsOf({ script_bytes, views }: DashboardFigures): Goal[] {
  const lowest = (device: Device) =>
    Math.min(...views.filter((view) => view.device === device).flatMap(({ scores }) => Object.values(scores)));
  return [
    atMost('JavaScript of the first load of the page, KB', SCRIPT_GOAL_KB, script_bytes / 1_000),
    ...DEVICES.map((device) => atLeast(`lowest score of Lighthouse, ${device}`, SCORE_GOAL, lowest(device))),
  ];
}

function describe({ script_bytes, script_files, views }: DashboardFigures): string {
  const lost = views.flatMap(({ view, device, lost }) =>
    lost.length > 0 ? [`${view}, ${device}: ${lost.join('; ')}`] : [],
  );
  const table = toTable(
    ['the page', 'value'],
    [
      [`JavaScript of the first load, KB in ${script_files} files`, round(script_bytes / 1_000)],
      ...views.map(({ view, device, scores }) => [
        `Lighthouse ${device}, ${view}: ${Object.keys(scores).join(' / ')}`,
        Object.values(scores).join(' / '),
      ]),
    ],
  );
  return [table, ...(lost.length > 0 ? ['', 'Audits that cost points:', ...lost] : [])].join('\n');
}
