// A classic script, so that it runs before the first paint: a remembered theme must not flash the other one.
// web/state/preferences.js keeps the choice; "auto" sets nothing and leaves it to prefers-color-scheme.
(() => {
  try {
    const { theme } = JSON.parse(localStorage.getItem('millrace.preferences') ?? '{}');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme;
  } catch {
    // Storage is forbidden or holds something else: the system's theme it is.
  }
})();
