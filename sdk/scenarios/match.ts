/**
 * Why a value is not what was expected; null when it is. Objects need the expected fields and may have others. Objects
 * with these fields mean more: `$length`, `$atLeast` (of a list or a number), `$each` (every entry), `$some` (one of
 * them), `$type`, `$text` (a text that has this one in it).
 */
export function mismatch(value: unknown, expected: unknown, at = 'answer'): string | null {
  if (!isObject(expected)) {
    return JSON.stringify(value) === JSON.stringify(expected)
      ? null
      : `${at} is ${JSON.stringify(value)?.slice(0, 200)}, not ${JSON.stringify(expected)}`;
  }
  for (const [name, wanted] of Object.entries(expected)) {
    const found = name.startsWith('$')
      ? special(value, name, wanted, at)
      : mismatch(fieldOf(value, name), wanted, `${at}.${name}`);
    if (found !== null) return found;
  }
  return null;
}

function special(value: unknown, name: string, wanted: unknown, at: string): string | null {
  const entries = Array.isArray(value) ? (value as unknown[]) : [];
  switch (name) {
    case '$length':
      return mismatch(entries.length, wanted, `length of ${at}`);
    case '$atLeast': {
      const size = Array.isArray(value) ? entries.length : Number(value);
      return size >= Number(wanted) ? null : `${at} has or is ${size}, less than ${String(wanted)}`;
    }
    case '$each':
      return (
        entries
          .map((entry, index) => mismatch(entry, wanted, `${at}[${index}]`))
          .find((each) => each !== null) ?? null
      );
    case '$some':
      return entries.some((entry) => mismatch(entry, wanted) === null)
        ? null
        : `${at} has no entry like ${JSON.stringify(wanted)}`;
    case '$text':
      return String(value).includes(String(wanted)) ? null : `${at} has no ${String(wanted)}`;
    case '$type':
      return typeOf(value) === wanted ? null : `${at} is a ${typeOf(value)}, not a ${String(wanted)}`;
    default:
      return `${name} is no known expectation`;
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const fieldOf = (value: unknown, name: string): unknown => (isObject(value) ? (value[name] ?? null) : null);

function typeOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
}
