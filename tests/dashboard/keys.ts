/** The page by keyboard: moves the focus by Tab, then presses or types. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { until } from '../harness/edge/until.ts';

/** More Tabs than any view has between two related controls. */
const MOST_TABS = 40;
/** The name of an element: its label, or its text without a hidden mark. */
const NAME_OF = `((one) => one.getAttribute('aria-label') ?? one.labels?.[0]?.textContent
  ?? [...one.childNodes].map((part) => (part.ariaHidden === 'true' ? '' : part.textContent)).join('').trim())`;
const FOCUSED = `document.activeElement === document.body ? 'nothing' : ${NAME_OF}(document.activeElement)`;
const CONTROLS = 'a[href], button:enabled, input:enabled, select:enabled, textarea:enabled, summary, [tabindex="0"]';

/** The name of the focused element, or "nothing". */
export const focused = (page: Page) => page.evaluate<string>(FOCUSED);

export const untilFocused = (page: Page, name: string) =>
  until(`the focus is on ${name}`, async () => (await focused(page)) === name);

/** Waits until Tab can lead to one of these: the page may still load it, or have disabled it. */
async function untilReachable(page: Page, names: string[]): Promise<void> {
  const look = `[...document.querySelectorAll('${CONTROLS}')].some((one) => one.checkVisibility()
    && !one.closest('[aria-hidden=true]') && ${JSON.stringify(names)}.includes(${NAME_OF}(one)))`;
  await until(`Tab can lead to ${names.join(' or ')}`, () => page.evaluate<boolean>(look));
}

/** Presses Tab until one of these has the focus. */
export async function tabTo(page: Page, ...names: string[]): Promise<void> {
  await untilReachable(page, names);
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

/** Moves the focus to a field, and replaces its text. */
export async function typeInto(page: Page, name: string, text: string): Promise<void> {
  await untilReachable(page, [name]);
  // A focused heading can have the same name.
  if (!(await page.evaluate<boolean>("document.activeElement.matches('input, textarea')"))) {
    await page.keyboard.press('Tab');
  }
  await tabTo(page, name);
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(text);
}
