// Runs before the first paint, so that the page does not start in the other theme.
try {
  const theme = localStorage.getItem('theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {}
// Set before Zod is loaded. Otherwise Zod tests if it may compile its schemas, which the page's policy forbids and
// reports.
globalThis.__zod_globalConfig = { jitless: true };
