import { useSyncExternalStore } from 'react';

export type ThemeChoice = 'system' | 'light' | 'dark';
const STORED = 'scrapifie.theme';
const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  systemIsDark.addEventListener('change', listener);
  return () => {
    listeners.delete(listener);
    systemIsDark.removeEventListener('change', listener);
  };
}

const choice = (): ThemeChoice =>
  (document.documentElement.dataset.theme as ThemeChoice | undefined) ?? 'system';

export const useThemeChoice = (): ThemeChoice => useSyncExternalStore(subscribe, choice);

/** The theme that is shown, whichever way it was chosen. */
export const useThemeName = (): 'light' | 'dark' =>
  useSyncExternalStore(subscribe, () => {
    const chosen = choice();
    return chosen === 'system' ? (systemIsDark.matches ? 'dark' : 'light') : chosen;
  });

/** The page reads what is stored before its first paint (public/theme.js). */
export function chooseTheme(next: ThemeChoice): void {
  try {
    if (next === 'system') localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, next);
  } catch {
    // Without storage the choice lasts until the page is loaded again.
  }
  if (next === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  for (const listener of listeners) listener();
}
