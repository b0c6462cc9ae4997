/** The text of a file. PowerShell writes UTF-16, and editors of Windows begin UTF-8 with a byte order mark. */
export function textOfFile(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const encoding = !isUtf16 ? 'utf-8' : first === 0xff ? 'utf-16le' : 'utf-16be';
  return new TextDecoder(encoding).decode(bytes);
}

/** The value of a JSON file. Throws SyntaxError. */
export function parseJsonFile(file: string | Uint8Array): unknown {
  return JSON.parse(typeof file === 'string' ? file.replace(/^\uFEFF/, '') : textOfFile(file));
}
