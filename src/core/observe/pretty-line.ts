import { styleText } from 'node:util';
import { LOG_LEVELS, type LogLevel } from './log-sink.ts';

type Style = Parameters<typeof styleText>[0];

const STYLES: Readonly<Record<LogLevel, Style>> = {
  trace: 'gray',
  debug: 'blue',
  info: 'green',
  warn: 'yellow',
  error: 'red',
  fatal: ['bold', 'red'],
};
const LEVEL_WIDTH = 5;
/** What could end a line, move the cursor, change colours or turn the direction of writing around. */
const CONTROL = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;
const NEEDS_QUOTES = /[\s"'=\\]|^$/;
const STACK_INDENT = '    | ';

/** Control characters as JSON writes them, so that no text of a page can look like a line of the log, or hide one. */
export function escapeControl(text: string): string {
  return text.replace(CONTROL, (character) =>
    [...character].map((one) => `\\u${(one.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`).join(''),
  );
}

/**
 * A line of JSON as a person reads it on a terminal: time of day, level, message, fields; the stack of an error below it,
 * each line of it indented. A line that is no JSON stays as it is.
 */
export function prettyLine(line: string, isColoured: boolean): string {
  const paint = (style: Style, text: string) =>
    isColoured ? styleText(style, text, { validateStream: false }) : text;
  let parsed: Record<string, unknown>;
  try {
    parsed = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return `${escapeControl(line.trimEnd())}\n`;
  }
  const { level: given, time, msg, service, instance, role, err, ...fields } = parsed;
  const level = LOG_LEVELS.find((known) => known === given) ?? 'info';
  const shown = Object.entries(fields).map(
    ([name, value]) => `${paint('gray', `${escapeControl(name)}=`)}${shownValue(value)}`,
  );
  const head = [
    paint('gray', timeOf(time)),
    paint(STYLES[level], level.toUpperCase().padEnd(LEVEL_WIDTH)),
    ...(role === 'all' || role === undefined ? [] : [paint('cyan', escapeControl(String(role)))]),
    paint('bold', escapeControl(String(msg ?? ''))),
    ...shown,
  ].join(' ');
  return `${head}${errorOf(err, paint)}\n`;
}

/** Returns the time in the time zone of this machine, where the reader of the line is. */
function timeOf(time: unknown): string {
  const date = new Date(String(time));
  if (Number.isNaN(date.getTime())) return '';
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

function shownValue(value: unknown): string {
  if (typeof value !== 'string') return escapeControl(JSON.stringify(value) ?? '');
  return escapeControl(NEEDS_QUOTES.test(value) ? JSON.stringify(value) : value);
}

function errorOf(error: unknown, paint: (style: Style, text: string) => string): string {
  if (error === undefined) return '';
  if (typeof error !== 'object' || error === null) return ` err=${shownValue(error)}`;
  const { stack, message, type, cause, ...more } = error as Record<string, unknown>;
  const told = typeof stack === 'string' ? stack : `${String(type ?? 'Error')}: ${String(message ?? '')}`;
  const below = [
    ...told.split('\n'),
    ...Object.entries(more).map(([name, value]) => `${name}=${shownValue(value)}`),
    ...(cause === undefined ? [] : [`cause=${shownValue(cause)}`]),
  ];
  return below.map((each) => `\n${paint('gray', STACK_INDENT)}${escapeControl(each)}`).join('');
}
