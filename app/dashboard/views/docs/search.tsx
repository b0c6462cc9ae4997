/** The field that searches the guide. Enter leads to the first result. */
import { useMemo, useRef, useState } from 'react';
import { CONTROL } from '../../parts/ui.tsx';

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

/** A part of the guide with an id of its own, such as a heading with its text, a route or an error. */
interface Part {
  id: string;
  title: string;
  text: string;
}

interface Found extends Part {
  /** The text around the first word. */
  excerpt: string;
}

const MOST = 12;
/** Characters of an excerpt before and after the word. */
const [BEFORE, AFTER] = [40, 90];

function readParts(guide: Element): Part[] {
  const parts: Part[] = [];
  for (const element of guide.querySelectorAll('h2, h3, summary, p, li, tr, pre, caption')) {
    if (element.closest('nav')) continue;
    const words = element.matches('tr')
      ? [...element.children].map((cell) => cell.textContent).join(' · ')
      : element.textContent;
    const text = (words ?? '').replace(/\s+/g, ' ').trim();
    const id = element.matches('h2, summary') ? element.parentElement?.id : element.matches('h3, tr') ? element.id : '';
    if (id)
      parts.push({ id, title: element.matches('tr') ? (element.children[1]?.textContent ?? '') : text, text: '' });
    const last = parts.at(-1);
    if (last && (!id || element.matches('tr'))) last.text += `${text} `;
  }
  return parts;
}

/** As people type it: of the same length, with straight apostrophes. */
const plain = (text: string): string => text.toLowerCase().replaceAll('’', "'");

/** The parts that have all the words: titles before texts, and the fields of schemas last. */
function find(parts: readonly Part[], sought: string): Found[] {
  const words = plain(sought).split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const hasAll = (text: string) => words.every((word) => plain(text).includes(word));
  const rankOf = ({ id, title }: Part) => (id.startsWith('schema-') ? 2 : hasAll(title) ? 0 : 1);
  return parts
    .filter(({ title, text }) => hasAll(`${title} ${text}`))
    .sort((a, b) => rankOf(a) - rankOf(b))
    .slice(0, MOST)
    .map((part) => ({ ...part, excerpt: excerptOf(part.text, words) }));
}

function excerptOf(text: string, words: string[]): string {
  const places = words.map((word) => plain(text).indexOf(word)).filter((place) => place >= 0);
  const place = Math.min(text.length, ...places);
  // Whole words only.
  const from = place > BEFORE && places.length > 0 ? text.indexOf(' ', place - BEFORE) + 1 : 0;
  const to = from + BEFORE + AFTER < text.length ? text.lastIndexOf(' ', from + BEFORE + AFTER) : text.length;
  return `${from > 0 ? '… ' : ''}${text.slice(from, to).trim()}${to < text.length ? ' …' : ''}`;
}
