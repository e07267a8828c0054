import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { readOnly } from '../../app/read-search.ts';
import { signedInRoute } from '../../app/root-route.tsx';

export type QueryLanguage = 'typed' | 'sql';
export type ResultView = 'table' | 'chart';

export interface QuerySearch {
  readonly language: QueryLanguage;
  readonly text?: string | undefined;
  readonly view: ResultView;
}

const textOf = (value: unknown): string | undefined =>
  value === undefined || value === null || value === '' ? undefined : String(value);

const queryRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/query',
  validateSearch: readOnly(
    ({ language, text, view }): QuerySearch => ({
      language: language === 'sql' ? 'sql' : 'typed',
      view: view === 'chart' ? 'chart' : 'table',
      // The router parses a text that is JSON into an object.
      text: typeof text === 'object' && text !== null ? JSON.stringify(text, null, 2) : textOf(text),
    }),
  ),
  component: lazyPage(() => import('./query-page.tsx'), 'QueryPage'),
});

export const queryRoutes = [queryRoute] as const;
