/** One view in several looks: wide and narrow, light and dark. */
import type { Page } from 'playwright-core';
import { assertAccessible, DESKTOP, PHONE } from './browser.ts';

/** Each size and each theme once, because colours do not depend on the size. Open dialogs stay open. */
const LOOKS = [
  { size: PHONE, colorScheme: 'dark' },
  { size: DESKTOP, colorScheme: 'light' },
] as const;

/** Asserts that the view is accessible in each look. */
export async function assertAccessibleInEveryLook(page: Page): Promise<void> {
  for (const { size, colorScheme } of LOOKS) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    await assertAccessible(page);
  }
}
