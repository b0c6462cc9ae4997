/**
 * `npm run screenshots`: takes every view of the page on a phone and a desktop, light and dark, signed in as the right
 * person. It uses its own marketplace with some activity.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Browser, Route } from 'playwright-core';
import { launchBrowser, openPage, type Person, signInAs, untilLoaded } from '../tests/dashboard/browser.ts';
import { makeData, type Scene, scenesOf } from '../tests/dashboard/scenes.ts';
import { createVisitor } from '../tests/journey/visitor.ts';
import { cleanUp, newDirectory, startNetwork } from '../tests/local/start.ts';
import { runScript } from './options.ts';

interface Options {
  out: string;
  only?: string;
}

const FORMS = [
  { form: 'desktop-light', phone: false, dark: false },
  { form: 'desktop-dark', phone: false, dark: true },
  { form: 'phone-light', phone: true, dark: false },
  { form: 'phone-dark', phone: true, dark: true },
];

/** The guide is longer than anybody can look at. */
const MOST_PIXELS = 6_000;
/** Time for animations to end before a screenshot. */
const SETTLE_MS = 400;

/** A local marketplace names no operator, a public one does. */
async function nameOperator(route: Route): Promise<void> {
  const response = await route.fetch();
  const json = await response.json();
  json.result.data.operator_contact = 'mailto:support@example.org';
  await route.fulfill({ response, json });
}

async function takeAll(browser: Browser, baseUrl: string, scenes: Scene[], out: string): Promise<void> {
  for (const { form, ...look } of FORMS) {
    // One browser and one sign-in per person.
    for (const person of new Set(scenes.map(({ as }) => as))) {
      const opened = await openPage(browser, baseUrl, look);
      const { page, faults } = opened;
      await page.route('**/trpc/config.get', nameOperator);
      await page.goto('/');
      if (person) await signInAs(page, person satisfies Person);
      for (const scene of scenes.filter(({ as }) => as === person)) {
        await page.goto(scene.path);
        await untilLoaded(page);
        await scene.act?.(page);
        // Browsers draw their scrollbar there, and Chromium hides it in a picture.
        await page.evaluate("document.documentElement.style.scrollbarGutter = 'auto'");
        if (!scene.isWindow) await page.evaluate('scrollTo(0, 0)');
        await page.waitForTimeout(SETTLE_MS);
        const { width, height } = (await page.evaluate(
          '({ width: document.documentElement.clientWidth, height: document.documentElement.scrollHeight })',
        )) as { width: number; height: number };
        const clip = { x: 0, y: 0, width, height: Math.min(height, MOST_PIXELS) };
        const part = scene.isWindow ? {} : { fullPage: true, clip };
        await page.screenshot({ path: join(out, `${scene.name}-${form}.png`), ...part });
        console.log(`${scene.name}-${form}.png${faults.length > 0 ? `: ${faults.splice(0).join('; ')}` : ''}`);
      }
      await opened.close();
    }
  }
}

async function takeScreenshots({ out, only }: Options): Promise<void> {
  mkdirSync(out, { recursive: true });
  const dataDir = newDirectory();
  try {
    console.log('Starting a marketplace ...');
    const demo = await startNetwork(dataDir).ready;
    const visitor = createVisitor(demo, dataDir);
    const scenes = scenesOf(await makeData(visitor, dataDir)).filter(({ name }) => !only || name.includes(only));
    const browser = await launchBrowser();
    try {
      await takeAll(browser, demo.base_url, scenes, out);
    } finally {
      await browser.close();
    }
  } finally {
    cleanUp();
  }
}

await runScript(
  new Command('npm run screenshots --')
    .description('Takes screenshots of every view with Chromium, for phone and desktop, light and dark.')
    .option('--out <folder>', 'folder for the pictures', '.local/screenshots')
    .option('--only <text>', 'only views with this text in their name')
    .action(takeScreenshots),
);
