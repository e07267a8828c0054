import { describe, expect, it } from 'vitest';
import { bareCode, readSources } from './sources.ts';

const MAX_LINES = 400;
/** Files over the limit, each with a reason a reviewer would accept. */
const LONG_FILES: Readonly<Record<string, string>> = {};

/** Where the program and the library begin: they hand the environment over; everybody else gets settings. */
const READS_ENVIRONMENT = ['main.ts', 'library/scrapifie.ts'];

/** Names that say nothing about what is inside. */
const EMPTY_NAME = /(?:^|[/.-])(?:utils?|helpers?|common|managers?|services?|misc)(?=[/.-])/;

const sources = readSources();
const code = sources.map(({ path, text }) => ({ path, text: bareCode(text) }));
const pathsWhere = (pattern: RegExp): string[] =>
  code.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

describe('the house rules', () => {
  it('prose and text are not taken for code', () => {
    const text = bareCode("// any\n/* as any */ const a: string = 'as any'; f(`as any`, \"it's any\");");
    expect(text).not.toContain('any');
    expect(text).toContain('const a: string = ;');
  });

  it('nobody reads the environment but the settings', () => {
    const readers = sources.filter(
      ({ text, imports }) =>
        text.includes('process.env') ||
        imports.some(({ target, names }) => target === 'node:process' && names.includes('env')),
    );
    const others = readers.map(({ path }) => path).filter((path) => !path.startsWith('core/config/'));
    expect(others.filter((path) => !READS_ENVIRONMENT.includes(path))).toEqual([]);
  });

  it('text becomes a part of a URL in one way, which does not throw for halves of surrogate pairs', () => {
    // Calls stand in templates, which bareCode empties.
    const encoders = sources.flatMap(({ path, text }) =>
      text
        .split('\n')
        .filter((line) => /^(?! *(?:\*|\/\/|\/\*)).*\bencodeURI(?:Component)?\b/.test(line))
        .filter((line) => !line.includes('toWellFormed'))
        .map(() => path),
    );
    expect(encoders).toEqual([]);
    expect(sources.filter(({ text }) => /\burlPart\(/.test(text)).length).toBeGreaterThan(10);
  });

  it('there is no any', () => {
    expect(pathsWhere(/[:<|&,(=]\s*any\b(?!\s*[:(=.])|\bas any\b/)).toEqual([]);
  });

  it('files stay small enough to read', () => {
    const long = sources
      .filter(({ text }) => text.split('\n').length - 1 > MAX_LINES)
      .map(({ path }) => path);
    expect(long.sort()).toEqual(Object.keys(LONG_FILES).sort());
  });

  it('names say what is inside', () => {
    expect(EMPTY_NAME.test('api/url-utils.ts')).toBe(true);
    expect(EMPTY_NAME.test('services/x.ts')).toBe(true);
    expect(EMPTY_NAME.test('api/commonplace.ts')).toBe(false);
    expect(sources.map(({ path }) => path).filter((path) => EMPTY_NAME.test(path))).toEqual([]);
  });

  it('names are kebab-case', () => {
    const others = sources.filter(
      ({ path }) => !/^(?:[a-z0-9]+(?:-[a-z0-9]+)*\/)*[a-z0-9]+(?:-[a-z0-9]+)*\.ts$/.test(path),
    );
    expect(others.map(({ path }) => path)).toEqual([]);
  });
});
