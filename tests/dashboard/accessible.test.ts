/** Every view of the page: accessible, wide and narrow, light and dark; with one first-level heading and no errors. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { untilLoaded } from './browser.ts';
import { assertAccessibleInEveryLook } from './looks.ts';
import { ROUTES } from './routes.ts';
import { type Data, makeData, type Scene, scenesOf } from './scenes.ts';
import { useSite } from './site.ts';

const STEPS = ['Details', 'Schemas', 'Price', 'Endpoint', 'Signing key', 'Test', 'Sign'];
const TABS = ['Overview', 'Calls', 'Disputes', 'Edit', 'Test', 'Manage'];
/** Scenes that the steps and tabs include, and the guide, which docs.test.ts checks with open routes. */
const ELSEWHERE = ['creator-listing', 'creator-new', 'creator-received', 'docs', 'docs-route'];
const NO_VIEW = 'This page does not exist';

/**
 * Opens an address as a link in the page does, because a load takes longer than all checks. An address without a view is
 * between the two, so that the old view is gone when the new one is there.
 */
async function follow(page: Page, path: string): Promise<void> {
  const between = page.getByRole('heading', { level: 1, name: NO_VIEW });
  await page.keyboard.press('Escape');
  await page.evaluate("history.pushState(null, '', '/none')");
  await between.waitFor();
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
  await between.waitFor({ state: 'detached' });
  await untilLoaded(page);
}

describe('every view is accessible in every theme and size', function () {
  this.timeout(1_800_000);
  const site = useSite();
  let data: Data;
  before(async () => {
    data = await makeData(site.visitor, site.dataDir);
  });

  const visit = (as: Scene['as']) =>
    site.visit({ as }, async (page) => {
      // The page reloads whoever comes to /verify from another view, whose policy allows fewer nodes.
      await page.goto('/verify');
      const scenes = scenesOf(data).filter((scene) => scene.as === as && !ELSEWHERE.includes(scene.name));
      for (const { name, path, act } of scenes) {
        await follow(page, path);
        expect(await page.getByRole('heading', { level: 1 }).count(), name).to.equal(1);
        await act?.(page);
        await assertAccessibleInEveryLook(page);
      }
    });

  it('and is among these', () => {
    const paths = scenesOf(data).map(({ path }) => path.replace(/[?#].*/, ''));
    const isShown = (route: string) =>
      paths.some((path) => new RegExp(`^${route.replace(/\$\w+/g, '[^/]+')}$`).test(path));
    expect(ROUTES.filter((route) => !isShown(route))).to.deep.equal([]);
  });

  for (const as of [undefined, 'Demo caller 1', 'Demo creator A', 'Demo admin'] as const)
    it(`to ${as ?? 'a visitor'}`, () => visit(as));

  it('to a creator: every tab of a listing, and every step of a new one', () =>
    site.visit({ as: 'Demo creator A' }, async (page) => {
      await page.goto(`/creator/${data.agentId}`);
      for (const tab of TABS) {
        await page.getByRole('tab', { name: tab }).click();
        await untilLoaded(page);
        await assertAccessibleInEveryLook(page);
      }
      await follow(page, '/creator/new');
      const steps = page.getByRole('navigation', { name: 'Steps' });
      for (const step of STEPS) {
        await steps.getByRole('button', { name: new RegExp(`^${step}\\b`) }).click();
        await page.getByRole('heading', { level: 2, name: step, exact: true }).waitFor();
        await untilLoaded(page);
        await assertAccessibleInEveryLook(page);
      }
    }));
});
