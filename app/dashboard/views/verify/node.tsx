/** The URL of the node that the visitor chooses. */

/** The URLs that this page's CSP allows. The browser refuses all others silently. */
const MAY_BE_ASKED = /^(https:\/\/[^/]|http:\/\/(127\.0\.0\.1|localhost)(:|\/|$))/;

/** The fault of the URL; null if it is usable. */
export function nodeFault(text: string): string | null {
  if (!URL.canParse(text)) return 'It must be a URL, such as https://api.mainnet-beta.solana.com';
  if (MAY_BE_ASKED.test(text)) return null;
  return 'This page can ask https nodes, and http ones on this computer.';
}
