import { ScrapifieError } from '../errors/scrapifie-error.ts';
import type { HostKey } from '../model/ids.ts';
import type { Scope } from '../model/job.ts';
import type { FoundBy, TaskKind } from '../model/task.ts';
import { compileDomains } from './domain-scope.ts';
import { compilePattern, type UrlTest } from './pattern.ts';
import { trapIn } from './trap.ts';

/** A canonical URL that was found, and how. */
export interface ScopeCandidate {
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
 * `scope.exclude:<pattern>`, `scope.include` (none of them matched) or `scope.trap:<which>`.
 */
export type ScopeDecision = { readonly inScope: true } | { readonly inScope: false; readonly rule: string };

/**
 * Whether a URL belongs to the job; the first rule that says no decides.
 *
 * Seeds always belong: the caller named them. Sitemaps are a means of finding pages, not pages, so depth, domain and
 * include do not apply to them, exclude and the traps do.
 */
export type ScopeCheck = (candidate: ScopeCandidate) => ScopeDecision;

interface ScopeProblem {
  readonly field: string;
  readonly message: string;
  readonly position?: number;
}

const IN_SCOPE: ScopeDecision = { inScope: true };
const out = (rule: string): ScopeDecision => ({ inScope: false, rule });
const OUT_BY_DEPTH = out('scope.depth');
const OUT_BY_NOFOLLOW = out('scope.nofollow');
const OUT_BY_DOMAIN = out('scope.domain');
const OUT_BY_INCLUDE = out('scope.include');

/**
 * Compiles a scope once for the many URLs it will judge. Throws VALIDATION_FAILED with one detail per wrong pattern
 * or domain. It needs nothing but plain data, so every thread compiles its own.
 */
export function compileScope(scope: Scope, seeds: readonly string[]): ScopeCheck {
  const problems: ScopeProblem[] = [];
  const include = compilePatterns('include', scope.include, problems).map(({ test }) => test);
  const exclude = compilePatterns('exclude', scope.exclude, problems).map(({ pattern, test }) => ({
    test,
    decision: out(`scope.exclude:${pattern}`),
  }));
  const domains = compileDomains(scope, seeds);
  for (const { index, message } of domains.problems) {
    problems.push({ field: `allowedDomains[${index}]`, message });
  }
  if (problems.length > 0) {
    const shown = problems.map(({ field, message }) => `${field}: ${message}`).join(' ');
    throw new ScrapifieError('VALIDATION_FAILED', shown, { details: problems });
  }
  const maxDepth = scope.maxDepth ?? Number.POSITIVE_INFINITY;

  return (candidate) => {
    if (candidate.foundBy === 'seed') return IN_SCOPE;
    const { url } = candidate;
    const isPage = candidate.kind === undefined || candidate.kind === 'page';
    if (isPage) {
      if (candidate.depth > maxDepth) return OUT_BY_DEPTH;
      if (candidate.isNofollow && scope.obeyNofollow) return OUT_BY_NOFOLLOW;
      if (!domains.isAllowed(candidate.hostKey)) return OUT_BY_DOMAIN;
    }
    for (const { test, decision } of exclude) if (test(url)) return decision;
    if (isPage && include.length > 0 && !include.some((test) => test(url))) return OUT_BY_INCLUDE;
    const trap = trapIn(url);
    return trap === null ? IN_SCOPE : out(`scope.trap:${trap}`);
  };
}

function compilePatterns(
  field: string,
  patterns: readonly string[],
  problems: ScopeProblem[],
): { readonly pattern: string; readonly test: UrlTest }[] {
  const compiled: { pattern: string; test: UrlTest }[] = [];
  for (const [index, pattern] of patterns.entries()) {
    const result = compilePattern(pattern);
    if (typeof result === 'function') compiled.push({ pattern, test: result });
    else problems.push({ field: `${field}[${index}]`, ...result });
  }
  return compiled;
}
