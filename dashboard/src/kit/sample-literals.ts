/**
 * Characters that a reader of code does not see or that turn its direction around, and the line ends of Unicode. They
 * are written as escapes, so that a sample says what it does.
 */
const UNSEEN = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

const escapeOf = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** JSON escapes half of a surrogate pair; Go and UTF-8 refuse it, so it becomes U+FFFD. */
const HALF_PAIR = /\\\\|\\ud[89a-f][0-9a-f]{2}/g;

/** JSON whose strings and names have no invisible characters. */
export const jsonText = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent)
    .replace(UNSEEN, escapeOf)
    .replace(HALF_PAIR, (found) => (found === '\\\\' ? found : '\\ufffd'));

/** A string literal that TypeScript, Python and Go read alike: the escapes of JSON are escapes of all three. */
export const stringLiteral = (text: string): string => jsonText(text);

/** One word of a POSIX shell. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

interface Dialect {
  readonly literals: Readonly<Record<'true' | 'false' | 'null', string>>;
  readonly number: (value: number) => string;
  readonly list: readonly [string, string];
  readonly object: readonly [string, string];
  readonly key: (name: string) => string;
  readonly indent: string;
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** `__proto__` as a plain key would set the prototype of the object. */
const typescriptKey = (name: string): string =>
  name === '__proto__' ? '["__proto__"]' : IDENTIFIER.test(name) ? name : stringLiteral(name);

/** A whole number beyond what an int of Go holds is written as a float. */
const goNumber = (value: number): string =>
  Number.isInteger(value) && !Number.isSafeInteger(value) ? value.toExponential() : String(value);

const TYPESCRIPT: Dialect = {
  literals: { true: 'true', false: 'false', null: 'null' },
  number: String,
  list: ['[', ']'],
  object: ['{ ', ' }'],
  key: typescriptKey,
  indent: '  ',
};
const PYTHON: Dialect = {
  literals: { true: 'True', false: 'False', null: 'None' },
  number: String,
  list: ['[', ']'],
  object: ['{', '}'],
  key: stringLiteral,
  indent: '    ',
};
const GO: Dialect = {
  literals: { true: 'true', false: 'false', null: 'nil' },
  number: goNumber,
  list: ['[]any{', '}'],
  object: ['scrapifie.Object{', '}'],
  key: stringLiteral,
  indent: '\t',
};

/** Literals of up to so many characters stay on one line. */
const LINE = 64;

function literal(value: unknown, dialect: Dialect, margin: string): string {
  if (value === null || value === undefined) return dialect.literals.null;
  if (typeof value === 'boolean') return dialect.literals[value ? 'true' : 'false'];
  if (typeof value === 'number') return dialect.number(value);
  if (typeof value !== 'object') return stringLiteral(String(value));
  const inner = margin + dialect.indent;
  const isList = Array.isArray(value);
  const [open, close] = isList ? dialect.list : dialect.object;
  const entries = isList
    ? value.map((each) => literal(each, dialect, inner))
    : presentEntries(value).map(([name, each]) => `${dialect.key(name)}: ${literal(each, dialect, inner)}`);
  return enclosed(open, entries, close, { margin, indent: dialect.indent });
}

/** Entries between two marks: on one line where that is short, else one per line. */
export function enclosed(
  open: string,
  entries: readonly string[],
  close: string,
  { margin = '', indent }: { readonly margin?: string; readonly indent: string },
): string {
  if (entries.length === 0) return open.trimEnd() + close.trimStart();
  const line = entries.join(', ');
  if (line.length <= LINE && !line.includes('\n')) return open + line + close;
  const lines = entries.map((entry) => `${margin}${indent}${entry},\n`).join('');
  return `${open.trimEnd()}\n${lines}${margin}${close.trimStart()}`;
}

/** Fields that have a value; `undefined` is left out, as JSON leaves it out. */
export const presentEntries = (value: object): readonly [string, unknown][] =>
  Object.entries(value).filter(([, each]) => each !== undefined);

export const typescriptLiteral = (value: unknown, margin = ''): string => literal(value, TYPESCRIPT, margin);
export const pythonLiteral = (value: unknown, margin = ''): string => literal(value, PYTHON, margin);
export const goLiteral = (value: unknown, margin = ''): string => literal(value, GO, margin);

const PYTHON_KEYWORDS = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global ' +
    'if import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
);

/** Fields as arguments of a call of Python; names that Python cannot take so are handed over by `**`. */
export function pythonArguments(fields: object, margin = ''): readonly string[] {
  const inner = margin + PYTHON.indent;
  const entries = presentEntries(fields);
  const isPlain = ([name]: readonly [string, unknown]) => IDENTIFIER.test(name) && !PYTHON_KEYWORDS.has(name);
  const others = entries.filter((entry) => !isPlain(entry));
  return [
    ...entries.filter(isPlain).map(([name, value]) => `${name}=${pythonLiteral(value, inner)}`),
    ...(others.length === 0 ? [] : [`**${pythonLiteral(Object.fromEntries(others), inner)}`]),
  ];
}
