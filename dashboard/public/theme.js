// Sets the theme before the first paint, so that a page in the dark theme does not flash in the light one.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem('scrapifie.theme');
  } catch {
    // Storage may be blocked; the system's theme is used then.
  }
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
})();
