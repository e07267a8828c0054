import { expect, it } from 'vitest';
import { formatTraceparent, parseTraceparent } from './tracing.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

it('a traceparent is read and written as the W3C says', () => {
  const text = `00-${TRACE}-${SPAN}-01`;
  const read = parseTraceparent(text);
  expect(read).toEqual({ traceId: TRACE, spanId: SPAN, traceFlags: 1, isRemote: true });
  expect(read === null ? null : formatTraceparent(read)).toBe(text);
});

it.each([
  ['of another version, with fields of its own', `cc-${TRACE}-${SPAN}-01-what-the-future-brings`, 1],
  ['with flags that are not known', `00-${TRACE}-${SPAN}-fe`, 0],
])('one %s is read as far as it is known', (_, text, traceFlags) => {
  expect(parseTraceparent(text)).toMatchObject({ traceId: TRACE, spanId: SPAN, traceFlags });
});

it.each([
  ['nothing', undefined],
  ['an empty text', ''],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['capitals', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ['version ff', `ff-${TRACE}-${SPAN}-01`],
  ['more fields than version 00 has', `00-${TRACE}-${SPAN}-01-more`],
  ['a short id', `00-${TRACE.slice(1)}-${SPAN}-01`],
])('%s is no traceparent', (_, text) => {
  expect(parseTraceparent(text)).toBeNull();
});
