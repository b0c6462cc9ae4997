/** The field that searches the guide. Enter leads to the first result. */
import { useMemo, useRef, useState } from 'react';
import { CONTROL } from '../../parts/ui.tsx';
import { find, readParts } from './find.ts';

export function GuideSearch({ guide }: { guide: Element }) {
  // The search over all pages leads here with its words.
  const [text, setText] = useState(() => new URLSearchParams(window.location.search).get('q') ?? '');
  const isUsed = text.trim() !== '';
  const parts = useMemo(() => (isUsed ? readParts(guide) : []), [guide, isUsed]);
  const found = find(parts, text);
  const field = useRef<HTMLInputElement>(null);
  return (
    <search>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const [first] = found;
          if (!first) return;
          window.location.hash = first.id;
          setText('');
          field.current?.blur();
        }}
      >
        <input
          ref={field}
          type="search"
          aria-label="Search the docs"
          placeholder="Search the docs"
          value={text}
          onChange={({ target }) => setText(target.value)}
          className={CONTROL}
        />
      </form>
      <p role="status" className="sr-only">
        {isUsed && (found.length === 1 ? '1 result' : `${found.length} results`)}
      </p>
      {isUsed && (
        <ul className="found">
          {found.map(({ id, title, excerpt }) => (
            <li key={id}>
              <a href={`#${id}`} onClick={() => setText('')}>
                {title}
                <span>{excerpt}</span>
              </a>
            </li>
          ))}
          {found.length === 0 && <li>Nothing has these words.</li>}
        </ul>
      )}
    </search>
  );
}
