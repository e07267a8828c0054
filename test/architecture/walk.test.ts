import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { URL_WAY } from '../../scripts/url-way.ts';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/architecture.md', root), 'utf8');
/** The steps between a mark such as `the files of a URL` and the next end. */
const stepsOf = (mark: string): string =>
  new RegExp(`<!-- ${mark} -->([\\s\\S]*?)<!-- end -->`).exec(page)?.[1] ?? '';
const filesOf = (steps: string): string[] =>
  [...steps.matchAll(/`(src\/[\w./-]+\.\w+)`/g)].map(([, path = '']) => path);
const walk = stepsOf('the files of a URL');
const files = filesOf(walk);
/** Paths of sources in backticks anywhere on a page. */
const NAMED = /`([a-z][\w-]*(?:\/[\w.-]+)+\.tsx?)`/g;
/** Where the paths on a page may begin. */
const BEGINNINGS = ['', 'src/', 'dashboard/src/'];
const OF_ONE_PAGE: Readonly<Record<string, string>> = { 'extraction.md': 'src/extract/' };

describe('docs/architecture.md', () => {
  it('walks one URL through all steps, and names the files it passes', () => {
    expect(walk.match(/^\d+\. /gm)).toHaveLength(10);
    expect(files.length).toBeGreaterThan(30);
  });

  it('names every file of the way that the figures are counted on', () => {
    const way = URL_WAY.filter(({ step }) => step !== 'exported').flatMap((each) => each.files);
    expect(way.filter((path) => !files.includes(path))).toEqual([]);
    expect(URL_WAY.flatMap((each) => each.files).filter((path) => !existsSync(new URL(path, root)))).toEqual(
      [],
    );
  });

  it.each([
    ['the files of an export', 'exports'],
    ['the files of a webhook', 'webhooks'],
  ])('tells %s in eight steps, and names every file of capabilities/%s', (mark, capability) => {
    const steps = stepsOf(mark);
    expect(steps.match(/^\d+\. /gm)).toHaveLength(8);
    const named = filesOf(steps);
    const folder = `src/capabilities/${capability}/`;
    const own = readdirSync(new URL(folder, root)).filter(
      (name) => name.endsWith('.ts') && !/\.(?:test|fixture)\.ts$/.test(name),
    );
    expect(own.map((name) => folder + name).filter((path) => !named.includes(path))).toEqual([]);
    expect(named.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  });

  it('names only files that exist', () => {
    expect(files.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  });
});

describe('the pages of the documentation', () => {
  it('name only files that exist', () => {
    const folder = new URL('docs/', root);
    const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.md'),
    );
    const missing = pages.flatMap((file) => {
      const beginnings = [...BEGINNINGS, OF_ONE_PAGE[file] ?? ''];
      const exists = (path: string) => beginnings.some((each) => existsSync(new URL(each + path, root)));
      return [...readFileSync(new URL(file, folder), 'utf8').matchAll(NAMED)]
        .map(([, path = '']) => path)
        .filter((path) => !exists(path))
        .map((path) => `docs/${file} names ${path}`);
    });
    expect(pages.length).toBeGreaterThan(50);
    expect(missing).toEqual([]);
  });
});
