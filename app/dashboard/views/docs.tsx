/**
 * The guide. The service writes it into the document, so that it can be read without a script. This view keeps those
 * elements, and adds copy buttons, a search, a mark of the section in view, and one choice of language for the whole
 * page.
 */
import { useRouterState } from '@tanstack/react-router';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { colour } from '../parts/colour.ts';
import { chooseLanguage, closeContents, copyCode, followSections, guide } from './docs/guide.ts';
import { GuideSearch } from './docs/search.tsx';

const findPlace = guide?.querySelector('.find');

export default function View() {
  const place = useRef<HTMLDivElement>(null);
  const [focused] = useState(() => (guide?.contains(document.activeElement) ? document.activeElement : null));
  const hash = useRouterState({ select: ({ location }) => location.hash });
  useLayoutEffect(() => {
    if (!guide) return;
    place.current?.replaceChildren(guide);
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  }, [focused]);
  useEffect(followSections, []);
  useEffect(() => {
    const ends = [...(guide?.querySelectorAll('pre > code') ?? [])].map((code) => colour(code));
    return () => {
      for (const end of ends) end();
    };
  }, []);
  useEffect(() => {
    const target = hash === '' ? null : document.getElementById(hash);
    if (!(target instanceof HTMLDetailsElement)) return;
    target.open = true;
    target.scrollIntoView();
  }, [hash]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: its buttons have both
    <div
      ref={place}
      onInput={({ target }) => chooseLanguage(target)}
      onClick={({ target }) => {
        closeContents(target);
        void copyCode(target);
      }}
    >
      {/* Where the service puts the guide. */}
      {typeof document === 'undefined' && '__GUIDE__'}
      {guide && findPlace && createPortal(<GuideSearch guide={guide} />, findPlace)}
    </div>
  );
}
