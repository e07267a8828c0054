import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { createServer as createNetServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { createByteBudget, type HeldBytes } from '../byte-budget.ts';
import { codeOfFailure, get, listen, serve, serveRaw, testEngine, textOf } from './loopback.fixture.ts';

function pump(response: ServerResponse, chunk: string | Uint8Array): void {
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
}

/** Resolves when the server sees its client gone. */
function whenCut(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => response.on('close', resolve));
}

describe('too much', () => {
  test('an endless body is cut at the limit, and its connection with it', async () => {
    let cut: Promise<void> = Promise.resolve();
    const site = await serve((_, response) => {
      cut = whenCut(response);
      pump(response, 'x'.repeat(65_536));
    });
    expect(await codeOfFailure(get(testEngine(), site.origin))).toBe('BODY_LIMIT_EXCEEDED');
    await cut;
  });

  test('a declared length above the limit is not even read', async () => {
    let cut: Promise<void> = Promise.resolve();
    const site = await serve((_, response) => {
      cut = whenCut(response);
      response.writeHead(200, { 'content-length': 1_000_001 });
      response.write('x');
    });
    expect(await codeOfFailure(get(testEngine(), site.origin))).toBe('BODY_LIMIT_EXCEEDED');
    await cut;
  });

  test('a body of exactly the limit is fine', async () => {
    const site = await serve((_, response) => response.end('x'.repeat(5_000)));
    const { body } = await get(testEngine(), site.origin, { maxBodyBytes: 5_000 });
    expect(body.byteLength).toBe(5_000);
    expect(await codeOfFailure(get(testEngine(), site.origin, { maxBodyBytes: 4_999 }))).toBe(
      'BODY_LIMIT_EXCEEDED',
    );
  });

  test('a body above a megabyte, declared or not, comes whole', async () => {
    const whole = Buffer.alloc(3_000_000, 'abc');
    const site = await serve((request, response) => {
      if (request.url === '/declared') response.setHeader('content-length', whole.length);
      response.write(whole.subarray(0, 1_000_000));
      response.end(whole.subarray(1_000_000));
    });
    for (const path of ['/declared', '/chunked']) {
      const { body } = await get(testEngine(), site.origin + path, { maxBodyBytes: 3_000_000 });
      expect(whole.equals(body)).toBe(true);
    }
  });

  test.each([
    ['one huge header', `x-big: ${'a'.repeat(100_000)}\r\n`],
    ['very many headers', 'x-a: bbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n'.repeat(4_000)],
  ])('%s', async (_, lines) => {
    const site = await serveRaw((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${lines}content-length: 2\r\n\r\nok`);
    });
    expect(await codeOfFailure(get(testEngine(), site.origin))).toBe('HEADERS_LIMIT_EXCEEDED');
  });

  test('interim responses without end', async () => {
    const site = await serveRaw((socket) => {
      const more = () => {
        while (!socket.destroyed && socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'));
      };
      socket.on('drain', more);
      more();
    });
    expect(await codeOfFailure(get(testEngine(), site.origin))).toBe('PROTOCOL_ERROR');
  });
});

/** Sends the same bytes `times` times, as fast as they are taken, and then `end`. */
function repeat(socket: Socket, bytes: Buffer, times = Number.POSITIVE_INFINITY, end = ''): void {
  let sent = 0;
  const more = () => {
    while (!socket.destroyed && sent < times) {
      sent += 1;
      if (sent === times) socket.write(Buffer.concat([bytes, Buffer.from(end)]));
      else if (!socket.write(bytes)) return;
    }
  };
  socket.on('drain', more);
  more();
}

const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

describe('cut into very many pieces', () => {
  /** An account that remembers the most it ever counted. */
  function account(): { held: HeldBytes; mostBytes: () => number } {
    const counted = createByteBudget(1_000_000_000).open();
    let most = 0;
    const take: HeldBytes['take'] = (bytes, resume) => {
      const mayGoOn = counted.take(bytes, resume);
      most = Math.max(most, counted.bytes);
      return mayGoOn;
    };
    const held = {
      bytes: 0,
      group: null,
      take,
      give: counted.give.bind(counted),
      close: counted.close.bind(counted),
    };
    return { held, mostBytes: () => most };
  }

  test('a body in chunks of one byte costs about its size', async () => {
    const site = await serveRaw((socket) => {
      socket.write(CHUNKED);
      repeat(socket, Buffer.from('1\r\na\r\n'.repeat(10_000)), 400, '0\r\n\r\n');
    });
    const { held, mostBytes } = account();
    const limits = { maxBodyBytes: 10_000_000, timeoutMs: 60_000, held };
    const { body } = await get(testEngine(), site.origin, limits);
    expect(body.byteLength).toBe(4_000_000);
    // A Buffer for each chunk would be 500 MB.
    expect(mostBytes()).toBeGreaterThan(4_000_000);
    expect(mostBytes()).toBeLessThan(10_000_000);
  });

  test('a compressed body in chunks of one byte does, too', async () => {
    const coded = gzipSync(randomBytes(200_000));
    const site = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n');
      const cut = Array.from(coded, (byte) => Buffer.from([0x31, 0x0d, 0x0a, byte, 0x0d, 0x0a]));
      socket.write(Buffer.concat([...cut, Buffer.from('0\r\n\r\n')]));
    });
    const { body } = await get(testEngine(), site.origin);
    expect(body.byteLength).toBe(200_000);
  });

  test.each([
    ['trailers', `${CHUNKED}0\r\n`, 'x-trailer: aaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n', 'HEADERS_LIMIT_EXCEEDED'],
    ['one chunk extension', `${CHUNKED}1;x=`, 'a'.repeat(1_000), 'TASK_TIMEOUT'],
    ['empty lines before a head', '', '\r\n', 'TASK_TIMEOUT'],
    ['headers without values', 'HTTP/1.1 200 OK\r\n', 'a:\r\n', 'HEADERS_LIMIT_EXCEEDED'],
  ])('%s without end', async (_, start, again, code) => {
    const site = await serveRaw((socket) => {
      socket.write(start);
      repeat(socket, Buffer.from(again.repeat(1_000)));
    });
    // Bytes that the engine does not keep cost the time of the attempt, and no memory.
    const timeoutMs = code === 'TASK_TIMEOUT' ? 500 : 20_000;
    const before = process.memoryUsage().rss;
    expect(await codeOfFailure(get(testEngine(), site.origin, { timeoutMs }))).toBe(code);
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
  });

  test('a chunk extension with every byte is read, and not kept', async () => {
    const site = await serveRaw((socket) => {
      socket.write(CHUNKED);
      repeat(socket, Buffer.from(`1;${'x'.repeat(500)}\r\na\r\n`.repeat(100)), 500, '0\r\n\r\n');
    });
    const { held, mostBytes } = account();
    const { body } = await get(testEngine(), site.origin, { held });
    expect(body.byteLength).toBe(50_000);
    expect(mostBytes()).toBeLessThan(200_000);
  });
});

describe('too slow', () => {
  test('a server that never answers', async () => {
    const site = await serve(() => {});
    const engine = testEngine({ headersTimeoutMs: 100 });
    expect(await codeOfFailure(get(engine, site.origin))).toBe('HEADERS_TIMEOUT');
  });

  test('a head that never ends', async () => {
    const site = await serveRaw((socket) => socket.write('HTTP/1.1 200 OK\r\nx-a: b\r\n'));
    const engine = testEngine({ headersTimeoutMs: 100 });
    expect(await codeOfFailure(get(engine, site.origin))).toBe('HEADERS_TIMEOUT');
  });

  test('a body that stalls', async () => {
    const site = await serve((_, response) => response.write('begun'));
    const engine = testEngine({ bodyTimeoutMs: 100 });
    expect(await codeOfFailure(get(engine, site.origin))).toBe('BODY_TIMEOUT');
  });

  test('a body that drips is ended by the time for the whole attempt', async () => {
    const site = await serve((_, response) => {
      const drip = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(drip));
    });
    const engine = testEngine({ bodyTimeoutMs: 10_000 });
    expect(await codeOfFailure(get(engine, site.origin, { timeoutMs: 200 }))).toBe('TASK_TIMEOUT');
  });

  test('redirects share one time', async () => {
    let count = 0;
    const site = await serve((_, response) => {
      count += 1;
      setTimeout(() => response.writeHead(302, { location: `/${count}` }).end(), 60);
    });
    const attempt = get(testEngine(), site.origin, { timeoutMs: 200, maxRedirects: 1_000 });
    expect(await codeOfFailure(attempt)).toBe('TASK_TIMEOUT');
  });

  test('a request that waits for a connection is ended too', async () => {
    const site = await serve(() => {});
    const engine = testEngine({ connectionsPerHost: 1 });
    const both = [1, 2].map(() => codeOfFailure(get(engine, site.origin, { timeoutMs: 100 })));
    expect(await Promise.all(both)).toEqual(['TASK_TIMEOUT', 'TASK_TIMEOUT']);
  });
});

describe('broken', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['short body, then closed', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc', 'CONNECTION_RESET'],
    [
      'short body on a connection meant to close',
      'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 10\r\n\r\nabc',
      'PROTOCOL_ERROR',
    ],
    ['chunks that stop', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabc', 'CONNECTION_RESET'],
    [
      'chunk size that is no number',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n',
      'PROTOCOL_ERROR',
    ],
    [
      'chunk longer than it says',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nabcdef\r\n0\r\n\r\n',
      'PROTOCOL_ERROR',
    ],
    [
      'two different lengths',
      'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd',
      'PROTOCOL_ERROR',
    ],
    ['no HTTP at all', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', 'PROTOCOL_ERROR'],
    ['half a head', 'HTTP/1.1 200 OK\r\nx-a', 'CONNECTION_RESET'],
    ['nothing', '', 'CONNECTION_RESET'],
    [
      'an upgrade nobody asked for',
      'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      'PROTOCOL_ERROR',
    ],
  ];

  test.each(cases)('%s', async (_, answer, code) => {
    const site = await serveRaw((socket) => socket.end(Buffer.from(answer, 'latin1')));
    expect(await codeOfFailure(get(testEngine(), site.origin))).toBe(code);
  });

  test.each([
    ['with a length', 'content-length: 900000'],
    ['in chunks', 'transfer-encoding: chunked'],
    ['that lasts until the end', 'connection: close'],
  ])('a body %s that is reset in the middle is never taken for whole', async (_, header) => {
    const site = await serveRaw((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${header}\r\n\r\n`);
      socket.write(`5\r\nabcde\r\n${'x'.repeat(1_000)}`, () => setImmediate(() => socket.resetAndDestroy()));
    });
    expect(await codeOfFailure(get(testEngine(), site.origin))).toMatch(
      /^(CONNECTION_RESET|PROTOCOL_ERROR)$/,
    );
  });

  test('a body that lasts until the end is whole when the server ends it', async () => {
    const site = await serveRaw((socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nhello'));
    expect(textOf(await get(testEngine(), site.origin))).toBe('hello');
  });

  test('what follows a body is not taken for the next answer', async () => {
    const site = await serveRaw((socket, head) => {
      const path = head.split(' ')[1];
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n${path}`);
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil');
    });
    const engine = testEngine();
    const answers: string[] = [];
    for (const path of ['/1', '/2', '/3']) answers.push(textOf(await get(engine, site.origin + path)));
    expect(answers).toEqual(['/1', '/2', '/3']);
  });
});

describe('out of reach', () => {
  test('a name that does not exist', async () => {
    expect(await codeOfFailure(get(testEngine(), 'http://nonexistent.invalid/'))).toBe('DNS_FAILED');
  });

  test('a port where nobody listens', async () => {
    const server = createNetServer();
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
      });
    });
    expect(await codeOfFailure(get(testEngine(), `http://127.0.0.1:${port}/`))).toBe('CONNECT_FAILED');
  });

  test('TLS where there is none', async () => {
    const plain = await serveRaw((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const closing = await listen(createNetServer((socket) => socket.once('data', () => socket.end())));
    const talking = await listen(createNetServer((socket) => socket.write('220 mail.example ESMTP\r\n')));
    const engine = testEngine({ connectTimeoutMs: 300 });
    expect(await codeOfFailure(get(engine, `https://127.0.0.1:${closing.port}/`))).toBe('TLS_FAILED');
    expect(await codeOfFailure(get(engine, `https://127.0.0.1:${talking.port}/`))).toBe('TLS_FAILED');
    expect(await codeOfFailure(get(engine, `https://127.0.0.1:${plain.port}/`))).toBe('CONNECT_FAILED');
  });
});

test('messages name the host, not the path or the query', async () => {
  const site = await serveRaw((socket) => socket.end());
  const failure = await get(testEngine(), `${site.origin}/secret?token=hush`).catch((error) => error.message);
  expect(failure).toContain('127.0.0.1');
  expect(failure).not.toMatch(/secret|hush/);
});

test('after all of it at once the engine works on', async () => {
  const site = await serveRaw((socket, head) => {
    if (head.includes('/ok')) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
    else if (head.includes('/reset')) socket.resetAndDestroy();
    else if (head.includes('/junk')) socket.end('junk\r\n\r\n');
    else if (head.includes('/short')) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx');
  });
  const engine = testEngine({ headersTimeoutMs: 300 });
  const codes = await Promise.all(
    Array.from({ length: 200 }, (_, index) => {
      const path = ['/ok', '/reset', '/junk', '/short', '/silent'][index % 5];
      return codeOfFailure(get(engine, `${site.origin}${path}`));
    }),
  );
  const expected = ['none 200', 'CONNECTION_RESET', 'PROTOCOL_ERROR', 'CONNECTION_RESET', 'HEADERS_TIMEOUT'];
  expect(codes.map((code, index) => code === expected[index % 5])).not.toContain(false);
  expect(textOf(await get(engine, `${site.origin}/ok`))).toBe('ok');
});
