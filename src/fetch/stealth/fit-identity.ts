import type { Identity } from '../../model/identity.ts';
import { brandHeader, brandsOf, majorOf } from './client-hints.ts';

const VERSION = /^\d{2,4}(?:\.\d{1,6}){3}$/;

/**
 * The same visitor with a browser of this version: another one would contradict what its scripts can do. The same
 * object when nothing has to change, or when the version is none that a Chrome has.
 */
export function fitIdentity(identity: Identity, browserVersion: string): Identity {
  const { clientHints, userAgent } = identity;
  if (!VERSION.test(browserVersion) || clientHints.fullVersion === browserVersion) return identity;
  const brands = brandsOf(browserVersion);
  const agent = userAgent.replace(/(?<=\bChrome\/)\d+/, String(majorOf(browserVersion)));
  const headers: Readonly<Record<string, string>> = {
    'user-agent': agent,
    'sec-ch-ua': brandHeader(brands.brands),
  };
  return {
    ...identity,
    userAgent: agent,
    clientHints: { ...clientHints, ...brands, fullVersion: browserVersion },
    headers: identity.headers.map(([name, value]) => [name, headers[name] ?? value] as const),
  };
}
