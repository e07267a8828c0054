import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type ParsedDate, parseDate } from './date.ts';

interface DateCase {
  readonly section: string;
  readonly text: string;
  readonly hints: Readonly<Record<string, string>>;
  readonly expected: string;
}

const FETCHED_AT = Date.UTC(2026, 8, 1, 12, 0, 0);

/** One case a line: text, hints, and what it says in the words of `inShort`. */
function readCases(): readonly DateCase[] {
  let section = '';
  return readFileSync(new URL('date-cases.txt', import.meta.url), 'utf8')
    .split('\n')
    .flatMap((line): DateCase[] => {
      if (line.startsWith('# ')) section = line.slice(2);
      if (line === '' || line.startsWith('# ')) return [];
      const [text = '', hints = '', expected = ''] = line.split(' ::').map((part) => part.trim());
      const pairs = hints.split(' ').filter((pair) => pair !== '');
      const written = text.replaceAll('\\u200b', '\u200b');
      return [
        { section, text: written, hints: Object.fromEntries(pairs.map((pair) => pair.split('='))), expected },
      ];
    });
}

/** `2026-11-12 day`, or with the readings of what is ambiguous `2026-11-12 day ?2026-11-12|2026-12-11`. */
function inShort(date: ParsedDate | null): string {
  if (date === null) return 'null';
  return `${date.iso} ${date.precision}${date.isAmbiguous ? ` ?${date.readings.join('|')}` : ''}`;
}

const cases = readCases();
const read = ({ text, hints }: DateCase): ParsedDate | null =>
  parseDate(text, { fetchedAt: FETCHED_AT, ...hints });

describe('dates of the world', () => {
  it('are at least two hundred', () => {
    expect(cases.length).toBeGreaterThanOrEqual(200);
  });

  it.each(Object.entries(Object.groupBy(cases, ({ section }) => section)))('%s', (_, group = []) => {
    const shown = group.map((each) => `${each.text} → ${inShort(read(each))}`);
    expect(shown).toEqual(group.map(({ text, expected }) => `${text} → ${expected}`));
  });

  it('what is truly ambiguous says so, and nothing else does', () => {
    const wrong = cases.filter(
      (each) => (read(each)?.isAmbiguous ?? false) !== (each.section === 'Truly ambiguous'),
    );
    expect(wrong.map(({ text }) => text)).toEqual([]);
  });

  it('have a zone exactly when the text or the caller gives one', () => {
    const wrong = cases
      .map(read)
      .filter((date) => date !== null && date.hasZone !== /(?:Z|[+-]\d\d:\d\d)$/.test(date.iso.slice(10)));
    expect(wrong).toEqual([]);
  });
});
