/** Colours code once the languages are loaded. Without them it is plain. */

/** Longer texts, such as results, are no code to read. */
const MOST_CHARACTERS = 10_000;

/** `code`: an element with this text and nothing else. Returns a function that takes the colours away. */
export function colour(code: Element | null, text = code?.textContent ?? ''): () => void {
  let isGone = false;
  let end = () => {};
  if (code && text.length <= MOST_CHARACTERS && 'highlights' in CSS) {
    import('./codeColours.ts').then(
      ({ colourCode }) => {
        if (!isGone) end = colourCode(code, text);
      },
      () => undefined,
    );
  }
  return () => {
    isGone = true;
    end();
  };
}
