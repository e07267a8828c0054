import type { JobOptions, PageOptions, Route } from '../../core/model/job.ts';
import { type CompiledPattern, compileUrlPattern, costlyPart } from './pattern.ts';
import { MAX_URL_STEPS } from './scope.ts';

/** A pattern of a route that cannot be used. */
export interface RouteProblem {
  readonly field: string;
  readonly message: string;
}

type FindRoute = (url: string) => Route | null;

/** By the list of a job's options, which lives as long as the job is worked on in this process or thread. */
const compiled = new WeakMap<readonly Route[], FindRoute>();
const NO_ROUTES: readonly Route[] = [];

/** What is wrong with the patterns of routes; empty when all can be used. */
export function routeProblems(routes: readonly Pick<Route, 'match'>[]): RouteProblem[] {
  return routes.flatMap(({ match }, at) =>
    match.flatMap((pattern, index) => {
      const result = costlyPart(pattern) ?? compileUrlPattern(pattern);
      return 'message' in result ? [{ field: `routes.${at}.match.${index}`, message: result.message }] : [];
    }),
  );
}

/** The first route of the job that a URL matches; null when there is none. */
export function routeOf({ routes = NO_ROUTES }: Pick<JobOptions, 'routes'>, url: string): Route | null {
  if (routes.length === 0) return null;
  let find = compiled.get(routes);
  if (find === undefined) {
    find = compileRoutes(routes);
    compiled.set(routes, find);
  }
  return find(url);
}

function compileRoutes(routes: readonly Route[]): FindRoute {
  const tests = routes.map((route) => ({
    route,
    patterns: route.match
      .map(compileUrlPattern)
      .filter((result): result is CompiledPattern => !('message' in result)),
  }));
  return (url) => {
    const steps = { left: MAX_URL_STEPS };
    return tests.find(({ patterns }) => patterns.some(({ test }) => test(url, steps)))?.route ?? null;
  };
}

/** How a page of the job is fetched and read: the options of its route in place of those of the job. */
export function pageOptionsFor<P extends Pick<PageOptions, 'formats' | 'extract'>>(
  options: Pick<JobOptions, 'routes'> & { readonly page: P },
  url: string,
): P {
  const route = routeOf(options, url);
  if (route === null) return options.page;
  const { page } = options;
  const { render, ...rest } = route.page;
  const shown = 'render' in page ? (page.render as PageOptions['render']) : null;
  const merged = { ...shown, ...render };
  // Plain HTTP shows no page, whatever the other pages of the job need.
  const wish = rest.engine === 'http' || Object.keys(merged).length === 0 ? null : merged;
  return { ...page, ...rest, ...('render' in page ? { render: wish } : {}) };
}
