import { describe, expect, it } from 'vitest';
import { COMMENT_PATTERNS, type Comment, commentsOf, readComments } from './comments.ts';

const files = readComments();
const named = (text: string): string[] => {
  const comment: Comment = { line: 1, text, isAlone: true };
  return COMMENT_PATTERNS.filter((pattern) => pattern.matches(comment)).map(({ name }) => name);
};

describe('comments', () => {
  it('are found in every form, with the line they begin at', () => {
    const text = [
      '/** One line. */',
      'const a = 1; // behind code',
      '/**',
      ' * Two',
      ' * lines.',
      ' */',
      '  // several',
      '  // in a row',
      "const url = 'http://example.com'; //no comment",
      '// biome-ignore lint/a/b: a tool reads this',
      '  {/* in markup */}',
    ].join('\n');
    expect(commentsOf(text)).toEqual([
      { line: 1, text: 'One line.', isAlone: true },
      { line: 2, text: 'behind code', isAlone: false },
      { line: 3, text: 'Two lines.', isAlone: true },
      { line: 7, text: 'several in a row', isAlone: true },
      { line: 11, text: 'in markup', isAlone: true },
    ]);
  });

  it.each([
    ['From 1.', 'three words or fewer'],
    ['Of the body, in hex; null until it is ready.', 'begins with "Of"'],
    ['Null without a port of its own.', 'begins with "Null for", "Null where" or "Null without"'],
    ['The same of a body at hand.', 'begins with "The same", "With" or "Null:"'],
    ['With its pages and ledger.', 'begins with "The same", "With" or "Null:"'],
    ['Null: every job of the account.', 'begins with "The same", "With" or "Null:"'],
    ['It was told, or was what the page had.', 'begins with a pronoun'],
    ["One's own words come back too.", 'begins with a pronoun'],
    ['One that is false asks for the bytes.', 'begins with a pronoun'],
    ['One of them is read.', 'begins with a pronoun'],
    [
      'The task is given to whoever asks first.',
      'speaks of "whoever", "somebody", "nobody" or "what is there"',
    ],
  ])('like "%s" are found', (text, name) => {
    expect(named(text)).toContain(name);
  });

  it.each([
    'One stored page, at most one per task.',
    'One of the workers takes the call.',
    'Null when the job is gone.',
    'Hash of the body, in hex.',
    'Without a session the page is public.',
  ])('like "%s" are not', (text) => expect(named(text)).toEqual([]));

  it('are found in the sources', () => {
    expect(files.flatMap(({ comments }) => comments).length).toBeGreaterThan(5_000);
  });

  it.each(COMMENT_PATTERNS)(
    'of the kind "$name" are nowhere: they lack $lacks',
    ({ matches, within = '' }) => {
      const found = files
        .filter(({ path }) => path.startsWith(within))
        .flatMap(({ path, comments }) =>
          comments.filter(matches).map(({ line, text }) => `${path}:${line}: ${text.slice(0, 100)}`),
        );
      expect(found).toEqual([]);
    },
  );
});
