import type { Answer, Family } from '../exchange.ts';
import { html, numberIn, pageIn, raw, segmentsOf } from '../exchange.ts';
import { documentOf, linkList } from '../layout.ts';
import { headOf, type Wire } from '../wire.ts';

const PREFIX = '/slow/';
const OK = 'HTTP/1.1 200 OK';
const HTML = 'content-type: text/html; charset=utf-8';
const DRIP_MS = 50;
const MOST_MS = 60_000;

const pageOf = (title: string): Buffer => Buffer.from(documentOf({ title, body: '<p>At last.</p>' }));

/** Sends the pieces one after another at even distances, then closes. */
function drip(wire: Wire, pieces: readonly (string | Uint8Array)[], intervalMs: number): void {
  let at = 0;
  wire.every(intervalMs, () => {
    const piece = pieces[at++];
    if (piece === undefined) wire.end();
    else wire.write(piece);
  });
}

function cut(bytes: Buffer, count: number): Buffer[] {
  const size = Math.ceil(bytes.length / count);
  return Array.from({ length: count }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

/** An answer that is whole, but starts after a pause. */
function late(delayMs: number): Answer {
  const page = pageOf(`Late by ${delayMs} ms`);
  return raw((wire) =>
    wire.after(delayMs, () => {
      wire.write(headOf(OK, [HTML, `content-length: ${page.length}`, 'connection: close']));
      wire.write(page);
      wire.end();
    }),
  );
}

/** An answer whose body takes this long, in ten pieces. */
function slowBody(durationMs: number): Answer {
  const page = pageOf(`Dripped over ${durationMs} ms`);
  return raw((wire) => {
    wire.write(headOf(OK, [HTML, `content-length: ${page.length}`, 'connection: close']));
    drip(wire, cut(page, 10), durationMs / 10);
  });
}

const PAGES: Readonly<Record<string, () => Answer>> = {
  '': () =>
    html(documentOf({ title: 'Slow pages', body: linkList([`${PREFIX}late/200`, `${PREFIX}body/300`]) })),
  'no-head': () => raw(() => {}),
  // The status line comes, and a header now and then, for ever.
  'endless-head': () =>
    raw((wire) => {
      wire.write(`${OK}\r\n`);
      let count = 0;
      wire.every(DRIP_MS, () => wire.write(`x-${count++}: 1\r\n`));
    }),
  'half-head': () => raw((wire) => wire.write(`${OK}\r\n${HTML}\r\ncontent-le`)),
  stall: () =>
    raw((wire) => wire.write(`${headOf(OK, [HTML, 'content-length: 100000'])}<!doctype html><p>Wait`)),
  'no-body': () => raw((wire) => wire.write(headOf(OK, [HTML, 'content-length: 5000']))),
  'endless-drip': () =>
    raw((wire) => {
      wire.write(`${headOf(OK, [HTML])}<!doctype html><p>`);
      wire.every(DRIP_MS, () => wire.write('.'));
    }),
  'endless-chunks': () =>
    raw((wire) => {
      wire.write(headOf(OK, [HTML, 'transfer-encoding: chunked']));
      wire.every(DRIP_MS, () => wire.write('1\r\n.\r\n'));
    }),
  flood: () =>
    raw((wire) => {
      wire.write(headOf(OK, [HTML]));
      const water = Buffer.alloc(65_536, '<p>More and more.</p>\n');
      wire.pour(() => water);
    }),
  'flood-chunks': () =>
    raw((wire) => {
      wire.write(headOf(OK, [HTML, 'transfer-encoding: chunked']));
      const chunk = Buffer.concat([
        Buffer.from('10000\r\n'),
        Buffer.alloc(65_536, 'water '),
        Buffer.from('\r\n'),
      ]);
      wire.pour(() => chunk);
    }),
  // One chunk whose size line never ends.
  'endless-chunk-size': () =>
    raw((wire) => {
      wire.write(`${headOf(OK, [HTML, 'transfer-encoding: chunked'])}1;`);
      const extension = Buffer.alloc(65_536, 'x');
      wire.pour(() => extension);
    }),
  // Informational answers without end: the real one never comes.
  'endless-hints': () =>
    raw((wire) =>
      wire.every(DRIP_MS, () => wire.write(headOf('HTTP/1.1 103 Early Hints', ['link: </a.css>']))),
    ),
  'declared-huge': () =>
    raw((wire) => {
      wire.write(headOf(OK, [HTML, 'content-length: 99999999999']));
      const water = Buffer.alloc(65_536, 'x');
      wire.pour(() => water);
    }),
};

export const slow: Family = {
  prefix: PREFIX,
  about: 'slow, stalled and endless answers',
  starts: [PREFIX],
  answer(request) {
    const [first = '', second] = segmentsOf(request, PREFIX);
    if (first === 'late' || first === 'body') {
      const ms = numberIn(second, MOST_MS);
      if (ms === null) return null;
      return first === 'late' ? late(ms) : slowBody(ms);
    }
    return pageIn(PAGES, first)?.() ?? null;
  },
};
