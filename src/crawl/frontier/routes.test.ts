import { describe, expect, it } from 'vitest';
import type { PageOptions, Route } from '../../core/model/job.ts';
import { pageOptionsFor, routeOf, routeProblems } from './routes.ts';

const route = (match: string, page: Route['page'] = {}): Route => ({
  match: [match],
  keep: true,
  follow: true,
  page,
});
const page = {
  engine: 'auto',
  formats: ['metadata'],
  extract: null,
  render: { wait: { ms: 5 } },
} as unknown as PageOptions;
const url = (path: string) => `https://site.test${path}`;

describe('the route of a URL', () => {
  it('is the first that matches', () => {
    const routes = [route('/a/b*'), route('/a/*'), route('re:/c$')];
    const found = (path: string) => routeOf({ routes }, url(path))?.match[0] ?? null;
    expect(['/a/bc', '/a/c', '/x/c', '/x'].map(found)).toEqual(['/a/b*', '/a/*', 're:/c$', null]);
    expect(routeOf({}, url('/a'))).toBeNull();
  });
});

describe('the options of a page', () => {
  it('are those of the job, but for what its route sets', () => {
    const routes = [
      route('/p/*', { formats: ['markdown'], render: { scroll: {} } }),
      route('/h/*', { engine: 'http' }),
    ];
    expect(pageOptionsFor({ page, routes }, url('/x'))).toBe(page);
    expect(pageOptionsFor({ page, routes }, url('/p/1'))).toEqual({
      ...page,
      formats: ['markdown'],
      render: { wait: { ms: 5 }, scroll: {} },
    });
    expect(pageOptionsFor({ page, routes }, url('/h/1'))).toMatchObject({ engine: 'http', render: null });
  });
});

it('patterns that cannot be used are named by their place', () => {
  expect(routeProblems([{ match: ['/a/*'] }, { match: ['/b', 're:('] }])).toEqual([
    { field: 'routes.1.match.1', message: expect.stringContaining('missing closing') },
  ]);
});
