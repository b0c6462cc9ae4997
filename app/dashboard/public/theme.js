// Before the first paint, so that a page in the chosen colours does not begin in the others.
try {
  const theme = localStorage.getItem('theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {}
// Before Zod is loaded, which else tries whether it may compile its schemas: the page's policy forbids and reports it.
globalThis.__zod_globalConfig = { jitless: true };
