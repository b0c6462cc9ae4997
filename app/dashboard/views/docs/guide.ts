/**
 * The guide's elements in the document, and what a script adds: copy buttons, the chosen language, the section in view,
 * and contents that close on a phone.
 */
import { languageOf } from '../../parts/language.ts';

/** Storage key of the language of code. */
const LANGUAGE = 'language';
const COPY = 'Copy';
const COPIED_MS = 1_500;

/** The guide, found before the view replaces it; null in the build and in other documents. */
export const guide = typeof document === 'undefined' ? null : document.querySelector<HTMLElement>('.guide');

for (const block of guide?.querySelectorAll('pre') ?? []) {
  if (block.closest('.code')) continue;
  const place = block.closest<HTMLElement>('.line') ?? document.createElement('div');
  place.classList.add('block');
  if (!place.contains(block)) block.replaceWith(place);
  if (!place.matches('.line')) place.dataset.language = languageOf(block.textContent ?? '')?.title ?? 'Text';
  place.append(block, copyButton());
}
for (const languages of guide?.querySelectorAll('.code > [role="radiogroup"]') ?? []) languages.after(copyButton());
if (guide) showLanguage(localStorage.getItem(LANGUAGE));

function copyButton(): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = COPY;
  button.className = 'copy';
  return button;
}

function showLanguage(language: string | null): void {
  for (const choice of guide?.querySelectorAll<HTMLInputElement>('.code input') ?? [])
    if (choice.value === language) choice.checked = true;
}

/** Applies a choice of language to all code, and keeps it in this browser. */
export function chooseLanguage(target: EventTarget): void {
  if (!(target instanceof HTMLInputElement) || target.type !== 'radio') return;
  localStorage.setItem(LANGUAGE, target.value);
  showLanguage(target.value);
}

/** Copies the visible block beside the pressed button. */
export async function copyCode(target: EventTarget): Promise<void> {
  if (!(target instanceof HTMLButtonElement) || !target.matches('.copy')) return;
  const blocks = [...(target.parentElement?.querySelectorAll('pre') ?? [])];
  await navigator.clipboard.writeText(blocks.find((block) => block.checkVisibility())?.textContent ?? '');
  target.textContent = 'Copied';
  setTimeout(() => {
    target.textContent = COPY;
  }, COPIED_MS);
}

/** The part of the window, below the header, in which a section counts as the current one. */
const READING = '-160px 0px -50% 0px';

/** Marks the section in view in the contents. Returns a function that stops it. */
export function followSections(): () => void {
  if (!guide) return () => undefined;
  const visible = new Set<Element>();
  const sections = [...guide.querySelectorAll('section[id]')];
  const routes = [...guide.querySelectorAll('#reference > details')];
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) visible.add(target);
        else visible.delete(target);
      }
      const current = sections.find((section) => visible.has(section));
      const route = current?.id === 'reference' && routes.find((one) => visible.has(one));
      if (current) mark((route && groupOf(route)) || current.id);
    },
    { rootMargin: READING },
  );
  for (const part of [...sections, ...routes]) observer.observe(part);
  return () => observer.disconnect();
}

/** The heading above a route of the reference. */
function groupOf(route: Element): string | undefined {
  let before = route.previousElementSibling;
  while (before && before.tagName !== 'H3') before = before.previousElementSibling;
  return before?.id;
}

function mark(id: string): void {
  const contents = guide?.querySelector<HTMLElement>('nav');
  for (const link of contents?.querySelectorAll<HTMLElement>('details a') ?? []) {
    if (link.getAttribute('href') !== `#${id}`) {
      link.removeAttribute('aria-current');
      continue;
    }
    link.setAttribute('aria-current', 'true');
    // Not scrollIntoView, which would scroll the window too.
    if (contents) contents.scrollTop = link.offsetTop - (contents.clientHeight - link.offsetHeight) / 2;
    const summary = contents?.querySelector('summary');
    if (summary) summary.textContent = link.textContent;
  }
}

/** A choice in the contents of a phone closes them. */
export function closeContents(target: EventTarget): void {
  const details = target instanceof Element && target.closest('a') ? target.closest('nav details') : null;
  details?.removeAttribute('open');
}
