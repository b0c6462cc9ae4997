/** One view in its looks: wide and narrow, light and dark. */
import type { Page } from 'playwright-core';
import { assertAccessible, DESKTOP, PHONE } from './browser.ts';

/** Two frames, in which what the first begins is under way, and the end of all that ends by itself. */
const SETTLED = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))).then(() =>
  Promise.allSettled(
    document.getAnimations()
      .filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity)
      .map(({ finished }) => finished),
  )).then(() => undefined)`;

/** Each size and each theme once: colours do not depend on the size. What is open on the page stays open. */
const LOOKS = [
  { size: PHONE, colorScheme: 'dark' },
  { size: DESKTOP, colorScheme: 'light' },
] as const;

/** Nothing in any of them keeps somebody out. */
export async function assertAccessibleInEveryLook(page: Page): Promise<void> {
  for (const { size, colorScheme } of LOOKS) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    // Colours on their way from one scheme to the other are of neither.
    await page.evaluate(SETTLED);
    await assertAccessible(page);
  }
}
