/** A receipt that was pasted into the search, on its way to the view that verifies it, which is another document. */
const PLACE = 'receipt';
/** Longer ones are chosen as a file. Browsers keep about 5 MB. */
const MAX_CHARACTERS = 2_000_000;

/** The execution id of a pasted receipt; null for other texts. */
export function readPasted(text: string): string | null {
  if (!text.trimStart().startsWith('{') || text.length > MAX_CHARACTERS) return null;
  try {
    const { execution_id, result_hash } = JSON.parse(text);
    return typeof execution_id === 'string' && typeof result_hash === 'string' ? execution_id : null;
  } catch {
    return null;
  }
}

/** False if the browser does not keep it. */
export function keepPasted(receipt: string): boolean {
  try {
    sessionStorage.setItem(PLACE, receipt);
    return true;
  } catch {
    return false;
  }
}

/** Returns the kept receipt once. */
export function takePasted(): unknown {
  const kept = sessionStorage.getItem(PLACE);
  sessionStorage.removeItem(PLACE);
  return kept !== null && readPasted(kept) !== null ? JSON.parse(kept) : null;
}
