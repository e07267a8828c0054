import { InvalidArgumentError, Option } from 'commander';
import { EXTRACT_TYPES } from '../../capabilities/jobs/request/extract-fields.ts';
import { isPluginPart } from '../../core/config/plugin-part.ts';

/** How the text behind a flag is read. Each throws InvalidArgumentError with what the text must be. */

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

export function creditAmount(text: string): number {
  if (!/^\d{1,9}(?:\.\d{1,6})?$/.test(text)) {
    throw new InvalidArgumentError('It must be a number of credits, with at most six decimals.');
  }
  return Number(text);
}

/** A limit, or `none`. */
export const limitValue = (text: string): number | 'none' => (text === 'none' ? text : wholeNumber(text));

export function portNumber(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new InvalidArgumentError('It must be a port number, 0 to 65535.');
  }
  return Number(text);
}

/** A limit, or the word for none at all. It stays a word here: the parser of commands takes null for no value. */
export type Limit = number | 'none';

export const orNone =
  (parse: (text: string) => number) =>
  (text: string): Limit =>
    text === 'none' ? 'none' : parse(text);

/** The limit as requests have it; undefined when it was not given. */
export const limitOf = (limit: Limit | undefined): number | null | undefined =>
  limit === 'none' ? null : limit;

const UNITS = { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 1024, mib: 1024 ** 2, gib: 1024 ** 3 } as const;

/** Reads a number of bytes such as `500000`, `20MB` or `1.5GiB`. */
export function byteCount(text: string): number {
  const [, number = '', unit = 'b'] = /^(\d+(?:\.\d+)?)\s*([a-z]+)?$/i.exec(text) ?? [];
  const factor = UNITS[unit.toLowerCase() as keyof typeof UNITS];
  if (number === '' || factor === undefined) {
    throw new InvalidArgumentError('It must be a number of bytes, such as 500000, 20MB or 1GiB.');
  }
  return Math.round(Number(number) * factor);
}

const TIMES = { ms: 1, s: 1e3, m: 60e3, h: 3_600e3, d: 86_400e3 } as const;

/** `90s`, `15m`, `2h`, `7d`; a number alone is milliseconds. */
export function duration(text: string): number {
  const [, number = '', unit = 'ms'] = /^(\d+(?:\.\d+)?)\s*([a-z]+)?$/i.exec(text) ?? [];
  const factor = TIMES[unit.toLowerCase() as keyof typeof TIMES];
  if (number === '' || factor === undefined) {
    throw new InvalidArgumentError(
      'It must be a time, such as 90s, 15m or 2h; a number alone is milliseconds.',
    );
  }
  return Math.round(Number(number) * factor);
}

export function rate(text: string): number | 'unlimited' {
  if (text === 'unlimited') return 'unlimited';
  const number = Number(text);
  if (!/^\d+(?:\.\d+)?$/.test(text) || number <= 0 || number > 100_000) {
    throw new InvalidArgumentError('It must be requests per second, more than 0, or "unlimited".');
  }
  return number;
}

/** Reads a size such as `1920x1080`. */
export function size(text: string): { width: number; height: number } {
  const [, width, height] = /^(\d{1,5})[x×](\d{1,5})$/i.exec(text) ?? [];
  if (width === undefined || height === undefined) {
    throw new InvalidArgumentError('It must be a width and a height, such as 1920x1080.');
  }
  return { width: Number(width), height: Number(height) };
}

/** Reads a place such as `52.52,13.405`. */
export function place(text: string): { latitude: number; longitude: number } {
  const [, latitude, longitude] = /^(-?\d{1,2}(?:\.\d+)?),\s*(-?\d{1,3}(?:\.\d+)?)$/.exec(text) ?? [];
  if (latitude === undefined || longitude === undefined) {
    throw new InvalidArgumentError('It must be a latitude and a longitude, such as 52.52,13.405.');
  }
  return { latitude: Number(latitude), longitude: Number(longitude) };
}

/** Repeatable, and several at once with commas. */
export const list = (text: string, sofar: readonly string[] | undefined): string[] => [
  ...(sofar ?? []),
  ...text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
];
/** Repeatable; a comma may be part of the value. */
export const collect = (text: string, sofar: readonly string[] | undefined): string[] => [
  ...(sofar ?? []),
  text,
];

/** A list of words, each of which must be one of a closed list. */
export const listOf =
  (words: readonly string[]) =>
  (text: string, sofar: readonly string[] | undefined): string[] => {
    const wanted = list(text, sofar);
    if (wanted.length > 0 && wanted.every((word) => words.includes(word))) return wanted;
    throw new InvalidArgumentError(`It must be one or more of ${words.join(', ')}.`);
  };

export function header(
  text: string,
  sofar: Readonly<Record<string, string>> | undefined,
): Record<string, string> {
  const colonAt = text.indexOf(':');
  if (colonAt < 1) throw new InvalidArgumentError(`It must look like 'Name: value'.`);
  return { ...sofar, [text.slice(0, colonAt).trim()]: text.slice(colonAt + 1).trim() };
}

export function cookie(
  text: string,
  sofar: Readonly<Record<string, string>> | undefined,
): Record<string, string> {
  const equalsAt = text.indexOf('=');
  if (equalsAt < 1) throw new InvalidArgumentError(`It must look like 'name=value'.`);
  return { ...sofar, [text.slice(0, equalsAt).trim()]: text.slice(equalsAt + 1).trim() };
}

/** A word of the list, or the name of what a plug-in offers; whether there is such a plug-in is known when it is loaded. */
export const choiceOrPart =
  (words: readonly string[]) =>
  (text: string): string => {
    if (words.includes(text) || isPluginPart(text)) return text;
    throw new InvalidArgumentError(`Allowed choices are ${words.join(', ')}, and those of plug-ins.`);
  };

export const extractFlag = (): Option =>
  new Option('--extract <type>', 'read the page as a thing of this type; auto decides')
    .choices(EXTRACT_TYPES)
    .argParser(choiceOrPart(EXTRACT_TYPES));
