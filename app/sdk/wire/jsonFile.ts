/** The value of a JSON file's text. Editors of Windows begin one with a byte order mark. Throws SyntaxError. */
export function parseJsonFile(text: string): unknown {
  return JSON.parse(text.replace(/^\uFEFF/, ''));
}
