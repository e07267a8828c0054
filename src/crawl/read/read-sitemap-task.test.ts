import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { compileRules, readSitemapTask } from './find-tasks.ts';
import { keyOf, type RequestChanges, requestFor } from './read-request.fixture.ts';

const URL_OF_IT = 'http://site.test/sitemap.xml';

function read(body: string | Uint8Array<ArrayBuffer>, changes: RequestChanges = {}) {
  const task = { kind: 'sitemap', url: URL_OF_IT, urlKey: keyOf(URL_OF_IT), ...changes.task } as const;
  const request = requestFor({
    ...changes,
    body,
    task,
    response: { contentType: 'application/xml', ...changes.response },
  });
  return readSitemapTask(request, compileRules(request.job));
}

const urlset = (...urls: string[]) =>
  `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.map((url) => `<url><loc>${url}</loc></url>`).join('')}</urlset>`;
const index = (...urls: string[]) =>
  `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.map((url) => `<sitemap><loc>${url}</loc></sitemap>`).join('')}</sitemapindex>`;

describe('reading a sitemap', () => {
  it('finds its pages, one step from where the job began however deep the sitemap lies', async () => {
    const { discovered, outcome, sitemapProblem } = await read(urlset('http://site.test/a'), {
      task: { depth: 3 },
    });
    expect(discovered).toMatchObject([
      { kind: 'page', url: 'http://site.test/a', depth: 1, foundBy: 'sitemap', foundOn: 7, state: 'ready' },
    ]);
    expect({ outcome, sitemapProblem }).toEqual({ outcome: 'ok', sitemapProblem: null });
  });

  it('finds further sitemaps, one step deeper', async () => {
    const { discovered } = await read(index('http://site.test/s2.xml'));
    expect(discovered).toMatchObject([{ kind: 'sitemap', depth: 2, state: 'ready' }]);
  });

  it('does not follow indexes of indexes without end', async () => {
    const { discovered } = await read(index('http://site.test/s2.xml'), { task: { depth: 4 } });
    expect(discovered).toEqual([]);
  });

  it('names each URL once, and itself never', async () => {
    const { discovered } = await read(
      urlset('http://site.test/a', 'http://site.test/a#x', 'http://SITE.test/a', URL_OF_IT),
    );
    expect(discovered.map(({ url }) => url)).toEqual(['http://site.test/a']);
  });

  it('judges its URLs like all others, with the rule that decided', async () => {
    const { discovered } = await read(urlset('http://other.test/', 'http://site.test/no/x'), {
      scope: { exclude: ['/no/*'] },
    });
    expect(discovered.map(({ state, rule }) => [state, rule])).toEqual([
      ['skipped', 'scope.domain'],
      ['skipped', 'scope.exclude:/no/*'],
    ]);
  });

  it('only lists pages for a map, but still reads further sitemaps', async () => {
    const pages = await read(urlset('http://site.test/a'), { kind: 'map' });
    expect(pages.discovered).toMatchObject([{ state: 'skipped', rule: 'map.listed' }]);
    const further = await read(index('http://site.test/s2.xml'), { kind: 'map' });
    expect(further.discovered).toMatchObject([{ kind: 'sitemap', state: 'ready' }]);
  });

  it('reads it gzipped', async () => {
    const { discovered } = await read(new Uint8Array(gzipSync(urlset('http://site.test/a'))));
    expect(discovered).toHaveLength(1);
  });

  it('keeps what came before it broke, and says why there is no more', async () => {
    const whole = urlset('http://site.test/a', 'http://site.test/b');
    const reading = await read(whole.slice(0, whole.indexOf('/b<')));
    expect(reading.discovered.map(({ url }) => url)).toEqual(['http://site.test/a']);
    expect(reading.sitemapProblem).toMatch(/^broken-xml/);
    expect(reading.evidence).toBe(`sitemap: ${reading.sitemapProblem}`);
  });

  it('says when it is a web page after all', async () => {
    const { sitemapProblem, discovered } = await read('<!doctype html><title>Not found</title>');
    expect([sitemapProblem, discovered]).toEqual(['html-page', []]);
  });

  it('takes nothing from an answer that is an error', async () => {
    const reading = await read(urlset('http://site.test/a'), { response: { statusCode: 404 } });
    expect(reading).toMatchObject({ discovered: [], outcome: 'error', sitemapProblem: null });
  });

  it('is no result: its body is not kept', async () => {
    const { page } = await read(urlset());
    expect(page).toMatchObject({ url: URL_OF_IT, contentHash: null, record: null });
  });
});
