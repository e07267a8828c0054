import { createSecureServer, type Http2SecureServer, type ServerHttp2Stream } from 'node:http2';
import { createServer } from 'node:https';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { codeOfFailure, get, listen, testEngine, textOf } from './loopback.fixture.ts';
import { selfSigned } from './self-signed.fixture.ts';

const certificate = selfSigned();
const trusting = { tls: { ca: certificate.cert } };

async function serveH2(answer: (stream: ServerHttp2Stream, path: string, server: Http2SecureServer) => void) {
  const server = createSecureServer({
    ...certificate,
    allowHTTP1: true,
    maxSendHeaderBlockLength: 500_000,
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    answer(stream, headers[':path'] ?? '/', server);
  });
  server.on('sessionError', () => {});
  return listen(server, 'https');
}

describe('TLS', () => {
  test('a certificate that nobody vouches for is refused', async () => {
    const site = await listen(
      createServer(certificate, (_, response) => response.end('ok')),
      'https',
    );
    expect(await codeOfFailure(get(testEngine(), site.origin))).toBe('TLS_FAILED');
    expect(textOf(await get(testEngine(trusting), site.origin))).toBe('ok');
  });

  test('a certificate for another name is refused', async () => {
    const site = await listen(
      createServer(certificate, (_, response) => response.end('ok')),
      'https',
    );
    const engine = testEngine({
      ...trusting,
      resolve: (_host, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    expect(await codeOfFailure(get(engine, `https://other.example:${site.port}/`))).toBe('TLS_FAILED');
    expect((await get(engine, `https://localhost:${site.port}/`)).statusCode).toBe(200);
  });

  test('a reset of a kept connection costs a GET nothing', async () => {
    let requests = 0;
    const site = await listen(
      createServer(certificate, (request, response) => {
        requests += 1;
        if (requests === 2) request.socket.destroy();
        else response.end('ok');
      }),
      'https',
    );
    const engine = testEngine(trusting);
    await get(engine, site.origin);
    expect(textOf(await get(engine, site.origin))).toBe('ok');
    expect(requests).toBe(3);
  });
});

describe('HTTP/2', () => {
  test('is spoken where the server prefers it, and many requests share a connection', async () => {
    const site = await serveH2((stream, path) => {
      stream.respond({ ':status': 200, 'content-type': 'text/html', 'set-cookie': ['a=1', 'b=2'] });
      stream.end(path);
    });
    const engine = testEngine(trusting);
    const paths = Array.from({ length: 60 }, (_, index) => `/p${index}?q`);
    const answers = await Promise.all(paths.map((path) => get(engine, site.origin + path)));
    expect(answers.map(textOf)).toEqual(paths);
    expect(answers[0]).toMatchObject({ httpVersion: '2', statusCode: 200, contentType: 'text/html' });
    expect(answers[0]?.headers['set-cookie']).toEqual(['a=1', 'b=2']);
    expect(Object.keys(answers[0]?.headers ?? {}).filter((name) => name.startsWith(':'))).toEqual([]);
    expect(site.accepted()).toBe(1);
  });

  test('is not spoken when it is turned off', async () => {
    const server = createSecureServer({ ...certificate, allowHTTP1: true }, (_, response) => {
      response.end('ok');
    });
    const site = await listen(server, 'https');
    expect((await get(testEngine({ ...trusting, allowH2: false }), site.origin)).httpVersion).toBe('1.1');
    expect((await get(testEngine(trusting), site.origin)).httpVersion).toBe('2');
  });

  test('bodies are decoded and redirects followed', async () => {
    const site = await serveH2((stream, path) => {
      if (path === '/') stream.respond({ ':status': 302, location: '/gz' });
      else stream.respond({ ':status': 200, 'content-encoding': 'gzip' });
      stream.end(path === '/' ? '' : gzipSync('x'.repeat(300_000)));
    });
    const response = await get(testEngine(trusting), site.origin);
    expect(response.body.byteLength).toBe(300_000);
    expect(response.redirects).toHaveLength(1);
  });

  test('a large compressed body goes through with backpressure', async () => {
    const plain = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 9_973).join(' '));
    const site = await serveH2((stream) => {
      stream.respond({ ':status': 200, 'content-encoding': 'gzip' });
      stream.end(gzipSync(plain));
    });
    const { body } = await get(testEngine(trusting), site.origin, { maxBodyBytes: 5_000_000 });
    expect(plain.equals(body)).toBe(true);
  });

  test('an endless body is cut at the limit and the connection serves on', async () => {
    const site = await serveH2((stream, path) => {
      stream.respond({ ':status': 200 });
      if (path === '/ok') {
        stream.end('ok');
        return;
      }
      const more = () => {
        while (!stream.destroyed && stream.write('x'.repeat(16_384)));
      };
      stream.on('drain', more);
      more();
    });
    const engine = testEngine(trusting);
    expect(await codeOfFailure(get(engine, site.origin))).toBe('BODY_LIMIT_EXCEEDED');
    expect(textOf(await get(engine, `${site.origin}/ok`))).toBe('ok');
  });

  test.each([
    ['a stream that is reset', 'CONNECTION_RESET'],
    ['a length that is wrong', 'PROTOCOL_ERROR'],
    ['a server that never answers', 'HEADERS_TIMEOUT'],
    ['a body that stalls', 'BODY_TIMEOUT'],
    ['headers beyond the limit', 'HEADERS_LIMIT_EXCEEDED'],
    ['a connection that breaks', 'CONNECTION_RESET'],
  ])('%s ends in %s', async (what, code) => {
    const site = await serveH2((stream) => {
      if (what === 'a server that never answers') return;
      if (what === 'headers beyond the limit') {
        stream.respond({ ':status': 200, 'x-big': 'a'.repeat(100_000) });
        stream.end();
        return;
      }
      const declared = what === 'a length that is wrong' ? { 'content-length': '10' } : {};
      stream.respond({ ':status': 200, ...declared });
      if (what === 'a length that is wrong') stream.end('abc');
      else stream.write('abc');
      if (what === 'a stream that is reset') stream.destroy(new Error('gone'));
      if (what === 'a connection that breaks') stream.session?.socket.destroy();
    });
    const engine = testEngine({ ...trusting, headersTimeoutMs: 300, bodyTimeoutMs: 300 });
    expect(await codeOfFailure(get(engine, site.origin, { timeoutMs: 5_000 }))).toBe(code);
  });

  test('a connection that the server gives up politely costs nothing', async () => {
    let count = 0;
    const site = await serveH2((stream) => {
      count += 1;
      stream.respond({ ':status': 200 });
      stream.end('ok');
      if (count === 1) stream.session?.close();
    });
    const engine = testEngine(trusting);
    expect(textOf(await get(engine, site.origin))).toBe('ok');
    expect(textOf(await get(engine, site.origin))).toBe('ok');
    expect(site.accepted()).toBe(2);
  });
});
