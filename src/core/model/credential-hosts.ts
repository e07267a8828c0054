/** The hosts on which a stored credential may be used. Plain data: it travels with the login action. */
export interface CredentialHosts {
  /** `example.com`, `example.com:8443`, or `*.example.com` for all hosts below that one. */
  readonly hosts: readonly string[];
  /** Over unencrypted http too. Missing in credentials of earlier versions: no. */
  readonly allowHttp?: boolean | undefined;
}

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Whether the credential may be sent to the URL. A port that is not the scheme's own must be named. What is sent by http
 * can be read on the way, so that needs `allowHttp`, but for this machine's own loopback addresses.
 */
export function isFor({ hosts, allowHttp }: CredentialHosts, url: string): boolean {
  const parsed = URL.parse(url);
  if (parsed === null) return false;
  const isHttp = parsed.protocol === 'http:' && (allowHttp === true || LOOPBACK.test(parsed.hostname));
  if (parsed.protocol !== 'https:' && !isHttp) return false;
  const host = parsed.host.replace(/\.(?=:|$)/, '');
  return hosts.some((entry) => (entry.startsWith('*.') ? host.endsWith(entry.slice(1)) : host === entry));
}

/** Why `isFor` says no, for a message: without anything of the URL but scheme and host. */
export function notFor({ hosts }: CredentialHosts, url: string): string {
  const { protocol = '', host = '' } = URL.parse(url) ?? {};
  const isHttp = protocol === 'http:' && isFor({ hosts }, url.replace(/^http:/, 'https:'));
  if (isHttp) return `they may be sent by https only, unless they are stored with allowHttp`;
  return `the credentials are for ${hosts.join(', ')} and not for ${host === '' ? 'this page' : host}`;
}
