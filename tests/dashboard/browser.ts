/**
 * A real Chromium on a running marketplace. Every page opened here records its faults: script errors, console errors,
 * and violations of its content security policy.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { until } from '../harness/edge/until.ts';

/** Debian's binaries, best first: the headless shell takes half of the processor time. */
const DEBIAN = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'] as const;
export const { CHROMIUM = DEBIAN.find((path) => existsSync(path)) ?? DEBIAN[1] } = process.env;
export const BROWSER_ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 360, height: 740 };

/** Timeout of one step of a page, generous for a busy machine. */
const STEP_MS = 180_000;

export type Person = 'Demo caller 1' | 'Demo caller 2' | 'Demo creator A' | 'Demo creator B' | 'Demo admin';

export interface PageOptions {
  phone?: boolean;
  dark?: boolean;
  /** False turns scripts off. */
  scripts?: boolean;
  /** The person who is signed in before the test begins. */
  as?: Person;
}

/** The cookies and storage of each person who has signed in at a marketplace, with the time when they were last used. */
export type SignedIn = Map<Person, { state: Awaited<ReturnType<BrowserContext['storageState']>>; atMs: number }>;

/** Sign-ins are kept for so long: an unused session ends after 15 minutes. */
const KEPT_MS = 10 * 60_000;

export interface OpenedPage {
  page: Page;
  context: BrowserContext;
  /** Faults recorded so far. */
  faults: string[];
  close(): Promise<void>;
}

/** Returns false if there is no Chromium, so that its tests are skipped. Throws in continuous integration. */
export function requireChromium(): boolean {
  if (existsSync(CHROMIUM)) return true;
  const message = `there is no Chromium at ${CHROMIUM}: apt-get install chromium-headless-shell, or set CHROMIUM`;
  if (process.env.CI) throw new Error(message);
  console.log(`  ${message}: skipped`);
  return false;
}

/** `scrollbars` shows scrollbars with their desktop width. */
export function launchBrowser({ scrollbars = false } = {}): Promise<Browser> {
  const ignoreDefaultArgs = scrollbars ? ['--hide-scrollbars'] : [];
  return chromium.launch({ executablePath: CHROMIUM, args: BROWSER_ARGUMENTS, ignoreDefaultArgs });
}

/** Runs in the page, not in Node, like all text given to `evaluate`. */
const NOTE_REFUSALS = `document.addEventListener('securitypolicyviolation', (refused) =>
  noteRefusal(refused.blockedURI + ' by ' + refused.effectiveDirective + ' in ' + refused.sourceFile));`;

/** The console reports every 4xx response. They are no faults: the page shows them. */
const REFUSED_ANSWER = /^Failed to load resource: the server responded with a status of 4\d\d/;

/** A page with separate cookies and storage. A person in `signedIn` need not sign in again. */
export async function openPage(
  browser: Browser,
  baseUrl: string,
  options: PageOptions = {},
  signedIn: SignedIn = new Map(),
): Promise<OpenedPage> {
  const last = options.as && signedIn.get(options.as);
  const kept = last && Date.now() - last.atMs < KEPT_MS ? last.state : undefined;
  const context = await browser.newContext({
    baseURL: baseUrl,
    viewport: options.phone ? PHONE : DESKTOP,
    colorScheme: options.dark ? 'dark' : 'light',
    javaScriptEnabled: options.scripts ?? true,
    locale: 'en-GB',
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
    storageState: kept,
  });
  context.setDefaultTimeout(STEP_MS);
  const faults: string[] = [];
  await context.exposeFunction('noteRefusal', (text: string) => void faults.push(`the policy refused ${text}`));
  await context.addInitScript({ content: NOTE_REFUSALS });
  const page = await context.newPage();
  // The document first contains a server-rendered drawing, in which nothing works yet.
  const isThere = async () => {
    if (options.scripts !== false) await page.locator('#root[data-drawing]').waitFor({ state: 'detached' });
  };
  const [goto, reload] = [page.goto.bind(page), page.reload.bind(page)];
  page.goto = async (...to) => {
    const answer = await goto(...to);
    await isThere();
    return answer;
  };
  page.reload = async (...how) => {
    const answer = await reload(...how);
    await isThere();
    return answer;
  };
  page.on('pageerror', (error) => void faults.push(`an error: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    if (message.type() !== 'error' || REFUSED_ANSWER.test(message.text())) return;
    faults.push(`on the console: ${message.text()}`);
  });
  if (options.as && !kept) {
    await page.goto('/');
    await signInAs(page, options.as);
    signedIn.set(options.as, { state: await context.storageState(), atMs: Date.now() });
  }
  async function close(): Promise<void> {
    const used = options.as && signedIn.get(options.as);
    if (used) used.atMs = Date.now();
    // A route that still answers a poll of the page would throw.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
  }
  return { page, context, faults, close };
}

/** Signs in with the header's button and the wallet of that name. */
export async function signInAs(page: Page, name: Person): Promise<void> {
  await page.getByRole('banner').getByRole('button', { name: 'Connect wallet' }).click();
  await sign(page, name);
}

/** Chooses in the menu under the wallet's address. */
export async function chooseOwn(page: Page, name: string | RegExp): Promise<void> {
  await page.getByRole('banner').getByRole('button', { name: '…' }).click();
  await page.getByRole('menuitem', { name }).click();
}

export async function signOut(page: Page): Promise<void> {
  await chooseOwn(page, 'Disconnect');
  await page.getByRole('banner').getByRole('button', { name: 'Connect wallet' }).waitFor();
}

export const dialog = (page: Page) => page.getByRole('dialog');

/** Signs in the dialog, and waits until it closes. */
export async function sign(page: Page, name: string): Promise<void> {
  await dialog(page).getByRole('button', { name, exact: true }).click();
  await dialog(page).waitFor({ state: 'detached' });
}

/** The heading of a call's progress. */
export const progress = (page: Page, title: string) =>
  page.getByRole('region', { name: 'Progress' }).getByRole('heading', { name: title, exact: true });

/** Chooses to pay by this key instead of the wallet. */
export async function payByKey(page: Page, apiKey: string): Promise<void> {
  await page.getByRole('radio', { name: 'API key' }).check();
  await page.getByRole('textbox', { name: 'API key' }).fill(apiKey);
}

/** Clicks, and returns the file that the page saves. */
export async function download(page: Page, button: Locator): Promise<{ name: string; path: string; text: string }> {
  const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
  const path = await file.path();
  return { name: file.suggestedFilename(), path, text: readFileSync(path, 'utf8') };
}

/** Changes the JSON of each answer to these requests. */
// biome-ignore lint/suspicious/noExplicitAny: of any shape
export const changeAnswers = (page: Page, url: string | RegExp, change: (json: any) => void) =>
  page.route(url, async (route) => {
    const response = await route.fetch();
    const json = await response.json();
    change(json);
    await route.fulfill({ response, json });
  });

/** Waits until everything on the page has loaded. */
export async function untilLoaded(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await page.locator('main div.animate-pulse').first().waitFor({ state: 'detached' });
  await page.locator('main .animate-spin').first().waitFor({ state: 'detached' });
}

/** Keeps all texts that the page shows from now on, until a document replaces it. */
export const recordTexts = (page: Page) =>
  page.evaluate(`(globalThis.shown = []), new MutationObserver(() => shown.push(document.body.innerText))
    .observe(document.body, { childList: true, subtree: true, characterData: true })`);
export const recordedTexts = (page: Page) => page.evaluate<string[]>('shown');

/** Waits for a text that the page shows only for a moment. Call `recordTexts` before the action that shows it. */
export const untilShown = (page: Page, text: string) =>
  until(`the page shows ${text}`, async () => (await recordedTexts(page)).some((shown) => shown.includes(text)));

/** The script of axe. `AxeBuilder` would load it twice for each check, and run rules whose faults do not count here. */
const { source: AXE } = createRequire(createRequire(import.meta.url).resolve('@axe-core/playwright'))('axe-core');

/**
 * Waits until no finite animation runs: during the transition of a theme, colours belong to neither theme. Each starts
 * within two frames. The end of one can start another, because elements pass the colour that they inherit.
 */
const SETTLED = `(async () => {
  for (let running = [1]; running.length > 0; ) {
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));
    running = document.getAnimations()
      .filter(({ playState, effect }) => playState === 'running' && effect.getComputedTiming().endTime !== Infinity);
    await Promise.allSettled(running.map(({ finished }) => finished));
  }
})()`;

/** Serious faults, and headings that skip a level. No rule of these needs the style sheets, which axe would load again. */
const FAULTS_OF_AXE = `(() => {
  const { rules, tagExclude } = axe._audit;
  const counts = ({ id, impact }) => /serious|critical/.test(impact) || id === 'heading-order';
  const values = rules
    .filter((rule) => rule.enabled && counts(rule) && !rule.tags.some((tag) => tagExclude.includes(tag)))
    .map(({ id }) => id);
  return axe.run({ resultTypes: ['violations'], preload: false, runOnly: { type: 'rule', values } });
})().then(({ violations }) => violations.map(({ id, nodes }) =>
  id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' | ')))`;

/** Asserts that axe finds no serious fault, that no heading skips a level, and that nothing scrolls sideways. */
export async function assertAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(AXE);
  await page.evaluate(SETTLED);
  expect(await page.evaluate<string[]>(FAULTS_OF_AXE), page.url()).to.deep.equal([]);
  const hidden = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  expect(hidden, `${page.url()} is wider than its window`).to.be.at.most(0);
}
