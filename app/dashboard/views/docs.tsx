/**
 * The guide. The service writes it into the document, so that it can be read without a script. This view keeps those
 * elements. It adds copy buttons, and applies a choice of language to the whole page.
 */
import { useRouterState } from '@tanstack/react-router';
import { type FormEvent, type MouseEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';

const COPY = 'Copy';
const COPIED_MS = 1_500;

/** The guide's element, found before the view replaces it; null in the build and in other documents. */
const guide = typeof document === 'undefined' ? null : document.querySelector('.guide');
for (const languages of guide?.querySelectorAll('.code > [role="radiogroup"]') ?? []) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = COPY;
  languages.after(button);
}

export default function View() {
  const place = useRef<HTMLDivElement>(null);
  const [focused] = useState(() => (guide?.contains(document.activeElement) ? document.activeElement : null));
  const hash = useRouterState({ select: ({ location }) => location.hash });
  useLayoutEffect(() => {
    if (!guide) return;
    place.current?.replaceChildren(guide);
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  }, [focused]);
  useEffect(() => {
    const target = hash === '' ? null : document.getElementById(hash);
    if (!(target instanceof HTMLDetailsElement)) return;
    target.open = true;
    target.scrollIntoView();
  }, [hash]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: its buttons have both
    <div ref={place} onInput={choose} onClick={copy}>
      {/* Where the service puts the guide. */}
      {typeof document === 'undefined' && '__GUIDE__'}
    </div>
  );
}

function choose({ target }: FormEvent<HTMLDivElement>): void {
  if (!(target instanceof HTMLInputElement)) return;
  for (const other of document.querySelectorAll<HTMLInputElement>(`.guide input[value="${target.value}"]`))
    other.checked = true;
}

async function copy({ target }: MouseEvent<HTMLDivElement>): Promise<void> {
  if (!(target instanceof HTMLButtonElement)) return;
  const blocks = [...(target.closest('.code')?.querySelectorAll('pre') ?? [])];
  await navigator.clipboard.writeText(blocks.find((block) => block.checkVisibility())?.textContent ?? '');
  target.textContent = 'Copied';
  setTimeout(() => {
    target.textContent = COPY;
  }, COPIED_MS);
}
