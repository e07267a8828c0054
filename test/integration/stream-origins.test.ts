import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endCommands, originOf, startCommand, temporaryFolder } from './cli-command.ts';

const folder = temporaryFolder();
let port = 0;
let own = '';
let secret = '';
let cookie = '';
beforeAll(async () => {
  const server = startCommand(['serve', '--port', '0', '--data-dir', folder.path('data')], {
    env: { SCRAPIFIE_CORS_ORIGINS: 'https://named.example', SCRAPIFIE_TRUSTED_PROXIES: '127.0.0.2' },
  });
  own = await originOf(server);
  port = Number(new URL(own).port);
  secret = readFileSync(folder.path('data/api-key'), 'utf8').trim();
  const signIn = await fetch(`${own}/dashboard/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: own },
    body: JSON.stringify({ key: secret }),
  });
  cookie = signIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
});
afterAll(async () => {
  await endCommands();
  folder.remove();
});

interface Asked {
  readonly path: string;
  readonly headers: readonly string[];
  /** The address that the connection comes from. */
  readonly from?: string;
}

/** The first line of the answer on a connection of its own. */
async function statusOf({ path, headers, from = '127.0.0.1' }: Asked): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  await once(socket, 'connect');
  socket.write([`GET ${path} HTTP/1.1`, ...headers, '', ''].join('\r\n'));
  const [first] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return first.toString().split('\r\n', 1)[0] ?? '';
}

const KINDS = {
  WebSocket: {
    path: '/v2/crawl/01890000-0000-7000-8000-000000000000',
    open: 'HTTP/1.1 101 Switching Protocols',
    headers: () => [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      `Sec-WebSocket-Protocol: ${secret}`,
    ],
  },
  'stream with a key': {
    path: '/v1/events',
    open: 'HTTP/1.1 200 OK',
    headers: () => [`Authorization: Bearer ${secret}`],
  },
  'stream with a sign-in': {
    path: '/v1/events',
    open: 'HTTP/1.1 200 OK',
    // Over TLS, which a trusted proxy takes away, the cookie has another name.
    headers: () => [`Cookie: ${cookie}; __Host-scrapifie=${cookie.split('=')[1]}`],
  },
};
const REFUSED = 'HTTP/1.1 403 Forbidden';
const names = Object.keys(KINDS) as (keyof typeof KINDS)[];

describe.each(names)('a %s', (name) => {
  const kind = KINDS[name];
  const answer = (headers: readonly string[], from?: string) => {
    const hasHost = headers.some((each) => each.startsWith('Host:'));
    const host = hasHost ? [] : [`Host: 127.0.0.1:${port}`];
    return statusOf({
      path: kind.path,
      headers: [...host, ...kind.headers(), ...headers],
      ...(from && { from }),
    });
  };

  it('is opened for programs, which send no Origin', async () => {
    expect(await answer([])).toBe(kind.open);
  });

  it('is opened for pages of this server and of origins that the settings name', async () => {
    expect(await answer([`Origin: ${own}`, 'Sec-Fetch-Site: same-origin'])).toBe(kind.open);
    expect(await answer(['Origin: https://named.example', 'Sec-Fetch-Site: cross-site'])).toBe(kind.open);
  });

  it.each([
    ['another site', ['Origin: https://evil.example']],
    ['a site without origin', ['Origin: null']],
    ['another port of this machine', ['Origin: http://127.0.0.1:1']],
    ['another name of this machine', ['Origin: http://localhost:1', 'Sec-Fetch-Site: same-site']],
    ['a picture or script of another site', ['Sec-Fetch-Site: cross-site']],
    ['two origins', ['Origin: https://named.example', 'Origin: https://evil.example']],
    [
      'a host that a client cannot forward',
      ['Origin: https://evil.example', 'X-Forwarded-Host: evil.example'],
    ],
  ])('is refused before it is opened for a page of %s', async (_what, headers) => {
    expect(await answer(headers)).toBe(REFUSED);
  });

  it('is opened for a page of the host that a trusted proxy forwards', async () => {
    const headers = [
      'Origin: https://crawler.example',
      'X-Forwarded-Host: crawler.example',
      'X-Forwarded-Proto: https',
    ];
    expect(await answer(headers, '127.0.0.2')).toBe(kind.open);
    expect(await answer(headers)).toBe(REFUSED);
  });
});

it('a stream whose address a person has typed into a browser is opened', async () => {
  const { path, open, headers } = KINDS['stream with a sign-in'];
  expect(
    await statusOf({ path, headers: [`Host: 127.0.0.1:${port}`, ...headers(), 'Sec-Fetch-Site: none'] }),
  ).toBe(open);
});
