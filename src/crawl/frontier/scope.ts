import { isIPv4 } from 'node:net';
import { getDomain } from 'tldts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { HostKey } from '../../core/model/ids.ts';
import type { Scope } from '../../core/model/job.ts';
import type { FoundBy, TaskKind } from '../../core/model/task.ts';
import type { ScopeReason } from '../../core/model/task-reasons.ts';
import { hostKeyOf, parseStoredSeed } from './canonical.ts';
import {
  type CompiledPattern,
  compileStoredPattern,
  compileUrlPattern,
  costlyPart,
  type PatternProblem,
  type Steps,
} from './pattern.ts';
import { isTooLong, trapIn } from './traps.ts';

/** A canonical URL that was found, and how. */
interface ScopeCandidate {
  readonly url: string;
  readonly hostKey: HostKey;
  readonly depth: number;
  readonly foundBy: FoundBy;
  /** The link, or the page it stood on, asked not to be followed. */
  readonly isNofollow: boolean;
  /** Page, when left out. */
  readonly kind?: TaskKind;
}

/**
 * `rule` names what decided, as the ledger shows it: `scope.depth`, `scope.nofollow`, `scope.domain`,
 * `scope.exclude:<pattern>`, `scope.include` (none of them matched), `scope.trap:<which>`, or `scope.pattern-cost`
 * when matching the patterns against this URL would take more steps than one URL may cost.
 */
type ScopeDecision = { readonly inScope: true } | { readonly inScope: false; readonly rule: ScopeReason };

/**
 * Whether a URL belongs to the job; the first rule that says no decides.
 *
 * Seeds always belong: the caller named them. Sitemaps are a means of finding pages, not pages, so depth, domain and
 * include do not apply to them, exclude and the traps do.
 */
export type ScopeCheck = (
  candidate: ScopeCandidate,
  /** Shared by several URLs that are judged in one go; without it the URL has MAX_URL_STEPS for itself. */
  steps?: Steps,
) => ScopeDecision;

/**
 * Steps that matching the patterns may take for one URL. The URL is the site's to choose and the patterns are the
 * caller's, and some URLs are judged on the main thread: a step takes up to 100 ns, so this is a tenth of a second
 * at the very worst and far less with patterns as people write them.
 */
export const MAX_URL_STEPS = 1_000_000;
/** What the patterns of one job may cost together for each character of a URL; a plain pattern has about 30. */
const MAX_STEPS_PER_CHAR = 5_000;

interface ScopeProblem {
  readonly field: string;
  readonly message: string;
  readonly position?: number;
}

const SHOWN_PROBLEMS = 10;
const MAX_LISTED_PROBLEMS = 100;

const IN_SCOPE: ScopeDecision = { inScope: true };
const out = (rule: ScopeReason): ScopeDecision => ({ inScope: false, rule });
const OUT_BY_DEPTH = out('scope.depth');
const OUT_BY_NOFOLLOW = out('scope.nofollow');
const OUT_BY_DOMAIN = out('scope.domain');
const OUT_BY_INCLUDE = out('scope.include');
const OUT_BY_LENGTH = out('scope.trap:url-length');
const OUT_BY_COST = out('scope.pattern-cost');

/**
 * Compiles a scope once for the many URLs it will judge. Throws VALIDATION_FAILED with one detail per wrong pattern
 * or domain. It needs nothing but plain data, so every thread compiles its own.
 *
 * `isNew` refuses patterns that cost too much as well. The patterns of stored jobs were accepted, perhaps by an
 * earlier version with other limits: those are compiled, and MAX_URL_STEPS bounds what they cost.
 */
export function compileScope(scope: Scope, seeds: readonly string[], { isNew = false } = {}): ScopeCheck {
  const problems: ScopeProblem[] = [];
  const cost: PatternCost = { stepsPerChar: 0, most: isNew ? MAX_STEPS_PER_CHAR : Number.POSITIVE_INFINITY };
  const compile = scope.patternSyntax === 'glob' ? compileUrlPattern : compileStoredPattern;
  const include = compilePatterns('include', scope.include, compile, problems, cost);
  const exclude = compilePatterns('exclude', scope.exclude, compile, problems, cost).map(
    ({ pattern, test }) => ({
      test,
      decision: out(`scope.exclude:${pattern}`),
    }),
  );
  const domains = compileDomains(scope, seeds);
  for (const { index, message } of domains.problems) {
    problems.push({ field: `allowedDomains.${index}`, message });
  }
  if (problems.length > 0) {
    const shown = problems.slice(0, SHOWN_PROBLEMS).map(({ field, message }) => `${field}: ${message}`);
    const more = problems.length - shown.length;
    if (more > 0) shown.push(`(and ${more} more)`);
    throw new ScrapifieError('VALIDATION_FAILED', shown.join(' '), {
      details: problems.slice(0, MAX_LISTED_PROBLEMS),
    });
  }
  const maxDepth = scope.maxDepth ?? Number.POSITIVE_INFINITY;

  return (candidate, steps = { left: MAX_URL_STEPS }) => {
    if (candidate.foundBy === 'seed') return IN_SCOPE;
    const { url } = candidate;
    const isPage = candidate.kind === undefined || candidate.kind === 'page';
    if (isPage) {
      if (candidate.depth > maxDepth) return OUT_BY_DEPTH;
      if (candidate.isNofollow && scope.obeyNofollow) return OUT_BY_NOFOLLOW;
      if (!domains.isAllowed(candidate.hostKey)) return OUT_BY_DOMAIN;
    }
    // Before the patterns: what they cost grows with the URL.
    if (isTooLong(url)) return OUT_BY_LENGTH;
    for (const { test, decision } of exclude) {
      if (test(url, steps)) return decision;
      if (steps.left < 0) return OUT_BY_COST;
    }
    if (isPage && include.length > 0 && !include.some(({ test }) => test(url, steps))) {
      return steps.left < 0 ? OUT_BY_COST : OUT_BY_INCLUDE;
    }
    const trap = trapIn(url);
    return trap === null ? IN_SCOPE : out(`scope.trap:${trap}`);
  };
}

interface PatternCost {
  stepsPerChar: number;
  readonly most: number;
}

/** Stops compiling at the pattern with which the job's patterns cost too much: compiling the rest costs time, too. */
function compilePatterns(
  field: string,
  patterns: readonly string[],
  compile: (pattern: string) => CompiledPattern | PatternProblem,
  problems: ScopeProblem[],
  cost: PatternCost,
): (CompiledPattern & { readonly pattern: string })[] {
  const compiled: (CompiledPattern & { readonly pattern: string })[] = [];
  for (const [index, pattern] of patterns.entries()) {
    if (cost.stepsPerChar > cost.most) break;
    const result = (Number.isFinite(cost.most) ? costlyPart(pattern) : null) ?? compile(pattern);
    if ('message' in result) {
      problems.push({ field: `${field}.${index}`, ...result });
      continue;
    }
    compiled.push({ pattern, ...result });
    cost.stepsPerChar += result.stepsPerChar;
    if (cost.stepsPerChar <= cost.most) continue;
    const message =
      `Together with the patterns before it, this one takes ${cost.stepsPerChar} steps for each character of a ` +
      `URL; at most ${cost.most} are allowed. Use fewer patterns, or smaller repetitions.`;
    problems.push({ field: `${field}.${index}`, message });
  }
  return compiled;
}

type DomainTest = (hostKey: HostKey) => boolean;

interface DomainProblem {
  readonly index: number;
  readonly message: string;
}

/**
 * Which hosts a job may visit.
 *
 * - Without `allowedDomains`: the hosts of the seeds, port included. With `allowSubdomains`: everything under their
 *   registrable domains (of `a.b.co.uk`: `b.co.uk`) as well, on any port; an address has nothing under it.
 * - With `allowedDomains`, these instead: `example.com` is that host on any port, `example.com:8080` on that one,
 *   `*.example.com` the hosts below it but not itself. `allowSubdomains` adds the hosts below every one.
 * - `www.example.com` and `example.com` count as one host throughout.
 * - `allowExternal` allows every host.
 */
function compileDomains(
  scope: Pick<Scope, 'allowedDomains' | 'allowSubdomains' | 'allowExternal'>,
  seeds: readonly string[],
): { readonly isAllowed: DomainTest; readonly problems: readonly DomainProblem[] } {
  const hosts = new Set<string>();
  const hostsOnAnyPort = new Set<string>();
  /** A host below one of these is allowed; found by walking up the candidate's labels, however many there are. */
  const parents = new Set<string>();
  const problems: DomainProblem[] = [];

  for (const [index, entry] of scope.allowedDomains.entries()) {
    const isBelow = entry.startsWith('*.');
    const url = parseHost(isBelow ? entry.slice(2) : entry);
    if (url === null) {
      const message = `“${entry}” is not a host; write example.com, example.com:8080 or *.example.com.`;
      problems.push({ index, message });
      continue;
    }
    const host = hostKeyOf(url);
    if (isBelow || scope.allowSubdomains) parents.add(isBelow ? host : bareHost(host));
    if (!isBelow) (url.port === '' ? hostsOnAnyPort : hosts).add(bareHost(host));
  }
  for (const seed of scope.allowedDomains.length === 0 ? seeds : []) {
    const url = parseStoredSeed(seed);
    if (url === null) continue;
    hosts.add(bareHost(hostKeyOf(url)));
    if (!scope.allowSubdomains || isAddress(url.hostname)) continue;
    const name = withoutPort(hostKeyOf(url));
    // A bare name such as `localhost` is its own domain.
    const domain = getDomain(name, { allowPrivateDomains: true }) ?? name;
    hostsOnAnyPort.add(domain);
    parents.add(domain);
  }

  const isBelowParent = (hostKey: string): boolean => {
    const name = withoutPort(hostKey);
    for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) {
      const parent = name.slice(dot + 1);
      if (parents.has(parent) || (hostKey !== name && parents.has(parent + hostKey.slice(name.length))))
        return true;
    }
    return false;
  };
  const isAllowed: DomainTest = (hostKey) => {
    if (scope.allowExternal) return true;
    const bare = bareHost(hostKey);
    if (hosts.has(bare)) return true;
    if (hostsOnAnyPort.size > 0 && hostsOnAnyPort.has(withoutPort(bare))) return true;
    return parents.size > 0 && isBelowParent(hostKey);
  };
  return { isAllowed, problems };
}

function parseHost(entry: string): URL | null {
  if (entry === '' || /[\s/?#@\\*]/.test(entry)) return null;
  return URL.parse(`https://${entry}`);
}

function isAddress(hostname: string): boolean {
  return hostname.startsWith('[') || isIPv4(hostname);
}

function bareHost(hostKey: string): string {
  return hostKey.startsWith('www.') ? hostKey.slice(4) : hostKey;
}

function withoutPort(hostKey: string): string {
  const colon = hostKey.lastIndexOf(':');
  return colon === -1 || hostKey.endsWith(']') ? hostKey : hostKey.slice(0, colon);
}
