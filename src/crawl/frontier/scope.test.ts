import { describe, expect, it } from 'vitest';
import type { Scope } from '../../core/model/job.ts';
import type { FoundBy, TaskKind } from '../../core/model/task.ts';
import { hostKeyOf } from './canonical.ts';
import { compileScope, MAX_URL_STEPS } from './scope.ts';

const OPEN: Scope = {
  maxDepth: null,
  allowedDomains: [],
  allowSubdomains: false,
  allowExternal: false,
  include: [],
  exclude: [],
  ignoreQueryParameters: [],
  keepFragment: false,
  sitemap: 'skip',
  obeyNofollow: true,
  obeyNoindex: true,
  followCanonical: true,
};

interface Found {
  readonly depth?: number;
  readonly foundBy?: FoundBy;
  readonly isNofollow?: boolean;
  readonly kind?: TaskKind;
}

/** The rule that keeps the URL out, or `in`. */
function judge(scope: Partial<Scope>, seeds: readonly string[], url: string, found: Found = {}): string {
  const check = compileScope(structuredClone({ ...OPEN, ...scope }), seeds);
  const hostKey = hostKeyOf(new URL(url));
  const decision = check({ depth: 1, foundBy: 'link', isNofollow: false, ...found, url, hostKey });
  return decision.inScope ? 'in' : decision.rule;
}

describe('domains', () => {
  it.each<[Partial<Scope>, string, string, boolean]>([
    [{}, 'https://example.com/', 'https://example.com/x', true],
    [{}, 'https://example.com/', 'http://example.com/x', true],
    [{}, 'https://example.com/', 'https://www.example.com/x', true],
    [{}, 'https://www.example.com/', 'https://example.com/x', true],
    [{}, 'https://example.com/', 'https://a.example.com/x', false],
    [{}, 'https://example.com/', 'https://example.com.evil.test/x', false],
    [{}, 'https://example.com/', 'https://notexample.com/x', false],
    [{}, 'http://127.0.0.1:3000/', 'http://127.0.0.1:3000/x', true],
    [{}, 'http://127.0.0.1:3000/', 'http://127.0.0.1:3001/x', false],
    [{}, 'http://[::1]:3000/', 'http://[::1]:3000/x', true],
    [{ allowSubdomains: true }, 'https://a.b.co.uk/', 'https://c.b.co.uk/', true],
    [{ allowSubdomains: true }, 'https://a.b.co.uk/', 'https://b.co.uk:8443/', true],
    [{ allowSubdomains: true }, 'https://a.b.co.uk/', 'https://x.co.uk/', false],
    [{ allowSubdomains: true }, 'https://me.github.io/', 'https://you.github.io/', false],
    [{ allowSubdomains: true }, 'http://localhost:1/', 'http://a.localhost:2/', true],
    [{ allowSubdomains: true }, 'http://127.0.0.1:1/', 'http://127.0.0.1:1/x', true],
    [{ allowSubdomains: true }, 'http://127.0.0.1:1/', 'http://127.0.0.1:2/x', false],
    [{ allowSubdomains: true }, 'http://1.0.0.1/', 'http://2.0.0.1/', false],
    [{ allowedDomains: ['other.test'] }, 'https://example.com/', 'https://other.test:99/', true],
    [{ allowedDomains: ['other.test'] }, 'https://example.com/', 'https://www.other.test/', true],
    [{ allowedDomains: ['other.test'] }, 'https://example.com/', 'https://a.other.test/', false],
    [{ allowedDomains: ['other.test'] }, 'https://example.com/', 'https://example.com/x', false],
    [{ allowedDomains: ['other.test:81'] }, 'https://example.com/', 'http://other.test:81/', true],
    [{ allowedDomains: ['other.test:81'] }, 'https://example.com/', 'http://other.test/', false],
    [{ allowedDomains: ['*.other.test'] }, 'https://example.com/', 'https://a.b.other.test:8443/', true],
    [{ allowedDomains: ['*.other.test'] }, 'https://example.com/', 'https://other.test/', false],
    [{ allowedDomains: ['BÜCHER.example'] }, 'https://example.com/', 'https://xn--bcher-kva.example/', true],
    [
      { allowedDomains: ['other.test'], allowSubdomains: true },
      'https://example.com/',
      'https://a.other.test/',
      true,
    ],
    [{ allowExternal: true }, 'https://example.com/', 'https://anything.test/', true],
  ])('%j from %s admit %s: %s', (scope, seed, url, isIn) => {
    expect(judge(scope, [seed], url)).toBe(isIn ? 'in' : 'scope.domain');
  });

  it('are those of all seeds', () => {
    expect(judge({}, ['https://a.test/', 'https://b.test/'], 'https://b.test/x')).toBe('in');
  });
});

describe('the rule that decides', () => {
  const seeds = ['https://example.com/'];
  const url = 'https://example.com/blog/post?x=1';

  it('is depth beyond the greatest', () => {
    expect(judge({ maxDepth: 2 }, seeds, url, { depth: 2 })).toBe('in');
    expect(judge({ maxDepth: 2 }, seeds, url, { depth: 3 })).toBe('scope.depth');
  });

  it('is nofollow, where it is obeyed', () => {
    expect(judge({}, seeds, url, { isNofollow: true })).toBe('scope.nofollow');
    expect(judge({ obeyNofollow: false }, seeds, url, { isNofollow: true })).toBe('in');
  });

  it('is the first exclude pattern that matches, by name', () => {
    expect(judge({ exclude: ['/shop/', '/blog/*', 'post'] }, seeds, url)).toBe('scope.exclude:/blog/*');
    expect(judge({ exclude: ['/shop/'] }, seeds, url)).toBe('in');
  });

  it('is include, when no pattern matches', () => {
    expect(judge({ include: ['/blog/*', 'zzz'] }, seeds, url)).toBe('in');
    expect(judge({ include: ['/shop/*'] }, seeds, url)).toBe('scope.include');
    expect(judge({ include: ['/blog/*'], exclude: ['post'] }, seeds, url)).toBe('scope.exclude:post');
  });

  it.each([
    [`https://example.com/${'a/'.repeat(31)}`, 'path-depth'],
    [`https://example.com/${Array.from({ length: 31 }, (_, i) => i).join('/')}`, 'path-depth'],
    ['https://example.com/a/b/a/b/a/b/a/b', 'repeated-segment'],
    ['https://example.com/en/en/en/en/', 'repeated-segment'],
    [`https://example.com/?q=${'a'.repeat(2_048)}`, 'url-length'],
  ])('is a trap for %s', (trap, which) => {
    expect(judge({}, seeds, trap)).toBe(`scope.trap:${which}`);
  });

  it.each([
    `https://example.com/${Array.from({ length: 30 }, (_, i) => i).join('/')}/`,
    'https://example.com/2024/01/01/01/report',
    'https://example.com/a?path=/a/a/a/a/a',
    'https://example.com',
  ])('is none for %s', (fine) => {
    expect(judge({}, seeds, fine)).toBe('in');
  });

  it('never touches seeds', () => {
    const strict = { maxDepth: 0, include: ['nothing'], exclude: ['.'], allowedDomains: ['other.test'] };
    expect(judge(strict, seeds, url, { foundBy: 'seed', depth: 0 })).toBe('in');
  });

  it('for sitemaps is exclude or a trap only', () => {
    const scope = { maxDepth: 0, include: ['/blog/*'], exclude: ['/private/*'] };
    const found: Found = { kind: 'sitemap', foundBy: 'robots', depth: 1 };
    expect(judge(scope, seeds, 'https://cdn.test/sitemap.xml', found)).toBe('in');
    expect(judge(scope, seeds, 'https://cdn.test/private/sitemap.xml', found)).toBe(
      'scope.exclude:/private/*',
    );
  });
});

describe('a scope that cannot be compiled', () => {
  it('says everything that is wrong with it', () => {
    const compile = () =>
      compileScope(
        { ...OPEN, include: ['ok', 'x[z-a]'], exclude: ['(?!a)'], allowedDomains: ['https://a.test/', '*'] },
        [],
      );
    expect(compile).toThrow(
      expect.objectContaining({
        code: 'VALIDATION_FAILED',
        details: [
          { field: 'include.1', message: expect.stringContaining('range'), position: 2 },
          { field: 'exclude.0', message: expect.stringContaining('lookaround'), position: 0 },
          { field: 'allowedDomains.0', message: expect.stringContaining('not a host') },
          { field: 'allowedDomains.1', message: expect.stringContaining('not a host') },
        ],
      }),
    );
  });
});

it('patterns mean what they meant when the job was made', () => {
  const url = 'https://example.com/x/blog/a';
  const seeds = ['https://example.com/'];
  expect(judge({ exclude: ['/blog/a'] }, seeds, url)).toBe('scope.exclude:/blog/a');
  expect(judge({ exclude: ['/blog/a'], patternSyntax: 'glob' }, seeds, url)).toBe('in');
  expect(judge({ exclude: ['re:/blog/a'], patternSyntax: 'glob' }, seeds, url)).toBe(
    'scope.exclude:re:/blog/a',
  );
});

describe('what patterns may cost', () => {
  const url = `https://example.com/${'ab'.repeat(1_000)}`;
  const hostKey = hostKeyOf(new URL(url));
  const candidate = { depth: 1, foundBy: 'link', isNofollow: false, url, hostKey } as const;
  const costly = (index: number) => `(?i)(?:[ab]*a){50}[ab]{100}x${index}`;

  it('is bounded for each URL: one that would cost more is out, whatever the patterns would have said', () => {
    const exclude = Array.from({ length: 20 }, (_, index) => costly(index));
    const steps = { left: MAX_URL_STEPS };
    const check = compileScope({ ...OPEN, exclude }, ['https://example.com/']);
    expect(check(candidate, steps)).toEqual({ inScope: false, rule: 'scope.pattern-cost' });
    expect(judge({ include: exclude }, ['https://example.com/'], url)).toBe('scope.pattern-cost');
    // No pattern was run that the budget did not cover.
    expect(steps.left).toBeLessThan(0);
  });

  it('is not asked of URLs that are too long for a page', () => {
    const steps = { left: MAX_URL_STEPS };
    const check = compileScope({ ...OPEN, exclude: [costly(0)] }, ['https://example.com/']);
    expect(check({ ...candidate, url: `${url}${'ab'.repeat(1_000)}` }, steps)).toEqual({
      inScope: false,
      rule: 'scope.trap:url-length',
    });
    expect(steps.left).toBe(MAX_URL_STEPS);
  });

  it('does not keep ordinary URLs from a hundred ordinary patterns', () => {
    const exclude = Array.from(
      { length: 100 },
      (_, index) => `^https://example\\.com/(?:tag|user)/${index}\\d+`,
    );
    const compile = () => compileScope({ ...OPEN, exclude }, ['https://example.com/'], { isNew: true });
    const path =
      'https://example.com/blog/2024/05/a-long-title-of-an-article-about-nothing-much-in-particular/?page=2';
    expect(compile()({ ...candidate, url: path })).toEqual({ inScope: true });
  });

  it('is refused for a new job, with the field at which it became too much', () => {
    const include = Array.from({ length: 100 }, (_, index) => costly(index));
    expect(() => compileScope({ ...OPEN, include }, [], { isNew: true })).toThrow(
      expect.objectContaining({
        code: 'VALIDATION_FAILED',
        details: [
          { field: expect.stringMatching(/^include\.\d+$/), message: expect.stringContaining('steps') },
        ],
      }),
    );
    expect(() => compileScope({ ...OPEN, exclude: ['a(?:b|c){1000}'] }, [], { isNew: true })).toThrow(
      expect.objectContaining({
        details: [{ field: 'exclude.0', position: 8, message: expect.any(String) }],
      }),
    );
    // A job that was accepted earlier goes on.
    expect(() => compileScope({ ...OPEN, include }, [])).not.toThrow();
  });
});
