import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { readOnly } from '../../app/read-search.ts';
import { signedInRoute } from '../../app/root-route.tsx';

const TABS = ['overview', 'doctor', 'log', 'settings'] as const;
export type SystemTab = (typeof TABS)[number];
const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LEVELS)[number];

export interface SystemSearch {
  readonly tab?: SystemTab;
  /** The least level of the lines in the log that are shown. */
  readonly level?: LogLevel;
  /** Text in lines of the log, or in names of settings. */
  readonly text?: string;
}

const systemRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/system',
  validateSearch: readOnly(({ tab, level, text }): SystemSearch => {
    const knownTab = TABS.find((name) => name === tab);
    const knownLevel = LEVELS.find((name) => name === level);
    return {
      ...(knownTab && { tab: knownTab }),
      ...(knownLevel && { level: knownLevel }),
      ...(typeof text === 'string' && text !== '' && { text }),
    };
  }),
  component: lazyPage(() => import('./system-page.tsx'), 'SystemPage'),
});

export const systemRoutes = [systemRoute] as const;
