/** Keeps API keys, webhook secrets, key files and the keys in URLs out of messages. */

/** Around a pasted text. `trim` knows only some of them. */
const INVISIBLE = '[\\s\\u200B-\\u200F\\u2060\\uFEFF]+';
const OUTER = new RegExp(`^${INVISIBLE}|${INVISIBLE}$`, 'g');
/** Docker passes the quotes of a file of settings on. */
const IN_QUOTES = /^(["'])(.*)\1$/s;

/** A key without what a file, its settings or a clipboard add around it. */
export function bareKey(given: string): string {
  return given.replace(OUTER, '').replace(IN_QUOTES, '$2').replace(OUTER, '');
}

/**
 * The bare key; undefined if nothing is left. Throws TypeError, without the key, for a character that no key has: `fetch`
 * would print the whole key in its own error.
 */
export function checkedApiKey(given: string | undefined): string | undefined {
  const key = bareKey(given ?? '').replace(/^Bearer\s+/i, '');
  if (!key) return undefined;
  const wrong = key.search(/[^!-~]/);
  if (wrong < 0) return key;
  throw new TypeError(`The API key has a wrong character at position ${wrong + 1} of ${key.length}. Copy it again.`);
}

/**
 * The marketplace's address without a trailing slash, since paths are appended to it. Throws TypeError, without a secret,
 * for text that is not such an address, and for one with a password or key: messages and logs name the address.
 */
export function checkedUrl(given: string | undefined): string {
  const url = bareKey(given ?? '');
  if (!url) throw new TypeError('Give baseUrl, or set MARKETPLACE_URL.');
  if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url)) {
    const shown = JSON.stringify(withoutSecrets(url));
    throw new TypeError(`baseUrl must be a URL such as https://marketplace.example, not ${shown}.`);
  }
  if (/[?#\s]/.test(url) || withoutSecrets(url) !== url) {
    throw new TypeError('baseUrl must have no user name, password, query, fragment, space or key.');
  }
  return url.replace(/\/+$/, '');
}

/** Scheme and host of a URL for a message. A node's key is often in the rest. */
export function originOf(url: string): string {
  if (!URL.canParse(url)) return 'the given URL';
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

const SECRETS: [pattern: RegExp, shown: string][] = [
  [/\bcrtx_(live|test)_([0-9A-Za-z]{8})_[0-9A-Za-z]+/g, 'crtx_$1_$2_…'],
  [/\bwhsec_[0-9A-Za-z+/=]+/g, 'whsec_…'],
  // The bytes of a key file.
  [/\[?\s*\d{1,3}(?:\s*,\s*\d{1,3}){31,}\s*\]?/g, '[…]'],
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/?#"']*@/gi, '$1'],
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s?#"']*\?)[^\s"']+/gi, '$1…'],
];

/** A message of a lower layer, to be printed. The id of a key stays, so that its owner recognises it. */
export function withoutSecrets(text: string): string {
  return SECRETS.reduce((shown, [pattern, replacement]) => shown.replace(pattern, replacement), text);
}
