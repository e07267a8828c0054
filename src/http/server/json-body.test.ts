import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shapeProblem } from './json-body.ts';

const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

describe('the shape of a body', () => {
  it('is fine for whatever JSON is small and flat', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (text) => {
        expect(shapeProblem(text)).toBeNull();
      }),
    );
  });

  it('is too deep from a level on, with the field in which it is', () => {
    expect(shapeProblem(deep(100))).toBeNull();
    expect(shapeProblem(deep(101))).toMatchObject({ message: expect.stringContaining('Nested too deep') });
    const body = `{"url": "https://a.test/", "extract": {"type": null, "rules": {"a\\"b": ${deep(200)}}}}`;
    expect(shapeProblem(body)?.field).toBe('extract.rules.a\\"b');
    expect(shapeProblem(`{"a": [1, 2, ${deep(200)}]}`)?.field).toBe('a.2.0');
  });

  it('is left to the parser where more is closed than was opened', () => {
    for (const text of [']', ']{', ']]{', '}}}[1]', '{}]][[', '}'.repeat(1_000) + '{'.repeat(1_000)]) {
      expect(shapeProblem(text)).toBeNull();
    }
  });

  it('does not count what stands in strings', () => {
    expect(shapeProblem(JSON.stringify({ html: `${deep(500)}\\"${deep(500)}` }))).toBeNull();
    expect(shapeProblem(JSON.stringify({ html: ','.repeat(500_000), 'a\\': '"' }))).toBeNull();
  });

  it('has too many values from a number on', () => {
    expect(shapeProblem(`{"urls": [${'1,'.repeat(150_000)}1]}`)).toBeNull();
    expect(shapeProblem(`{"urls": [${'1,'.repeat(250_000)}1]}`)).toMatchObject({
      field: 'urls',
      message: expect.stringContaining('Too many values'),
    });
  });

  it('has too many names in one object from a number on', () => {
    const names = (count: number) => `{${Array.from({ length: count }, (_, n) => `"f${n}":1`).join(',')}}`;
    expect(shapeProblem(`{"a": ${names(10_000)}, "b": ${names(10_000)}}`)).toBeNull();
    expect(shapeProblem(`{"a": {"b": ${names(10_001)}}}`)).toEqual({
      field: 'a.b',
      message: 'Too many names: an object may have at most 10000.',
    });
    expect(shapeProblem(names(51), { maxDepth: 8, maxValues: 200, maxNames: 50 })?.field).toBe('');
  });

  it('has no number of more digits than any number needs', () => {
    expect(shapeProblem(`{"a": [${'9'.repeat(1_000)}, true]}`)).toBeNull();
    expect(shapeProblem(`{"a": [1, ${'9'.repeat(1_001)}]}`)).toEqual({
      field: 'a.1',
      message: 'A number has more than 1000 characters.',
    });
  });

  it('takes one pass over strings of backslashes', () => {
    expect(shapeProblem(`{"a": "${'\\\\'.repeat(1_000_000)}"}`)).toBeNull();
    expect(shapeProblem(`"${'\\'.repeat(99)}`)).toBeNull();
  });
});
