/**
 * The first file of the web page. It lets the browser draw the document before anything heavy runs, then loads the app.
 */
import './style.css';

/** Time of the last reload because of a missing file, milliseconds. */
const RENEWED = 'renewed';
const RENEWED_AGAIN_MS = 60_000;

// A new build has other file names, so a tab of the old one cannot load its remaining files. A reload loads the new
// build; unsaved input asks first. Only once: a file that is still missing is another fault, which its view shows.
window.addEventListener('vite:preloadError', () => void renew());

async function renew(): Promise<void> {
  if (Date.now() - Number(sessionStorage.getItem(RENEWED)) < RENEWED_AGAIN_MS) return;
  // A service that does not answer has no newer build.
  const { ok } = await fetch(location.href, { method: 'HEAD', headers: { accept: 'text/html' } }).catch(Response.error);
  if (!ok) return;
  sessionStorage.setItem(RENEWED, String(Date.now()));
  location.reload();
}

const start = () => void import('./app.tsx').then(({ startPage }) => setTimeout(startPage));

// A tab in the background draws nothing until it is visible.
if (document.visibilityState === 'hidden') start();
else requestAnimationFrame(() => setTimeout(start));
