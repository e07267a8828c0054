import { expect, it } from 'vitest';
import { namesTag, rangeOf } from './large-answers.ts';

it('a range is a part of the file, or all of it where the header says nothing that counts', () => {
  expect(rangeOf('bytes=0-9', 100)).toEqual({ start: 0, end: 10 });
  expect(rangeOf('bytes=90-200', 100)).toEqual({ start: 90, end: 100 });
  expect(rangeOf('bytes=5-', 100)).toEqual({ start: 5, end: 100 });
  expect(rangeOf('bytes=-5', 100)).toEqual({ start: 95, end: 100 });
  expect(rangeOf('bytes=-500', 100)).toEqual({ start: 0, end: 100 });
  for (const header of [
    undefined,
    '',
    'bytes=',
    'bytes=-',
    'bytes=9-1',
    'items=0-1',
    'bytes=0-1,3-4',
    'bytes=a-b',
  ]) {
    expect(rangeOf(header, 100)).toBe('whole');
  }
  for (const header of ['bytes=100-', 'bytes=100-200', 'bytes=-0'])
    expect(rangeOf(header, 100)).toBe('beyond');
  expect(rangeOf('bytes=0-', 0)).toBe('beyond');
});

it('a tag is named by itself, in a list, weak, or by a star', () => {
  for (const header of ['"a"', 'W/"a"', '"b", "a"', '*']) expect(namesTag(header, '"a"')).toBe(true);
  for (const header of [undefined, '', '"b"', 'a']) expect(namesTag(header, '"a"')).toBe(false);
});
