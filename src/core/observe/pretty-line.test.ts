import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { createLogger, type LoggerOptions } from './logger.ts';

const ESCAPE = '\u001b';
/** Ends a line, moves the cursor up, hides the rest, begins a command in one character, turns the writing around. */
const HOSTILE = `x\n{"level":"fatal"}\r${ESCAPE}[2A${ESCAPE}]0;title\u0007\u009b31m\u202eabc\u2028\u2066\u007f`;

function written(
  options: Partial<LoggerOptions>,
  log: (logger: ReturnType<typeof createLogger>) => void,
): string {
  let text = '';
  const destination = {
    write(line: string) {
      text += line;
    },
  };
  log(createLogger({ level: 'trace', destination, ...options }));
  return text;
}

test('a pretty line has time, level, message and fields', () => {
  const line = written({ format: 'pretty', role: 'api' }, (logger) =>
    logger.warn({ jobId: 'j1', reason: 'two words', count: 3 }, 'store unavailable'),
  );
  expect(line).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} WARN {2}api store unavailable jobId=j1 reason="two words" count=3\n$/,
  );
});

test('colours are there when they are wanted, and change nothing else', () => {
  const log = (logger: ReturnType<typeof createLogger>) => logger.error({ jobId: 'j1' }, 'fault');
  const [plain, coloured] = [
    written({ format: 'pretty' }, log),
    written({ format: 'pretty', isColoured: true }, log),
  ];
  expect(plain).not.toContain(ESCAPE);
  expect(coloured).toContain(ESCAPE);
  const withoutTime = (text: string) => text.slice('00:00:00.000'.length);
  expect(withoutTime(stripVTControlCharacters(coloured))).toBe(withoutTime(plain));
});

test.each(['json', 'pretty'] as const)(
  'what a hostile page says forges no %s line and moves no cursor',
  (format) => {
    const text = written({ format }, (logger) => {
      logger.info({ title: HOSTILE, [HOSTILE]: 1, nested: { deep: [HOSTILE] } }, HOSTILE);
      logger.child({ bound: HOSTILE }).info('second');
    });
    const lines = text.split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[2]).toBe('');
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u2028\u202e\u2066]/u);
  },
);

test('the lines of an error are indented, so that none of them looks like a line of the log', () => {
  const error = new Error(`broken\n00:00:00.000 INFO forged ${ESCAPE}[2J`, { cause: HOSTILE });
  const text = written({ format: 'pretty' }, (logger) => logger.error({ err: error }, 'fault'));
  const [first, ...below] = text.trimEnd().split('\n');
  expect(first).toMatch(/ERROR fault$/);
  expect(below.length).toBeGreaterThan(2);
  for (const line of below) expect(line).toMatch(/^ {4}\| /);
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u2028\u202e\u2066]/u);
});

test('JSON says the same as what was logged, control characters included', () => {
  const line = written({}, (logger) => logger.info({ title: HOSTILE }, 'page'));
  expect(JSON.parse(line)).toMatchObject({ title: HOSTILE, msg: 'page' });
});
