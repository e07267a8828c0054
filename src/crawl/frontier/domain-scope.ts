import { isIPv4 } from 'node:net';
import { getDomain } from 'tldts';
import type { HostKey } from '../../core/model/ids.ts';
import type { Scope } from '../../core/model/job.ts';
import { hostKeyOf, parseStoredSeed } from './canonical.ts';

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
export function compileDomains(
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
