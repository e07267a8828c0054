import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { extractPage } from '../../extract/scan/extract-page.ts';
import { compileRules, findTasks, type JobRules } from './find-tasks.ts';
import { keyOf, type RequestChanges, requestFor } from './read-request.fixture.ts';

/** What a page with this markup reports; with the rules of an earlier page where they are given. */
function find(html: string, changes: RequestChanges = {}, rules?: JobRules) {
  const request = requestFor({ ...changes, body: html });
  const extracted = extractPage({
    text: html,
    charset: 'utf-8',
    url: request.response.finalUrl,
    contentType: 'text/html',
    linkHeader: null,
    xRobotsTag: null,
    formats: ['metadata', 'links'],
  });
  return findTasks(request, extracted, rules ?? compileRules(request.job));
}

const link = (href: string, rel = '') => `<a href="${href}"${rel === '' ? '' : ` rel="${rel}"`}>x</a>`;
const decisions = (found: ReturnType<typeof find>) =>
  Object.fromEntries(found.tasks.map(({ url, rule }) => [new URL(url).pathname, rule]));
const rules = (changes: RequestChanges = {}) => compileRules(requestFor(changes).job);

describe('the links of a page', () => {
  it('become ready tasks one step deeper, found on this page', () => {
    const { tasks } = find(link('/next'));
    expect(tasks).toEqual([
      {
        kind: 'page',
        url: 'http://site.test/next',
        urlKey: keyOf('http://site.test/next'),
        hostKey: 'site.test',
        depth: 2,
        foundBy: 'link',
        foundOn: 7,
        state: 'ready',
        rule: null,
      },
    ]);
  });

  it('are resolved against where the page was found, not where it was looked for', () => {
    const { tasks } = find(link('b'), { response: { finalUrl: 'http://site.test/moved/a' } });
    expect(tasks.map(({ url }) => url)).toEqual(['http://site.test/moved/b']);
  });

  it('are reported once, however often and however spelled they stand there', () => {
    const { tasks } = find(link('/a') + link('/a#x') + link('http://SITE.test:80/a') + link('/b/../a'));
    expect(tasks).toHaveLength(1);
  });

  it('to the page itself are not reported', () => {
    expect(find(link('/page') + link('#top')).tasks).toEqual([]);
  });

  it('that cannot be fetched are passed over', () => {
    expect(find(link('mailto:a@site.test') + link('javascript:void 0') + link('http://[')).tasks).toEqual([]);
  });

  it('are not reported again by later pages of the same generation', () => {
    const known = rules();
    expect(find(link('/a') + link('/b'), {}, known).tasks).toHaveLength(2);
    const other = { task: { url: 'http://site.test/other', urlKey: keyOf('http://site.test/other') } };
    expect(find(link('/a') + link('/c'), other, known).tasks.map(({ url }) => url)).toEqual([
      'http://site.test/c',
    ]);
  });

  it('are reported again in a new generation', () => {
    find(link('/a'), {}, rules());
    expect(find(link('/a'), { generation: 1 }, rules({ generation: 1 })).tasks).toHaveLength(1);
  });

  it('of an error page are nothing the site means to show', () => {
    const html = `<link rel=canonical href="/original">${link('/a')}`;
    for (const statusCode of [404, 410, 500]) {
      expect(find(html, { response: { statusCode } })).toEqual({ tasks: [], duplicateOf: null });
    }
  });

  it.each(['scrape', 'batch'] as const)('of a %s are not followed', (kind) => {
    expect(find(link('/a'), { kind }).tasks).toEqual([]);
  });

  it('are each reported once over any sequence of pages', () => {
    const names = fc.constantFrom('a', 'b', 'c', 'd');
    fc.assert(
      fc.property(fc.array(fc.array(names, { maxLength: 6 }), { maxLength: 8 }), (pages) => {
        const known = rules();
        const reported = pages.flatMap(
          (hrefs) => find(hrefs.map((name) => link(`/${name}`)).join(''), {}, known).tasks,
        );
        expect(reported.map(({ url }) => new URL(url).pathname.slice(1)).toSorted()).toEqual(
          [...new Set(pages.flat())].toSorted(),
        );
      }),
    );
  });
});

describe('the rule that keeps a URL out', () => {
  it('is named', () => {
    const html = ['/ok', '/admin/x', 'http://other.test/'].map((href) => link(href)).join('');
    const { tasks } = find(html, { scope: { exclude: ['/admin/*'] } });
    expect(tasks.map(({ url, state, rule }) => [url, state, rule])).toEqual([
      ['http://site.test/ok', 'ready', null],
      ['http://site.test/admin/x', 'skipped', 'scope.exclude:/admin/*'],
      ['http://other.test/', 'skipped', 'scope.domain'],
    ]);
  });

  it('is the depth for links of the deepest pages', () => {
    const { tasks } = find(link('/deep'), { scope: { maxDepth: 1 } });
    expect(tasks).toMatchObject([{ depth: 2, state: 'skipped', rule: 'scope.depth' }]);
  });

  it('is nofollow, of the link or of the whole page', () => {
    expect(decisions(find(link('/a', 'noopener nofollow') + link('/b', 'nofollowed')))).toEqual({
      '/a': 'scope.nofollow',
      '/b': null,
    });
    expect(decisions(find(`<meta name=robots content=nofollow>${link('/a')}`))).toEqual({
      '/a': 'scope.nofollow',
    });
  });

  it('is that the link logs out, where the job is logged in', () => {
    const html = `${link('/orders')}${link('/logout')}${link('/u?do=signout')}<a href="/x">Sign out</a>`;
    const out = { '/orders': null, '/logout': 'scope.log-out', '/u': 'scope.log-out', '/x': 'scope.log-out' };
    expect(decisions(find(html, { page: { session: 'me' } }))).toEqual(out);
    expect(decisions(find(html, { page: { cookies: { sid: '1' } } }))).toEqual(out);
    expect(decisions(find(html, { page: { headers: { Authorization: 'Bearer x' } } }))).toEqual(out);
    expect(decisions(find(html))).toEqual({ '/orders': null, '/logout': null, '/u': null, '/x': null });
  });

  it('is not nofollow where the job does not heed it', () => {
    expect(decisions(find(link('/a', 'nofollow'), { scope: { obeyNofollow: false } }))).toEqual({
      '/a': null,
    });
  });
});

describe('a provisional decision', () => {
  const shallow = { task: { url: 'http://site.test/', urlKey: keyOf('http://site.test/'), depth: 0 } };

  it('is overturned by a better way to the URL', () => {
    const known = rules({ scope: { maxDepth: 1 } });
    expect(find(link('/x'), { scope: { maxDepth: 1 } }, known).tasks).toMatchObject([
      { rule: 'scope.depth' },
    ]);
    expect(find(link('/x'), shallow, known).tasks).toMatchObject([{ state: 'ready', rule: null, depth: 1 }]);
  });

  it('is overturned on the same page too', () => {
    const { tasks } = find(link('/x', 'nofollow') + link('/x'));
    expect(tasks.map(({ rule }) => rule)).toEqual(['scope.nofollow', null]);
  });

  it('is reported once and does not come back after the URL was reported as ready', () => {
    const known = rules();
    const hidden = link('/x', 'nofollow');
    expect(find(hidden, {}, known).tasks).toHaveLength(1);
    expect(find(hidden, {}, known).tasks).toEqual([]);
    expect(find(link('/x'), {}, known).tasks).toHaveLength(1);
    expect(find(hidden + link('/x'), {}, known).tasks).toEqual([]);
  });

  it('leaves final decisions alone', () => {
    const known = rules({ scope: { exclude: ['/x'] } });
    const scope = { exclude: ['/x'] };
    expect(find(link('/x'), { scope }, known).tasks).toMatchObject([{ rule: 'scope.exclude:/x' }]);
    expect(find(link('/x'), { scope }, known).tasks).toEqual([]);
  });
});

describe('the page that rel=canonical names', () => {
  const named = (href: string, rest = '') => `<link rel=canonical href="${href}">${rest}`;

  it('is kept out of the job, and this page is marked as its duplicate', () => {
    const { tasks, duplicateOf } = find(named('/original'));
    expect(duplicateOf).toBe('http://site.test/original');
    expect(tasks).toMatchObject([
      {
        url: 'http://site.test/original',
        state: 'skipped',
        rule: 'duplicate.canonical:http://site.test/page',
        foundBy: 'canonical',
        depth: 1,
      },
    ]);
  });

  it('is not fetched for a link to it either', () => {
    const known = rules();
    expect(find(named('/original', link('/original')), {}, known).tasks).toHaveLength(1);
    expect(find(link('/original'), {}, known).tasks).toEqual([]);
  });

  it('is reported once, but marks every page that names it', () => {
    const known = rules();
    find(named('/original'), {}, known);
    const url = 'http://site.test/page?print=1';
    const again = find(named('/original'), { task: { url, urlKey: keyOf(url) } }, known);
    expect(again).toEqual({ tasks: [], duplicateOf: 'http://site.test/original' });
  });

  it.each([
    ['the page itself', '/page', {}],
    ['the page itself, spelled otherwise', 'http://SITE.test:80/page#top', {}],
    ['another host', 'http://other.test/page', { scope: { allowExternal: true } }],
    ['nothing that can be fetched', 'mailto:a@site.test', {}],
    ['something outside the job', '/private/page', { scope: { exclude: ['/private/*'] } }],
  ] as const)('does not count when it is %s', (_what, href, changes) => {
    expect(find(named(href), changes).duplicateOf).toBeNull();
  });

  it('does not count where the job does not heed it', () => {
    const found = find(named('/original', link('/original')), { scope: { followCanonical: false } });
    expect(found.duplicateOf).toBeNull();
    expect(found.tasks).toMatchObject([{ state: 'ready' }]);
  });

  it('does not count when a redirect led from it to here', () => {
    const changes = { response: { finalUrl: 'http://site.test/elsewhere' } };
    expect(find(named('/page'), changes).duplicateOf).toBeNull();
  });
});

describe('a map', () => {
  const seed = { url: 'http://site.test/', urlKey: keyOf('http://site.test/'), depth: 0 };

  it('lists what its first page links to and fetches none of it', () => {
    const html = link('/a') + link('/b', 'nofollow') + link('http://other.test/');
    const { tasks } = find(html, { kind: 'map', task: seed });
    expect(tasks.map(({ url, state, rule }) => [url, state, rule])).toEqual([
      ['http://site.test/a', 'skipped', 'map.listed'],
      ['http://site.test/b', 'skipped', 'scope.nofollow'],
      ['http://other.test/', 'skipped', 'scope.domain'],
    ]);
  });

  it('does not go further', () => {
    expect(find(link('/a'), { kind: 'map', task: { ...seed, depth: 1 } }).tasks).toEqual([]);
  });
});
