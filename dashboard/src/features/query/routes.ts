import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { signedInRoute } from '../../app/root-route.tsx';

export type QueryLanguage = 'typed' | 'sql';
export type ResultView = 'table' | 'chart';

export interface QuerySearch {
  readonly language: QueryLanguage;
  readonly text?: string;
  readonly view: ResultView;
}

const queryRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/query',
  validateSearch: ({ language, text, view }: Record<string, unknown>): QuerySearch => ({
    language: language === 'sql' ? 'sql' : 'typed',
    view: view === 'chart' ? 'chart' : 'table',
    ...(typeof text === 'string' && text !== '' && { text }),
  }),
  component: lazyPage(() => import('./query-page.tsx'), 'QueryPage'),
});

export const queryRoutes = [queryRoute] as const;
