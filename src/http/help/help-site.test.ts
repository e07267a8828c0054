import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { openPlatform, type Platform } from '../../../test/property/api-platform.ts';
import { type BuiltHelp, buildHelp, PROJECT_ROOT } from './help-site.ts';

let pages: BuiltHelp['pages'];
let files: BuiltHelp['files'];
let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform();
  const document = JSON.parse((await platform.call({ url: '/openapi.json' })).payload);
  ({ pages, files } = await buildHelp({ root: PROJECT_ROOT, version: '1.2.3', document: () => document }));
  return () => platform.close();
});

const slugOf = (address: string): string => address.replace(/^\/help\/?/, '').replace(/#.*/, '');

describe('the documentation', () => {
  it('has no link to a page or a heading that does not exist', () => {
    const broken = [...pages].flatMap(([slug, { links }]) =>
      links
        .filter((link) => link.startsWith('#') || link.startsWith('/help'))
        .filter((link) => {
          const target = pages.get(link.startsWith('#') ? slug : slugOf(link));
          const [, anchor] = link.split('#');
          if (target === undefined) return true;
          return anchor !== undefined && !target.anchors.has(anchor);
        })
        .map((link) => `${slug}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  it('has no link to a file of the project that does not exist', () => {
    const sources = ['README.md', ...[...pages.keys()].map(fileOf)].filter((file) => file !== null);
    const broken = sources.flatMap((file) => {
      const text = readFileSync(new URL(file, PROJECT_ROOT), 'utf8').replace(/```[\s\S]*?```/g, '');
      return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, href = '']) => href)
        .filter((href) => !/^(?:https?:|mailto:|#|\/)/.test(href))
        .filter((href) => !exists(new URL(href.replace(/#.*/, ''), new URL(file, PROJECT_ROOT))))
        .map((href) => `${file}: ${href}`);
    });
    expect(broken).toEqual([]);
  });

  it('gives every page a title and a text of its own', () => {
    const empty = [...pages].filter(
      ([, { title, summary, html }]) => title === '' || (summary === '' && !html.includes('<pre')),
    );
    expect(empty.map(([slug]) => slug)).toEqual([]);
  });

  it('has a reference page for every group of operations, with every operation', () => {
    const reference = [...pages].filter(([slug]) => slug.startsWith('api/'));
    const calls = reference.flatMap(([, { html }]) => [...html.matchAll(/<p class="call">/g)]);
    expect(reference.length).toBeGreaterThan(10);
    expect(calls.length).toBeGreaterThan(100);
    expect(pages.get('api/scrape')?.html).toContain('/v1/crawl');
    // A call with a body shows one: the first example, where there are several.
    expect(pages.get('api/query')?.html).toContain('statusCode&quot;');
  });

  it('lists every page but the first in the sidebar', async () => {
    const html = String(await files.get('')?.plain());
    const listed = new Set([...html.matchAll(/href="\/help\/([^"#?]+)"/g)].map(([, slug]) => slug));
    expect([...pages.keys()].filter((slug) => slug !== '' && !listed.has(slug))).toEqual([]);
  });

  it('has an index whose every entry leads to a heading or a row', async () => {
    const index = JSON.parse(String(await files.get('search.json')?.plain())) as {
      pages: [string, string, string][];
      sections: [number, string, string, string][];
    };
    const broken = index.sections.filter(([at, id]) => {
      const page = pages.get(index.pages[at]?.[0] ?? '-');
      return id !== '' && !page?.anchors.has(id);
    });
    expect(broken).toEqual([]);
    for (const name of ['SCRAPIFIE_ALLOW_PRIVATE', 'ROBOTS_UNREACHABLE']) {
      expect(index.sections.some(([, id, heading]) => id === name && heading === name)).toBe(true);
    }
  });
});

describe('a page', () => {
  it('has nothing inline that its content security policy would forbid, and nothing from elsewhere', async () => {
    for (const slug of pages.keys()) {
      const html = String(await files.get(slug)?.plain());
      expect(html, slug).not.toMatch(
        /<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|(?:src|href)="(?:data:|javascript:)/i,
      );
      expect(html, slug).not.toMatch(/<(?:script|link|img)[^>]*(?:src|href)="https?:/i);
    }
  });

  it('is served with a strict policy, packed, and not sent again when it is known', async () => {
    const { api } = platform;
    const first = await api.inject({ url: '/help/errors', headers: { 'accept-encoding': 'gzip' } });
    expect(first.statusCode).toBe(200);
    expect(first.headers['content-encoding']).toBe('gzip');
    const policy = String(first.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    const headers = { 'if-none-match': String(first.headers.etag) };
    expect((await api.inject({ url: '/help/errors', headers })).statusCode).toBe(304);
    expect((await api.inject({ url: '/help' })).payload).toContain('<!doctype html>');
  });

  it('has an icon, also where browsers look for one', async () => {
    const answer = await platform.api.inject({ url: '/favicon.ico' });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toContain('image/svg+xml');
  });

  it('shows pictures of the dashboard', async () => {
    const page = await platform.api.inject({ url: '/help/dashboard' });
    const [, path = ''] = /<img src="([^"]+\.png)"/.exec(page.payload) ?? [];
    const picture = await platform.api.inject({ url: path });
    expect(picture.headers['content-type']).toBe('image/png');
    expect(picture.rawPayload.subarray(1, 4).toString()).toBe('PNG');
  });

  it('that does not exist is told as a page', async () => {
    const answer = await platform.api.inject({ url: '/help/%3Cscript%3E' });
    expect(answer.statusCode).toBe(404);
    expect(answer.payload).toContain('There is no such page');
    expect(answer.payload).not.toContain('<script>');
  });

  it('refers to scripts and styles that are there, under addresses that may be kept', async () => {
    const { payload } = await platform.api.inject({ url: '/help' });
    const assets = [...payload.matchAll(/(?:src|href|data-index)="(\/help\/(?:assets\/|search)[^"]+)"/g)];
    expect(assets.length).toBeGreaterThanOrEqual(5);
    for (const [, url = ''] of assets) {
      const answer = await platform.api.inject({ url });
      expect([url, answer.statusCode]).toEqual([url, 200]);
      expect(answer.headers['cache-control']).toContain('immutable');
    }
  });
});

function fileOf(slug: string): string | null {
  const candidates = [`docs/${slug === '' ? 'index' : slug}.md`, `${slug}/README.md`, `${slug}.md`];
  return candidates.find((file) => exists(new URL(file, PROJECT_ROOT))) ?? null;
}

function exists(url: URL): boolean {
  try {
    readFileSync(url);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EISDIR';
  }
}
