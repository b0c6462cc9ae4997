/**
 * The first file of the page. It lets the browser draw the document before any large script runs, then loads the app.
 */
import './style.css';

/** Time of the last reload because of a missing file, milliseconds. */
const RENEWED = 'renewed';
const RENEWED_AGAIN_MS = 60_000;

// A new build has other file names, so an old tab cannot load its remaining files. A reload loads the new build. The
// browser asks first if input is unsaved. Only one reload: a file that is still missing has another cause.
window.addEventListener('vite:preloadError', () => void renew());

async function renew(): Promise<void> {
  if (Date.now() - Number(sessionStorage.getItem(RENEWED)) < RENEWED_AGAIN_MS) return;
  // If the service does not answer, a reload cannot help.
  const { ok } = await fetch(location.href, { method: 'HEAD', headers: { accept: 'text/html' } }).catch(Response.error);
  if (!ok) return;
  sessionStorage.setItem(RENEWED, String(Date.now()));
  location.reload();
}

function start(): void {
  document.head.append(document.querySelector<HTMLTemplateElement>('#later')!.content);
  void import('./app.tsx').then(({ startPage }) => setTimeout(startPage));
}

// A background tab gets no animation frames.
if (document.visibilityState === 'hidden') start();
else requestAnimationFrame(() => setTimeout(start));
