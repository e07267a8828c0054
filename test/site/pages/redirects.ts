import type { Answer, Family, SiteRequest } from '../exchange.ts';
import { html, json, numberIn, pageIn, redirect, segmentsOf } from '../exchange.ts';
import { addressAt } from '../hosts.ts';
import { documentOf, linkList } from '../layout.ts';

const STATUSES = new Set([301, 302, 303, 307, 308]);
const PREFIX = '/redirects/';

const arrived = (title: string): Answer => html(documentOf({ title, body: '<p>You have arrived.</p>' }));

/** `/redirects/chain/5` needs five redirects to arrive; a chain takes its status from the query. */
function chain(request: SiteRequest, left: number): Answer {
  const status = Number(request.query) || 302;
  if (left === 0) return arrived('End of the chain');
  return redirect(`${PREFIX}chain/${left - 1}?${status}`, STATUSES.has(status) ? status : 302);
}

/** Says what arrived: which method, headers and body survived a redirect. */
async function echo(request: SiteRequest): Promise<Answer> {
  const body = await request.readBody();
  return json({
    method: request.method,
    host: request.host,
    path: request.path,
    query: request.query,
    headers: request.headers,
    body: body.toString('utf8'),
  });
}

const PAGES: Readonly<Record<string, (request: SiteRequest) => Answer | Promise<Answer>>> = {
  '': () =>
    html(
      documentOf({
        title: 'Redirects',
        body: linkList([`${PREFIX}chain/1`, `${PREFIX}chain/5`, `${PREFIX}relative`, `${PREFIX}status/308`]),
      }),
    ),
  echo,
  end: () => arrived('Arrived'),
  self: () => redirect(`${PREFIX}self`),
  'loop-a': () => redirect(`${PREFIX}loop-b`),
  'loop-b': () => redirect(`${PREFIX}loop-a`),
  // Each step is a new URL, so only a limit on the number of redirects ends it.
  endless: (request) => redirect(`${PREFIX}endless?${(Number(request.query) || 0) + 1}`),
  relative: () => redirect('end'),
  dots: () => redirect('../redirects/./x/../end'),
  'no-scheme': (request) => redirect(`//${request.host}${PREFIX}end`),
  fragment: () => redirect(`${PREFIX}end#part`),
  // Sent as UTF-8 bytes, as many servers do, though the header should be ASCII.
  unicode: () => redirect(`${PREFIX}end?q=${Buffer.from('größe').toString('latin1')}`),
  spaces: () => redirect(`  ${PREFIX}end?q=a b  `),
  'no-location': () => ({ status: 302, headers: { 'content-type': 'text/html' }, body: Buffer.alloc(0) }),
  'empty-location': () => redirect(''),
  'bad-location': () => redirect('http://[not-a-host/'),
  'bad-port': () => redirect('http://127.0.0.1:99999/'),
  javascript: () => redirect('javascript:alert(1)'),
  data: () => redirect('data:text/html,<h1>hi</h1>'),
  file: () => redirect('file:///etc/passwd'),
  ftp: () => redirect('ftp://127.0.0.1/x'),
  metadata: () => redirect('http://169.254.169.254/latest/meta-data/'),
  private: () => redirect('http://10.0.0.1/'),
  decimal: (request) => redirect(`http://2130706433:${request.port}${PREFIX}end`),
  'closed-port': () => redirect('http://127.0.0.1:1/'),
  'other-host': (request) => redirect(`http://${addressAt(1)}:${request.port}${PREFIX}end`),
  'ping-pong': (request) => {
    const other = request.host.startsWith(`${addressAt(1)}:`) ? addressAt(2) : addressAt(1);
    return redirect(`http://${other}:${request.port}${PREFIX}ping-pong`);
  },
  'no-such-host': () => redirect('http://no-such-host.invalid/'),
  '300': () => redirect(`${PREFIX}end`, 300),
  '304': () => ({ status: 304, headers: {}, body: Buffer.alloc(0) }),
  refresh: () =>
    html(
      documentOf({
        title: 'Moved by meta refresh',
        head: `<meta http-equiv="refresh" content="0; url=${PREFIX}end">\n`,
        body: '<p>One moment.</p>',
      }),
    ),
};

export const redirects: Family = {
  prefix: PREFIX,
  about: 'redirects of every kind, good and bad',
  starts: [PREFIX],
  answer(request) {
    const [first = '', second] = segmentsOf(request, PREFIX);
    if (first === 'chain') {
      const left = numberIn(second, 10_000);
      return left === null ? null : chain(request, left);
    }
    if (first === 'status') {
      const status = numberIn(second, 399);
      return status !== null && STATUSES.has(status) ? redirect(`${PREFIX}echo`, status) : null;
    }
    return pageIn(PAGES, first)?.(request) ?? null;
  },
};
