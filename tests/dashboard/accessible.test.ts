/** Accessibility of every view of the page, wide and narrow, light and dark. */
import { untilLoaded } from './browser.ts';
import { assertAccessibleInEveryLook } from './looks.ts';
import { type Data, makeData, type Scene, scenesOf } from './scenes.ts';
import { useSite } from './site.ts';

const STEPS = ['Details', 'Schemas', 'Price', 'Endpoint', 'Signing key', 'Test', 'Sign'];
const TABS = ['Overview', 'Calls', 'Disputes', 'Edit', 'Test', 'Manage'];
/** Scenes that the steps and tabs include, and the guide, which docs.test.ts checks with open routes. */
const ELSEWHERE = ['creator-listing', 'creator-new', 'creator-received', 'docs-route'];

describe('every view is accessible in every theme and size', function () {
  this.timeout(1_800_000);
  const site = useSite();
  let data: Data;
  before(async () => {
    data = await makeData(site.visitor, site.dataDir);
  });

  const visit = (as: Scene['as']) =>
    site.visit({ as }, async (page) => {
      const scenes = scenesOf(data).filter((scene) => scene.as === as && !ELSEWHERE.includes(scene.name));
      for (const { path, act } of scenes) {
        await page.goto(path);
        await untilLoaded(page);
        await act?.(page);
        await assertAccessibleInEveryLook(page);
      }
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
      await page.goto('/creator/new');
      const steps = page.getByRole('navigation', { name: 'Steps' });
      for (const step of STEPS) {
        await steps.getByRole('button', { name: new RegExp(`^${step}\\b`) }).click();
        await page.getByRole('heading', { level: 2, name: step, exact: true }).waitFor();
        await untilLoaded(page);
        await assertAccessibleInEveryLook(page);
      }
    }));
});
