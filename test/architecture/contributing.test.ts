import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('CONTRIBUTING.md', root), 'utf8');
/** The cells of the table below a heading, row by row, without its head. */
const rowsBelow = (heading: string): string[][] =>
  (page.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/`((?:src|test|scripts|docs|dashboard)\/[\w./-]+)`/g)].map(([, path = '']) => path);

/** What has one declaration; a concern that comes to it is added here and to the page. */
const CONCERNS = [
  'options of pages',
  'events',
  'audit actions',
  'job kinds',
  'states',
  'reasons',
  'export formats and types',
  'types of values',
  'roles',
  'queues',
  'errors',
  'settings',
  'metrics',
  'sealed fields',
  'guarded listeners',
];

describe('CONTRIBUTING.md', () => {
  it('names only files that exist', () => {
    // A capital stands for the name of what is added.
    const named = pathsIn(page).filter((path) => !/\/[A-Z]+\.ts$/.test(path));
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  });

  it('says of every concern where it is declared, and which test holds what follows', () => {
    const rows = rowsBelow('Where each thing is declared');
    expect(rows.map(([concern]) => concern)).toEqual(CONCERNS);
    for (const [concern, declared = '', , held = ''] of rows) {
      expect(pathsIn(declared), concern).not.toEqual([]);
      if (held !== 'the compiler') expect(pathsIn(held), concern).not.toEqual([]);
    }
  });

  it('names for each thing that can be added the file to begin with, and the test', () => {
    const rows = rowsBelow('If you want to add …');
    expect(rows.length).toBeGreaterThan(4);
    for (const [what, edit = ''] of rows) expect(pathsIn(edit), what).not.toEqual([]);
  });
});
