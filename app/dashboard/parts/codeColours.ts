/**
 * Colours code through the browser's highlights, which leave the document as it is: its text can be read, selected and
 * copied as before. `codeColours.css` has the colours.
 */
import bash from 'highlight.js/lib/languages/bash';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import typescript from 'highlight.js/lib/languages/typescript';
import { createLowlight } from 'lowlight';
import './codeColours.css';
import { languageOf } from './language.ts';

const lowlight = createLowlight({ bash, json, python, typescript });
type Node = ReturnType<typeof lowlight.highlight>['children'][number];

/** The name of a highlight for each class of the grammars. */
const COLOURS: [name: string, classes: RegExp][] = [
  ['code-comment', /^hljs-(comment|quote)$/],
  ['code-string', /^hljs-(string|regexp)$/],
  ['code-keyword', /^hljs-(keyword|built_in|literal)$/],
  ['code-name', /^hljs-(attr|variable|number|title)$/],
];

/** Colours the text in this element. Returns a function that takes the colours away. */
export function colourCode(element: Element, text: string): () => void {
  const node = element.firstChild;
  const grammar = languageOf(text)?.grammar;
  if (!grammar || !(node instanceof Text) || node.data !== text) return () => undefined;
  const coloured: [Highlight, Range][] = [];
  let at = 0;
  const visit = (part: Node, outer: string | undefined): void => {
    if (part.type === 'text') {
      const end = at + part.value.length;
      if (outer) {
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, end);
        coloured.push([highlightOf(outer).add(range), range]);
      }
      at = end;
    } else if (part.type === 'element') {
      const classes = part.properties.className as string[];
      const own = COLOURS.find(([, pattern]) => classes.some((one) => pattern.test(one)))?.[0];
      for (const child of part.children) visit(child, own ?? outer);
    }
  };
  for (const part of lowlight.highlight(grammar, text).children) visit(part, undefined);
  return () => {
    for (const [highlight, range] of coloured) highlight.delete(range);
  };
}

function highlightOf(name: string): Highlight {
  const known = CSS.highlights.get(name);
  if (known) return known;
  const made = new Highlight();
  CSS.highlights.set(name, made);
  return made;
}
