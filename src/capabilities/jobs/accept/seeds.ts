import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { NewTask, TaskKind } from '../../../core/model/task.ts';
import { type Canonicalizer, type CanonicalUrl, parseSeed } from '../../../crawl/frontier/canonical.ts';
import { type FieldProblem, listed } from '../request/invalid-request.ts';

/** A start URL, and what was submitted for it. */
interface Seed extends CanonicalUrl {
  readonly source: string;
}

export interface ReadSeeds {
  readonly seeds: readonly Seed[];
  readonly problems: readonly SeedProblem[];
}

interface SeedProblem extends FieldProblem {
  readonly source: string;
}

/** Reads every seed, naming each bad one; one URL is reported as INVALID_URL the same way as ten thousand. */
export function readSeeds(...given: Parameters<typeof trySeeds>): readonly Seed[] {
  const { seeds, problems } = trySeeds(...given);
  requireNone(problems);
  return seeds;
}

export function trySeeds(
  urls: readonly string[],
  field: (index: number) => string,
  canonical: Canonicalizer,
  finish: (seed: CanonicalUrl, parsed: string) => CanonicalUrl = (seed) => seed,
): ReadSeeds {
  const seeds: Seed[] = [];
  const problems: SeedProblem[] = [];
  for (let index = 0; index < urls.length; index++) {
    const source = urls[index] ?? '';
    try {
      const parsed = parseSeed(source);
      const seed = canonical(parsed);
      if (seed === null) problems.push({ field: field(index), message: notAUrl(source), source });
      else seeds.push({ ...finish(seed, parsed), source });
    } catch (error) {
      if (!(error instanceof ScrapifieError)) throw error;
      problems.push({ field: field(index), message: error.message, source });
    }
  }
  return { seeds, problems };
}

export function requireNone(problems: readonly SeedProblem[]): void {
  const [first] = problems;
  if (first === undefined) return;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  throw new ScrapifieError('INVALID_URL', `${first.field}: ${first.message}${more}`, {
    details: listed(problems.map(({ field, message }) => ({ field, message }))),
  });
}

/** Empty when every seed is fetched as it was submitted. */
export function sourcesOf(seeds: readonly Seed[]): { readonly sources?: Readonly<Record<string, string>> } {
  const changed = seeds.filter(({ url, source }) => url !== source);
  if (changed.length === 0) return {};
  const sources: Record<string, string> = {};
  // When a URL was given in two spellings, the first is fetched.
  for (const { url, source } of changed) sources[url] ??= source;
  return { sources };
}

/**
 * A page asked for by name is fetched under that name: order and tracking parameters may be part of a signature.
 * Its key stays canonical, so that the same page asked for twice is fetched once.
 */
export function asGiven(seed: CanonicalUrl, parsed: string): CanonicalUrl {
  const fragmentAt = parsed.indexOf('#');
  const url = fragmentAt === -1 ? parsed : parsed.slice(0, fragmentAt);
  return url.startsWith(`${seed.origin}/`) ? { ...seed, url } : seed;
}

const notAUrl = (raw: string) => `"${raw.slice(0, 200)}" is not an absolute http or https URL.`;

export const seedTask = (kind: TaskKind, seed: CanonicalUrl): NewTask => ({
  kind,
  url: seed.url,
  urlKey: seed.urlKey,
  hostKey: seed.hostKey,
  depth: 0,
  foundBy: 'seed',
  foundOn: null,
  state: 'ready',
  rule: null,
});

/** One per origin: its robots.txt says where the sitemaps are. */
export function siteTasks(seeds: readonly CanonicalUrl[], canonical: Canonicalizer): NewTask[] {
  const origins = new Set(seeds.map((seed) => seed.origin));
  return [...origins].flatMap((origin) => {
    const robots = canonical(`${origin}/robots.txt`);
    return robots === null ? [] : [seedTask('site', robots)];
  });
}
