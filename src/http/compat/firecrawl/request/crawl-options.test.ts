import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { deeperThan, outsidePath, pathPattern } from './crawl-options.ts';

const matches = (pattern: string, url: string): boolean =>
  RE2JS.compile(pattern.replace(/^re:/, '')).matcher(url).find();

describe('a regular expression for paths', () => {
  it.each([
    ['blog/.*', 'https://a.example/en/blog/1', true],
    ['^/blog/.*', 'https://a.example/blog/1', true],
    ['^/blog/.*', 'https://a.example/en/blog/1', false],
    ['/blog$', 'https://a.example/blog?page=2', true],
    ['/blog$', 'https://a.example/blog/1', false],
    ['^/a$|^/b$', 'https://a.example/b', true],
    ['^/a$|^/b$', 'https://a.example/bc', false],
    ['[|]x|y', 'https://a.example/y', true],
    ['blog', 'https://blog.example/news', false],
    ['blog', 'https://a.example/news?from=blog', false],
  ])('%s finds %s: %s', (source, url, expected) => {
    expect(matches(pathPattern(source), url)).toBe(expected);
  });
});

describe('the part of a site below its start', () => {
  const outside = outsidePath('https://a.example/docs') ?? '';

  it('leaves out what does not begin with the path of the start', () => {
    for (const path of ['/', '/doc', '/other', '/d'])
      expect(matches(outside, `https://a.example${path}`), path).toBe(true);
    for (const path of ['/docs', '/docs/one', '/docs?x=1'])
      expect(matches(outside, `https://a.example${path}`), path).toBe(false);
  });

  it('says nothing of other hosts, nor of a start at the root', () => {
    expect(matches(outside, 'https://b.example/other')).toBe(false);
    expect(outsidePath('https://a.example/')).toBeNull();
  });
});

it('counts the parts of a path', () => {
  expect(matches(deeperThan(2), 'https://a.example/one/two/three')).toBe(true);
  expect(matches(deeperThan(2), 'https://a.example/one/two?three/four')).toBe(false);
});
