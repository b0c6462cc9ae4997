/** One view in every look that it has: wide and narrow, light and dark. */
import type { Page } from 'playwright-core';
import { assertAccessible, DESKTOP, PHONE } from './browser.ts';

/** Two frames, in which what the first begins is under way, and the end of all that ends by itself. */
const SETTLED = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))).then(() =>
  Promise.allSettled(
    document.getAnimations()
      .filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity)
      .map(({ finished }) => finished),
  )).then(() => undefined)`;

/** Nothing in any of them keeps somebody out. What is open on the page stays open. */
export async function assertAccessibleInEveryLook(page: Page): Promise<void> {
  for (const size of [PHONE, DESKTOP]) {
    await page.setViewportSize(size);
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      // Colours on their way from one scheme to the other are of neither.
      await page.evaluate(SETTLED);
      await assertAccessible(page);
    }
  }
}
