import { isIPv4 } from 'node:net';
import { type EngineName, WEB_ENGINES } from '../../core/model/attempt.ts';
import { traitsOf } from '../../core/model/engine-traits.ts';
import type { HostKey } from '../../core/model/ids.ts';
import type { AllowedHours, Consent, HostPolicy } from '../../core/model/policy.ts';
import type { ProxyTier } from '../../core/model/proxy.ts';
import type { TaskReason } from '../../core/model/task-reasons.ts';
import type { OptOut } from '../../core/ports/site-owner-store.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';

/** One entry of a policy file: what it does not say, a less specific entry or the default says. */
export interface PolicyEntry {
  readonly ratePerSecond?: number | null;
  readonly burst?: number;
  readonly concurrency?: number;
  readonly minDelayMs?: number;
  readonly maxCrawlDelayMs?: number;
  readonly slowDownMs?: number;
  readonly allowedHours?: AllowedHours | null;
  readonly robots?: 'obey' | 'ignore';
  readonly engines?: readonly EngineName[];
  readonly actionPauseMs?: HostPolicy['actionPauseMs'];
  readonly proxyTier?: string | null;
  readonly maxProxyTier?: ProxyTier | null;
  readonly deny?: boolean;
  readonly notes?: string | null;
  readonly consent?: readonly Consent[];
}

/** A policy file as read. Hosts are patterns in the form that `hostPattern` gives them. */
export interface PolicyFile {
  readonly default: PolicyEntry;
  readonly domains: ReadonlyMap<string, PolicyEntry>;
  readonly denyList: readonly string[];
  /** When null, every host is allowed that nothing denies. */
  readonly allowList: readonly string[] | null;
}

/** The operator's rules and the site owners' opt-outs, at one moment. Immutable: a change is a new object. */
export interface Policies {
  readonly file: PolicyFile;
  /** Never fails: a host that nothing names has the default. */
  policyFor(host: HostKey): HostPolicy;
  /** The rule that keeps this host from being fetched at all; null when none does. */
  denied(host: HostKey): { readonly rule: TaskReason } | null;
  withOptOuts(optOuts: readonly OptOut[]): Policies;
}

/** For hosts that no policy names. */
export const DEFAULT_POLICY: HostPolicy = {
  ratePerSecond: 2,
  burst: 1,
  concurrency: 2,
  minDelayMs: 0,
  maxCrawlDelayMs: 60_000,
  slowDownMs: 60_000,
  allowedHours: null,
  robots: 'obey',
  engines: WEB_ENGINES,
  actionPauseMs: null,
  proxyTier: null,
  maxProxyTier: null,
  deny: false,
  notes: null,
  consent: [],
  matched: ['default'],
};

export const EMPTY_POLICY_FILE: PolicyFile = {
  default: {},
  domains: new Map(),
  denyList: [],
  allowList: null,
};

/** Hosts whose merged policy is kept. */
const MAX_KEPT_HOSTS = 10_000;

export function buildPolicies(file: PolicyFile, optOuts: readonly OptOut[] = []): Policies {
  const denyList = new Set(file.denyList);
  const allowList = file.allowList === null ? null : new Set(file.allowList);
  const patternOf = ({ host }: OptOut) => hostPattern(host) ?? host.toLowerCase();
  const optedOut = new Set(optOuts.filter(({ minDelayMs }) => minDelayMs === null).map(patternOf));
  const slowed = new Map(optOuts.map((optOut) => [patternOf(optOut), optOut.minDelayMs ?? 0]));
  const merged = new BoundedMap<HostKey, { policy: HostPolicy; denied: { rule: TaskReason } | null }>(
    MAX_KEPT_HOSTS,
  );

  function mergedFor(host: HostKey) {
    return merged.getOrCreate(host, () => {
      const patterns = patternsOf(host);
      const policy = slowDown(merge(file, patterns), slowed, patterns);
      return { policy, denied: deniedBy(policy, patterns) };
    });
  }

  function deniedBy(policy: HostPolicy, patterns: readonly string[]): { rule: TaskReason } | null {
    const optOut = patterns.findLast((pattern) => optedOut.has(pattern));
    if (optOut !== undefined) return { rule: `opt-out:${optOut}` };
    const listed = patterns.findLast((pattern) => denyList.has(pattern));
    if (listed !== undefined) return { rule: `policy.deny-list:${listed}` };
    if (policy.deny) return { rule: `policy.deny:${denyingEntry(file, policy)}` };
    const isAllowed = allowList === null || patterns.some((pattern) => allowList.has(pattern));
    return isAllowed ? null : { rule: 'policy.allow-list' };
  }

  return {
    file,
    policyFor: (host) => mergedFor(host).policy,
    denied: (host) => mergedFor(host).denied,
    withOptOuts: (changed) => buildPolicies(file, changed),
  };
}

/**
 * The one spelling of a host pattern: `example.com` (it and its subdomains, any port), `*.example.com` (its
 * subdomains only), `example.com:8080` (exactly that host key). Null when it is none of these.
 */
export function hostPattern(text: string): string | null {
  const isWild = text.startsWith('*.');
  const [, name = '', port] =
    /^(\[[^\]]*\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(isWild ? text.slice(2) : text) ?? [];
  if (name === '' || /[\s/?#@\\%*]/.test(name) || (isWild && port !== undefined)) return null;
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return null;
  const url = URL.parse(`http://${name.replace(/\.$/, '')}/`);
  if (url === null || url.hostname === '') return null;
  if (isWild) return isAddress(url.hostname) ? null : `*.${url.hostname}`;
  return port === undefined ? url.hostname : `${url.hostname}:${Number(port)}`;
}

/** Every pattern that covers the host, least specific first. */
function patternsOf(host: HostKey): readonly string[] {
  const name = host.replace(/:\d+$/, '');
  const patterns: string[] = [];
  if (!isAddress(name)) {
    for (let dot = name.lastIndexOf('.'); dot > 0; dot = name.lastIndexOf('.', dot - 1)) {
      const parent = name.slice(dot + 1);
      patterns.push(parent, `*.${parent}`);
    }
  }
  patterns.push(name);
  if (name !== host) patterns.push(host);
  return patterns;
}

function isAddress(name: string): boolean {
  return name.startsWith('[') || isIPv4(name);
}

function merge(file: PolicyFile, patterns: readonly string[]): HostPolicy {
  const matched = patterns.filter((pattern) => file.domains.has(pattern));
  let merged: HostPolicy = { ...DEFAULT_POLICY, ...file.default };
  for (const pattern of matched) merged = { ...merged, ...file.domains.get(pattern) };
  const { consent } = merged;
  return {
    ...merged,
    // A narrower entry that replaces the consent also takes back what rested on it.
    robots: consent.includes('robots') ? merged.robots : 'obey',
    engines: consent.includes('stealth')
      ? merged.engines
      : merged.engines.filter((name) => traitsOf(name).consent !== 'stealth'),
    matched: ['default', ...matched],
  };
}

/** What the owner of a site asked for stands above the operator's file: one request at a time, no faster than asked. */
function slowDown(
  policy: HostPolicy,
  slowed: ReadonlyMap<string, number>,
  patterns: readonly string[],
): HostPolicy {
  const asked = patterns.filter((pattern) => (slowed.get(pattern) ?? 0) > 0);
  if (asked.length === 0) return policy;
  const delays = asked.map((pattern) => slowed.get(pattern) ?? 0);
  return {
    ...policy,
    minDelayMs: Math.max(policy.minDelayMs, ...delays),
    burst: 1,
    concurrency: 1,
    matched: [...policy.matched, ...asked.map((pattern) => `owner:${pattern}`)],
  };
}

function denyingEntry(file: PolicyFile, policy: HostPolicy): string {
  return policy.matched.findLast((name) => file.domains.get(name)?.deny === true) ?? 'default';
}
