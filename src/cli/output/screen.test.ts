import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { writePageText } from './screen.ts';

function printed(text: string, isTTY: boolean): string {
  const stream = Object.assign(new PassThrough(), { isTTY }) as unknown as NodeJS.WriteStream;
  writePageText(stream, text);
  return String((stream as unknown as PassThrough).read());
}

const HOSTILE = 'a\u001b]52;c;aGk=\u0007b\u009b2Jc\u202Ed\r\te\n';

it('what a page has written cannot control a terminal', () => {
  const shown = printed(HOSTILE, true);
  expect(shown).toBe('a\\u001b]52;c;aGk=\\u0007b\\u009b2Jc\\u202ed\\u000d\te\n');
  expect(JSON.parse(`"${shown.trimEnd().replace('\t', '\\t')}"`)).toBe(HOSTILE.trimEnd());
});

it('a file or another program gets the page as it is', () => {
  expect(printed(HOSTILE, false)).toBe(HOSTILE);
});
