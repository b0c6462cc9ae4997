/** The page by its keyboard: the focus is moved by Tab, and what has it is pressed or typed into. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { until } from '../harness/edge/until.ts';

/** More than any view has between two controls that belong together. */
const MOST_TABS = 40;
const FOCUSED = `(() => {
  const { activeElement: one, body } = document;
  if (one === body) return 'nothing';
  return one.labels?.[0]?.textContent ?? one.getAttribute('aria-label') ?? one.textContent.trim();
})()`;

/** The name of what has the focus; "nothing" if nothing has it. */
export const focused = (page: Page) => page.evaluate<string>(FOCUSED);

export const untilFocused = (page: Page, name: string) =>
  until(`the focus is on ${name}`, async () => (await focused(page)) === name);

/** Presses Tab until one of these has the focus. */
export async function tabTo(page: Page, ...names: string[]): Promise<void> {
  const passed: string[] = [];
  while (!names.includes(await focused(page))) {
    passed.push(await focused(page));
    expect(passed, `no Tab leads to ${names.join(' or ')}: ${passed.join(' > ')}`).to.have.length.below(MOST_TABS);
    await page.keyboard.press('Tab');
  }
}

/** Moves the focus to a button or link, and presses it. */
export async function pressOn(page: Page, name: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('Enter');
}

/** Moves the focus to a field, and replaces what it holds. */
export async function typeInto(page: Page, name: string, text: string): Promise<void> {
  // A heading that has the focus may have the same name.
  if (!(await page.evaluate<boolean>("document.activeElement.matches('input, textarea')"))) {
    await page.keyboard.press('Tab');
  }
  await tabTo(page, name);
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(text);
}
