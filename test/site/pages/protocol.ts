import type { Answer, Family, SiteRequest } from '../exchange.ts';
import { html, pageIn, raw, segmentsOf } from '../exchange.ts';
import { documentOf, linkList } from '../layout.ts';
import { randomFrom } from '../random.ts';
import { headOf } from '../wire.ts';

const PREFIX = '/protocol/';
const OK = 'HTTP/1.1 200 OK';
const HTML = 'content-type: text/html; charset=utf-8';
const CHUNKED = 'transfer-encoding: chunked';
const PAGE = documentOf({ title: 'Protocol', body: '<p>Ninety-nine bytes are not always enough.</p>' });
const LENGTH = `content-length: ${PAGE.length}`;

/** Sends this text and closes in order. */
const sends = (text: string): Answer =>
  raw((wire) => {
    wire.write(text);
    wire.end();
  });

/** Sends this text, lets it arrive, and resets the connection. */
const sendsAndResets = (text: string): Answer =>
  raw((wire) => {
    wire.write(text);
    wire.after(30, () => wire.reset());
  });

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

function garbage(): string {
  const random = randomFrom(0x6a);
  return Array.from({ length: 4_096 }, () => String.fromCharCode(128 + Math.floor(random() * 128))).join('');
}

const manyHeaders = (count: number, size: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `x-filler-${at}: ${'f'.repeat(size)}`);

const PAGES: Readonly<Record<string, (request: SiteRequest) => Answer>> = {
  '': () =>
    html(
      documentOf({
        title: 'Protocol',
        body: linkList([
          `${PREFIX}http-1.0`,
          `${PREFIX}chunked`,
          `${PREFIX}early-hints`,
          `${PREFIX}head-405`,
        ]),
      }),
    ),
  // Answers that are correct, if unusual.
  'http-1.0': () => sends(`${headOf('HTTP/1.0 200 OK', [HTML])}${PAGE}`),
  'until-close': () => sends(`${headOf(OK, [HTML, 'connection: close'])}${PAGE}`),
  chunked: () =>
    sends(`${headOf(OK, [HTML, CHUNKED])}${chunk(PAGE.slice(0, 50))}${chunk(PAGE.slice(50))}0\r\n\r\n`),
  'chunk-extensions': () =>
    sends(
      `${headOf(OK, [HTML, CHUNKED])}${PAGE.length.toString(16)};a=b;c="d"\r\n${PAGE}\r\n0\r\nx-end: 1\r\n\r\n`,
    ),
  'no-reason': () => sends(`${headOf('HTTP/1.1 200', [HTML, LENGTH])}${PAGE}`),
  'early-hints': () =>
    sends(`${headOf('HTTP/1.1 103 Early Hints', ['link: </a.css>'])}${headOf(OK, [HTML, LENGTH])}${PAGE}`),
  'latin1-header': () => sends(`${headOf(OK, [HTML, LENGTH, 'x-city: M\xfcnchen'])}${PAGE}`),
  'empty-header': () => sends(`${headOf(OK, [HTML, LENGTH, 'x-empty:', 'x-blank:    '])}${PAGE}`),
  'many-cookies': () =>
    sends(
      `${headOf(OK, [HTML, LENGTH, ...Array.from({ length: 60 }, (_, at) => `set-cookie: c${at}=${at}; Path=/protocol`)])}${PAGE}`,
    ),
  'large-headers': () => sends(`${headOf(OK, [HTML, LENGTH, ...manyHeaders(10, 700)])}${PAGE}`),
  'no-content': () => ({ status: 204, headers: {}, body: Buffer.alloc(0) }),
  empty: () => html(''),
  // Answers with a wrong length.
  'too-short': () => sends(`${headOf(OK, [HTML, `content-length: ${PAGE.length + 1_000}`])}${PAGE}`),
  'too-long': () => sends(`${headOf(OK, [HTML, LENGTH])}${PAGE}<p>This is beyond the declared end.</p>`),
  'two-lengths': () => sends(`${headOf(OK, [HTML, LENGTH, 'content-length: 5'])}${PAGE}`),
  'negative-length': () => sends(`${headOf(OK, [HTML, 'content-length: -1'])}${PAGE}`),
  'word-length': () => sends(`${headOf(OK, [HTML, 'content-length: many'])}${PAGE}`),
  'length-and-chunked': () => sends(`${headOf(OK, [HTML, LENGTH, CHUNKED])}${chunk(PAGE)}0\r\n\r\n`),
  'no-content-with-body': () => sends(`${headOf('HTTP/1.1 204 No Content', [HTML, LENGTH])}${PAGE}`),
  // Answers with broken chunks.
  'bad-chunk-size': () => sends(`${headOf(OK, [HTML, CHUNKED])}zz\r\n${PAGE}\r\n0\r\n\r\n`),
  'huge-chunk-size': () => sends(`${headOf(OK, [HTML, CHUNKED])}ffffffffffffffffffff\r\n${PAGE}`),
  'wrong-chunk-size': () => sends(`${headOf(OK, [HTML, CHUNKED])}5\r\n${PAGE}\r\n0\r\n\r\n`),
  'no-last-chunk': () => sends(`${headOf(OK, [HTML, CHUNKED])}${chunk(PAGE)}`),
  'half-chunk': () => sends(`${headOf(OK, [HTML, CHUNKED])}1000\r\n${PAGE}`),
  // Answers with a broken head.
  'bad-status-line': () => sends('HTTP/one.one OK 200\r\n\r\n'),
  'bad-version': () => sends(`${headOf('HTTP/7.3 200 OK', [HTML, LENGTH])}${PAGE}`),
  'no-status': () => sends(`${headOf('HTTP/1.1', [HTML, LENGTH])}${PAGE}`),
  'status-0': () => sends(`${headOf('HTTP/1.1 000 Nothing', [HTML, LENGTH])}${PAGE}`),
  'no-head': () => sends(PAGE),
  garbage: () => sends(garbage()),
  ssh: () => sends('SSH-2.0-OpenSSH_9.6\r\n'),
  'bad-header': () => sends(`${headOf(OK, [HTML, 'this is no header', LENGTH])}${PAGE}`),
  'null-header': () => sends(`${headOf(OK, [HTML, 'x-null: a\0b', LENGTH])}${PAGE}`),
  switching: () =>
    sends(headOf('HTTP/1.1 101 Switching Protocols', ['upgrade: websocket', 'connection: upgrade'])),
  'huge-header': () => sends(`${headOf(OK, [HTML, LENGTH, `x-huge: ${'h'.repeat(200_000)}`])}${PAGE}`),
  'many-headers': () => sends(`${headOf(OK, [HTML, LENGTH, ...manyHeaders(5_000, 24)])}${PAGE}`),
  'endless-headers': () =>
    raw((wire) => {
      wire.write(`${OK}\r\n`);
      const line = Buffer.from('x-more: of the same\r\n'.repeat(1_000));
      wire.pour(() => line);
    }),
  // Connections that are closed or reset.
  'closes-at-once': () => raw((wire) => wire.end()),
  'resets-at-once': () => raw((wire) => wire.reset()),
  'resets-in-head': () => sendsAndResets(`${OK}\r\n${HTML}\r\n`),
  'resets-in-body': () => sendsAndResets(`${headOf(OK, [HTML, 'content-length: 100000'])}${PAGE}`),
  'resets-in-chunk': () => sendsAndResets(`${headOf(OK, [HTML, CHUNKED])}${chunk(PAGE)}`),
  // Whole, then reset: the page was complete, so this is no failure.
  'resets-after': () => sendsAndResets(`${headOf(OK, [HTML, LENGTH])}${PAGE}`),
  // Answers to HEAD requests.
  'head-405': (request) => (request.method === 'HEAD' ? html('', 405, { allow: 'GET' }) : html(PAGE)),
  'head-hangs': (request) => (request.method === 'HEAD' ? raw(() => {}) : html(PAGE)),
  'head-with-body': (request) =>
    request.method === 'HEAD' ? sends(`${headOf(OK, [HTML, LENGTH])}${PAGE}`) : html(PAGE),
  'head-other-length': (request) =>
    request.method === 'HEAD' ? sends(headOf(OK, [HTML, 'content-length: 7'])) : html(PAGE),
};

export const protocol: Family = {
  prefix: PREFIX,
  about: 'wrong lengths, broken chunks and heads, resets',
  starts: [PREFIX],
  answer(request) {
    const [first = ''] = segmentsOf(request, PREFIX);
    return pageIn(PAGES, first)?.(request) ?? null;
  },
};
