import {
  batchRequestSchema,
  crawlRequestSchema,
  scrapeRequestSchema,
} from '../../../src/capabilities/jobs/request/job-request.ts';
import { parsePlainly } from '../../../src/core/config/plain-problems.ts';
import type { Scope } from '../../../src/core/model/job.ts';
import { createCanonicalizer, hostKeyOf } from '../../../src/crawl/frontier/canonical.ts';
import { compileScope } from '../../../src/crawl/frontier/scope.ts';
import { parseRetryAfter } from '../../../src/crawl/politeness/retry-after.ts';
import { isAllowed, parseRobots } from '../../../src/crawl/robots/robots-rules.ts';
import { createCookieJar } from '../../../src/fetch/cookies/cookie-jar.ts';
import { shapeProblem } from '../../../src/http/server/json-body.ts';

/** One call that the main thread makes on what a stranger wrote. */
export interface HostileCall {
  readonly name: string;
  readonly run: () => unknown;
}

type Random = () => number;
type Generator = (random: Random) => HostileCall;

const whole = (random: Random, max: number) => Math.floor(random() * max);
const pick = <T>(random: Random, from: readonly [T, ...T[]]): T =>
  from[whole(random, from.length)] ?? from[0];
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));
const UNITS = [
  'a',
  'ab',
  'aab',
  '%41',
  'é',
  '/a',
  '*',
  '*a',
  ';',
  '?',
  '&a=',
  '.',
  '\u{1f600}',
  '%',
] as const;
const stretch = (random: Random, chars: number) => {
  const unit = pick(random, UNITS);
  return unit.repeat(Math.ceil(chars / unit.length)).slice(0, chars);
};

const ATOMS = ['a', '[ab]', '.', '\\pL', '(?:a|b|ab)', '[^x]', '\\w', '(?:a?b?)', '\\b', '(?i)k'] as const;
const TIMES = ['*', '+', '?', '{30}', '{0,250}', '{200,}', ''] as const;
const piece = (random: Random): string => pick(random, ATOMS) + pick(random, TIMES);
const pattern = (random: Random): string => {
  const inner = many(1 + whole(random, 12), () => piece(random)).join('');
  return pick(random, [
    inner,
    `(?:${inner}){20}x`,
    `^https?://${inner}$`,
    `(?i)${inner}|${inner}z`,
    `/*${'ab'.repeat(400)}*c`,
  ]);
};
const scopeOf = (include: readonly string[], exclude: readonly string[]): Scope => ({
  maxDepth: null,
  allowedDomains: [],
  allowSubdomains: false,
  allowExternal: true,
  include,
  exclude,
  ignoreQueryParameters: [],
  keepFragment: false,
  sitemap: 'skip',
  obeyNofollow: true,
  obeyNoindex: true,
  followCanonical: true,
});
const canonical = createCanonicalizer({
  ignoreQueryParameters: many(100, (n) => `p${n}*`),
  keepFragment: false,
});
const hostileUrl = (random: Random) => `https://a.test/${stretch(random, 1 + whole(random, 8_170))}`;
const NOW = 1_700_000_000_000;

const robotsFile = (random: Random): string => {
  const chars = pick(random, [4, 40, 400, 4_000]);
  const line = pick(random, [
    (n: number) => `Disallow: /*${stretch(random, chars)}${n}`,
    (n: number) => `Disallow: /${stretch(random, chars)}*${n}$`,
    () => `Allow: ${stretch(random, chars)}`,
    (n: number) => `Sitemap: https://a.test/${stretch(random, chars)}${n}`,
    () => `Crawl-delay: ${'9'.repeat(chars)}`,
    () => stretch(random, chars),
    () => `User-agent: ${stretch(random, chars)}`,
  ]);
  return `User-agent: *\n${many(Math.ceil(500_000 / (chars + 14)), line).join('\n')}`;
};

const deepest = (random: Random): unknown => {
  let value: unknown = pick<unknown>(random, ['h1', 7, null, [], {}]);
  for (let level = whole(random, 95); level > 0; level--)
    value = random() < 0.5 ? [value] : { fields: value, css: 'a' };
  return value;
};
const rules = (random: Random): Record<string, unknown> =>
  Object.fromEntries(
    many(1 + whole(random, 499), (n) => [
      `f${n}`,
      pick<unknown>(random, [
        { css: `${'a > '.repeat(90)}b` },
        { css: `${':not('.repeat(30)}a${')'.repeat(30)}` },
        { xpath: `${'//a['.repeat(30)}1${']'.repeat(30)}` },
        { regex: pattern(random) },
        { regex: '\\pL'.repeat(130) },
        { regex: '(?:a|b|ab){0,1000}' },
        { jsonpath: `$${'..a'.repeat(100)}` },
        deepest(random),
      ]),
    ]),
  );

const GENERATORS: readonly [Generator, ...Generator[]] = [
  (random) => {
    const file = robotsFile(random);
    return { name: 'robots.txt: parse', run: () => parseRobots(file) };
  },
  (random) => {
    const parsed = parseRobots(robotsFile(random));
    const path = `/${stretch(random, 8_000)}`;
    return { name: 'robots.txt: ask', run: () => isAllowed(parsed, 'bot', path) };
  },
  (random) => {
    const scope = scopeOf(
      many(whole(random, 100), () => pattern(random)),
      many(100, () => pattern(random)),
    );
    return {
      name: 'patterns: compile',
      run: () => attempt(() => compileScope(scope, ['https://a.test/'], { isNew: true })),
    };
  },
  (random) => {
    // As a job of an earlier version: the patterns were accepted without a limit of their cost.
    const usable = many(30, () => pattern(random)).filter((one) =>
      attempt(() => compileScope(scopeOf([], [one]), [])),
    );
    const check = compileScope(scopeOf([], usable), ['https://a.test/']);
    const url = canonical(hostileUrl(random))?.url ?? 'https://a.test/';
    const candidate = {
      url,
      hostKey: hostKeyOf(new URL(url)),
      depth: 1,
      foundBy: 'redirect',
      isNofollow: false,
    } as const;
    return { name: 'patterns: match', run: () => check(candidate) };
  },
  (random) => {
    const url = hostileUrl(random);
    return { name: 'URL: canonical form', run: () => canonical(url, url) };
  },
  (random) => {
    const jar = createCookieJar();
    const url = new URL('https://a.b.c.d.test/x');
    const cookies = many(
      200,
      (n) =>
        `${stretch(random, 80)}${n}=${stretch(random, 3_900)}; Path=/${stretch(random, 50)}; Domain=d.test; Expires=${stretch(random, 200)}`,
    );
    return {
      name: 'cookies',
      run() {
        jar.store(url, cookies, NOW);
        return jar.cookiesFor(url, NOW);
      },
    };
  },
  (random) => {
    const header = stretch(random, 16_000);
    return { name: 'Retry-After', run: () => parseRetryAfter(header, NOW) };
  },
  (random) => {
    const body = pick(random, ['[', '{"a":', '1,', '"\\"",', '"', '\\', '[],', ' ']).repeat(1_500_000);
    return { name: 'request body: shape', run: () => shapeProblem(body) };
  },
  (random) => {
    const value = pick<unknown>(random, [7, 'no url', hostileUrl(random), [], null]);
    const body = { urls: Array(10_000).fill(value), [stretch(random, 100)]: 1 };
    const schema = random() < 0.5 ? batchRequestSchema : crawlRequestSchema;
    return { name: 'request body: list of URLs', run: () => problems(schema, body) };
  },
  (random) => {
    const body = {
      url: 'https://a.test/',
      extract: { rules: rules(random), schema: random() < 0.5 ? deepest(random) : null },
    };
    return { name: 'request body: rules', run: () => problems(scrapeRequestSchema, body) };
  },
];

const problems = (schema: Parameters<typeof parsePlainly>[0], body: unknown): number =>
  parsePlainly(schema, body).problems?.length ?? 0;

function attempt<T>(run: () => T): T | null {
  try {
    return run();
  } catch {
    return null;
  }
}

/** The same call for the same number and chance. */
export function hostileCall(index: number, random: Random): HostileCall {
  return (GENERATORS[index % GENERATORS.length] ?? GENERATORS[0])(random);
}
