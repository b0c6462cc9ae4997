/** Which node the visitor wants to be asked. */

/** As the policy of this page has it; the browser refuses all others without a word. */
const MAY_BE_ASKED = /^(https:\/\/[^/]|http:\/\/(127\.0\.0\.1|localhost)(:|\/|$))/;

/** What is wrong with it; null where it can be asked. */
export function nodeFault(text: string): string | null {
  if (!URL.canParse(text)) return 'It must be a URL, such as https://api.mainnet-beta.solana.com';
  if (MAY_BE_ASKED.test(text)) return null;
  return 'This page can ask https nodes, and http ones on this computer.';
}
