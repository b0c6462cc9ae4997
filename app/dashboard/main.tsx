/**
 * The page's first file. It lets the browser draw what the document brought before anything heavy is run, then loads the
 * page itself.
 */
import './style.css';

/** When the page was last loaded anew because a part of it was gone, milliseconds. */
const RENEWED = 'renewed';
const RENEWED_AGAIN_MS = 60_000;

// A new build has other names, so that a tab of the old one finds its parts gone. Loaded anew it is of the new build; what
// is unsaved asks first. Once only: a part that is still not there is another fault, which its view shows.
window.addEventListener('vite:preloadError', () => void renew());

async function renew(): Promise<void> {
  if (Date.now() - Number(sessionStorage.getItem(RENEWED)) < RENEWED_AGAIN_MS) return;
  // A service that does not answer at all has nothing newer.
  const { ok } = await fetch(location.href, { method: 'HEAD', headers: { accept: 'text/html' } }).catch(Response.error);
  if (!ok) return;
  sessionStorage.setItem(RENEWED, String(Date.now()));
  location.reload();
}

const start = () => void import('./app.tsx').then(({ startPage }) => setTimeout(startPage));

// A tab in the background draws nothing until it is looked at.
if (document.visibilityState === 'hidden') start();
else requestAnimationFrame(() => setTimeout(start));
