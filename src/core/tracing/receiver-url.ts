const TRACES_PATH = '/v1/traces';

/** `/v1/traces` is where receivers take spans, unless the URL has a path of its own. */
export function receiverUrl(given: string): URL {
  const url = new URL(given);
  if (url.pathname === '/') url.pathname = TRACES_PATH;
  return url;
}

/** The URL without user and password, and these as a header. */
export function withoutLogin(given: URL): { href: string; login: Record<string, string> } {
  const url = new URL(given);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  if (username === '' && password === '') return { href: url.href, login: {} };
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { href: url.href, login: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } };
}
