import { describe, expect, test } from 'vitest';
import { codeOfFailure, get, serveRaw, testEngine, textOf } from './loopback.fixture.ts';
import { HeadReader } from './response-head.ts';

const BODY = 'Fact: this is really forty-two bytes long.';

/** The body of a raw response, or the code of the failure. */
async function read(answer: string, pieceBytes = 65_536): Promise<string> {
  const site = await serveRaw((socket) => {
    const bytes = Buffer.from(answer, 'latin1');
    socket.setNoDelay(true);
    let at = 0;
    const more = () => {
      if (at >= bytes.length) socket.end();
      else {
        at += pieceBytes;
        socket.write(bytes.subarray(at - pieceBytes, at), () => setImmediate(more));
      }
    };
    more();
  });
  const attempt = get(testEngine(), site.origin);
  return attempt.then(textOf, () => codeOfFailure(attempt));
}

describe('a length', () => {
  const accepted: readonly (readonly [string, number])[] = [
    ['Content-Length: 42', 42],
    ['Content-Length: 42,42', 42],
    ['Content-Length: 42\r\nContent-Length: 42', 42],
    ['Content-Length: 42\r\nContent-Length: 42,42', 42],
    ['Content-Length: 30, 30', 30],
    ['Content-Length: 30\r\nContent-Length: 30', 30],
    ['Content-Length: 030', 30],
    ['Content-Length: aaaah', 42],
    ['Content-Length: aaaah, aaaah', 42],
    ['Content-Length: aaaah\r\nContent-Length: aaaah', 42],
    ['Content-Length: 30s', 42],
    ['Content-Length: -1', 42],
    ['Content-Length: 0x20', 42],
    ['Content-Length:', 42],
  ];
  test.each(accepted)('%j is read as browsers read it', async (header, bytes) => {
    expect(await read(`HTTP/1.1 200 OK\r\n${header}\r\n\r\n${BODY}`)).toBe(BODY.slice(0, bytes));
  });

  test.each([
    'Content-Length: 42,30',
    'Content-Length: 42\r\nContent-Length: 30',
    'Content-Length: 30,',
    'Content-Length: ,30',
    'Content-Length: 30\r\nContent-Length: \t',
    'Content-Length: aaaah, nah',
    'Content-Length: 030, 30',
  ])('%j can be read in two ways and is refused', async (header) => {
    expect(await read(`HTTP/1.1 200 OK\r\n${header}\r\n\r\n${BODY}`)).toBe('PROTOCOL_ERROR');
  });

  test('beside chunks does not count', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n';
    expect(await read(`${head}5\r\nabcde\r\n0\r\n\r\n`)).toBe('abcde');
  });
});

describe('a head', () => {
  test.each([
    ['lines that end with LF alone', 'HTTP/1.1 200 OK\nContent-Length: 4\nX-A: b\n\nBODY'],
    ['folded lines', 'HTTP/1.1 200 OK\r\nX-A: b\r\n  c\r\n\td\r\nContent-Length: 4\r\n\r\nBODY'],
    ['a space before the colon', 'HTTP/1.1 200 OK\r\nContent-Length : 4\r\n\r\nBODY'],
    ['a line without a colon', 'HTTP/1.1 200 OK\r\nnonsense\r\nContent-Length: 4\r\n\r\nBODY'],
    ['a name that is no token', 'HTTP/1.1 200 OK\r\nX A: b\r\nContent-Length: 4\r\n\r\nBODY'],
    ['a control character in a value', 'HTTP/1.1 200 OK\r\nX-A: a\x01b\r\nContent-Length: 4\r\n\r\nBODY'],
    ['a lone CR', 'HTTP/1.1 200 OK\nHeader: Value\rHeader2: Value2\n\nBODY'],
    ['a CR in the status line', 'HTTP/1.1\r200 OK\n\nBODY'],
    ['another version', 'HTTP/1.2 200 OK\r\nContent-Length: 4\r\n\r\nBODY'],
    ['no version', 'HTTP 200 OK\r\n\r\nBODY'],
    ['a reason right behind the status', 'HTTP/1.1 200OK\r\nContent-Length: 4\r\n\r\nBODY'],
    ['bytes before the status line', 'xy\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nBODY'],
    ['a 100 that no request asked for', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nBODY'],
  ])('with %s is read, whole and byte by byte', async (_, answer) => {
    expect(await read(answer)).toBe('BODY');
    expect(await read(answer, 1)).toBe('BODY');
  });

  test('keeps its fields, folded ones joined', async () => {
    const site = await serveRaw((socket) => {
      socket.end('HTTP/1.1 200 OK\nX-A: b\n  c\nSet-Cookie: d=1\nSet-Cookie: e=2\nX-B : f\n\nBODY');
    });
    const { headers } = await get(testEngine(), site.origin);
    expect(headers).toMatchObject({ 'x-a': 'b c', 'set-cookie': ['d=1', 'e=2'], 'x-b': 'f' });
  });

  test.each([
    ['a NUL', 'HTTP/1.1 200 OK\r\nX-A: \0b\r\n\r\nBODY', 'PROTOCOL_ERROR'],
    ['no status', 'HTTP/1.1 \r\n\r\nBODY', 'PROTOCOL_ERROR'],
    ['a status of four digits', 'HTTP/1.1 1000 BOO\r\n\r\nBODY', 'PROTOCOL_ERROR'],
    ['no end', 'HTTP/1.1 200 OKAYISH\nheader: value\t', 'CONNECTION_RESET'],
  ])('with %s is refused', async (_, answer, code) => {
    expect(await read(answer)).toBe(code);
  });

  test('that was doubtful ends its connection; a strict one does not', async () => {
    const site = await serveRaw((socket, head) => {
      const isOdd = head.includes('/odd');
      socket.write(`HTTP/1.1 200 OK${isOdd ? '\n' : '\r\n'}Content-Length: 2\r\n\r\nok`);
    });
    const engine = testEngine();
    for (const path of ['/a', '/b', '/odd', '/odd', '/c']) {
      expect(textOf(await get(engine, `${site.origin}${path}`))).toBe('ok');
    }
    // /a, /b and the first /odd share one; the second /odd and /c have one each.
    expect(site.accepted()).toBe(3);
  });

  test('of which a part arrived is no sign of a stale connection: the request is not sent again', async () => {
    let requests = 0;
    const site = await serveRaw((socket, head) => {
      if (head.includes('/first')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      else {
        requests += 1;
        socket.end('HTTP/1.1 200 OK\r\nX-A');
      }
    });
    const engine = testEngine();
    await get(engine, `${site.origin}/first`);
    expect(await codeOfFailure(get(engine, `${site.origin}/second`))).toBe('CONNECTION_RESET');
    expect(requests).toBe(1);
  });
});

const PLAIN = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n';

/** What a reader passes on of some bytes, after a request was sent. */
function passed(...pieces: readonly string[]): { out: Buffer[]; given: Buffer[]; reader: HeadReader } {
  const reader = new HeadReader();
  reader.expect();
  const given = pieces.map((piece) => Buffer.from(piece, 'latin1'));
  return { given, out: given.map((piece) => reader.push(piece)), reader };
}

test('bytes that begin with a plain head pass uncopied, and so does the body after them', () => {
  const { given, out } = passed(`${PLAIN}bo`, 'dy');
  expect(out[0]).toBe(given[0]);
  expect(out[1]).toBe(given[1]);
});

test('a head in pieces is held back until it is whole', () => {
  const { out, reader } = passed(PLAIN.slice(0, 20), `${PLAIN.slice(20)}body`);
  expect(out.map(String)).toEqual(['', `${PLAIN}body`]);
  expect(reader.isPartial).toBe(false);
});

test('the head after an interim one is still read', () => {
  const { out } = passed(`HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200\tOK\nContent-Length: 4\n\nbody`);
  expect(String(out[0])).toBe(
    'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nbody',
  );
});

test('a head with bare line feeds ends where a browser ends it, whatever the body has', () => {
  const { out } = passed('HTTP/1.1 200 OK\ncontent-length: 6\n\nbo\r\n\r\ndy');
  expect(String(out[0])).toBe(
    'HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nbo\r\n\r\ndy',
  );
});
