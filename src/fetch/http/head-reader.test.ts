import { expect, test } from 'vitest';
import { HeadReader } from './head-reader.ts';

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
