import { expect, it } from 'vitest';
import { PLAIN_SCREEN, type Screen, screenOf } from './screen.ts';
import { cutText, details, table, textWidth, wrapText } from './table.ts';

const JOBS = [
  ['ID', 'STATUS', 'START'],
  ['0197-a', 'completed', 'https://example.com/a/rather/long/path'],
  ['0198-b', 'failed', 'https://example.com/'],
];
const wide = (columns: number): Screen => ({ ...PLAIN_SCREEN, columns });
const widthsOf = (text: string): number[] => text.trimEnd().split('\n').map(textWidth);

it('a pipe gets every cell whole', () => {
  expect(table(PLAIN_SCREEN, JOBS).split('\n')).toEqual([
    'ID      STATUS     START',
    '0197-a  completed  https://example.com/a/rather/long/path',
    '0198-b  failed     https://example.com/',
    '',
  ]);
});

it('a terminal gets lines that fit, with the widest column cut and the first one whole', () => {
  const shown = table(wide(40), JOBS);
  expect(Math.max(...widthsOf(shown))).toBeLessThanOrEqual(40);
  expect(shown).toContain('0197-a  completed  https://example.com/…\n');
  expect(shown).toContain('0198-b  failed     https://example.com/\n');
});

it('where columns would be cut too much, each row takes two lines', () => {
  expect(table(wide(34), JOBS).split('\n').slice(0, 4)).toEqual([
    'ID      STATUS',
    '  START',
    '0197-a  completed',
    '  https://example.com/a/rather/lo…',
  ]);
});

it('a terminal that is too narrow for columns gets a block for each row, in which nothing is cut', () => {
  const shown = table(wide(20), JOBS);
  expect(Math.max(...widthsOf(shown))).toBeLessThanOrEqual(20);
  expect(shown.replace(/\n +/g, '')).toContain('START   https://example.com/a/rather/long/path');
  expect(shown).toContain('\n\nID      0198-b\nSTATUS  failed\n');
});

it('values of details go on in the next line, below themselves', () => {
  const rows = [
    ['status', 'completed'],
    ['stopped', 'The job stopped at its limit of 60 pages.'],
  ];
  expect(details(wide(32), rows).split('\n')).toEqual([
    'status   completed',
    'stopped  The job stopped at its',
    '         limit of 60 pages.',
    '',
  ]);
});

it('what a page wrote cannot control the terminal', () => {
  expect(table(PLAIN_SCREEN, [['TITLE'], ['a\u001b[2Jb\nc']])).toBe('TITLE\na [2Jb c\n');
});

it('characters are measured as terminals draw them', () => {
  expect(textWidth('価格')).toBe(4);
  expect(textWidth('e\u0301')).toBe(1);
  expect(cutText('価格表の比較', 5)).toBe('価格…');
  expect(wrapText('aaaa bbbb', 5)).toEqual(['aaaa', 'bbbb']);
  expect(wrapText('aaaaaaa', 5)).toEqual(['aaaaa', 'aa']);
});

it.each([
  [{}, true, true],
  [{}, false, false],
  [{ NO_COLOR: '1' }, true, false],
  [{ NO_COLOR: '' }, true, true],
  [{ FORCE_COLOR: '1' }, false, true],
  [{ FORCE_COLOR: '0' }, true, false],
  [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
  [{ TERM: 'dumb' }, true, false],
])('with %o and a terminal: %s, colours are %s', (environment, isTTY, isColoured) => {
  const stream = { isTTY, columns: 80 } as NodeJS.WriteStream;
  const screen = screenOf({ environment, stdout: stream, stderr: stream });
  expect(screen.paint('bold', 'x') !== 'x').toBe(isColoured);
  expect(table(screen, [['STATUS'], ['failed']]).includes('\u001b[31mfailed\u001b[39m')).toBe(isColoured);
});

it('a terminal of unknown width has that of COLUMNS', () => {
  const stream = { isTTY: true, columns: 0 } as NodeJS.WriteStream;
  expect(screenOf({ environment: { COLUMNS: '55' }, stdout: stream, stderr: stream }).columns).toBe(55);
  expect(screenOf({ environment: {}, stdout: stream, stderr: stream }).columns).toBe(80);
});
