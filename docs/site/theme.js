// Runs before the first paint, so that a page is never shown in the wrong theme for a moment.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem('theme');
  } catch {
    // A browser that keeps nothing follows the theme of the system.
  }
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
})();
