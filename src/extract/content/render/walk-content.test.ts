import { expect, it } from 'vitest';
import { buildTree } from '../../tree/tree-builder.ts';
import { renderContent } from './render-content.ts';
import { tableGrid } from './walk-content.ts';

function renderAll(html: string) {
  const tree = buildTree(html);
  return renderContent(tree, new Uint8Array(tree.count).fill(1), 'https://www.example.com/page');
}

const TIMETABLE = `<table><tr><th>Day</th><th>Lesson</th><th>Room</th></tr>
<tr><td rowspan="2">Monday</td><td>Maths</td><td>R1</td></tr><tr><td>Physics</td><td>R2</td></tr>
<tr><td>Tuesday</td><td colspan="2">Free</td></tr><tr><td>Friday</td><td>Art</td><td>R9</td></tr></table>`;

it('keeps every cell of a table in its column, in Markdown, text and HTML', () => {
  const { markdown, text, html } = renderAll(TIMETABLE);
  expect(markdown.trim().split('\n')).toEqual([
    '| Day | Lesson | Room |',
    '| --- | --- | --- |',
    '| Monday | Maths | R1 |',
    '|  | Physics | R2 |',
    '| Tuesday | Free |  |',
    '| Friday | Art | R9 |',
  ]);
  expect(text.trim().split('\n')).toEqual([
    'Day\tLesson\tRoom',
    'Monday\tMaths\tR1',
    '\tPhysics\tR2',
    'Tuesday\tFree',
    'Friday\tArt\tR9',
  ]);
  expect(html).toContain('<tr><td rowspan="2">Monday</td><td>Maths</td><td>R1</td></tr><tr><td>Physics</td>');
  expect(renderAll(html).html).toBe(html);
});

it('reads a span to the end of the table, spans in the middle and at the end of a row', () => {
  const { markdown } =
    renderAll(`<table><tr><td>a</td><td rowspan="0">b</td><td rowspan="2" colspan="2">c</td></tr>
<tr><td>d</td></tr><tr><td>e</td><td>f</td><td>g</td></tr></table>`);
  expect(markdown.trim().split('\n')).toEqual([
    '| a | b | c |  |',
    '| --- | --- | --- | --- |',
    '| d |  |  |  |',
    '| e |  | f | g |',
  ]);
});

it('counts in spans the rows that have text, and bounds what spans add', () => {
  const cell = (text: string, rows: number) => ({
    isHeader: false,
    columns: 1,
    rows,
    run: text === '' ? [] : [{ type: 'text' as const, text }],
  });
  const grid = tableGrid([[cell('a', 3), cell('b', 1)], [cell('', 1)], [cell('c', 1)]]);
  expect(grid.map((row) => row.map(({ rows }) => rows))).toEqual([
    [2, 1],
    [0, 1],
  ]);
  const wide = [Array.from({ length: 100 }, () => cell('x', 65_534))];
  const long = Array.from({ length: 20_000 }, () => [cell('y', 1)]);
  const cells = tableGrid([...wide, ...long]).reduce((sum, row) => sum + row.length, 0);
  expect(cells).toBeLessThan(80_000);
});
