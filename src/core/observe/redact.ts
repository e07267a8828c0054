/**
 * Takes secrets out of text that is about to be written somewhere: by name (a query parameter, a field or header
 * in a sentence) and by shape (user and password in a URL, Bearer and Basic credentials, addresses of webhooks of chats,
 * e-mail addresses).
 * Rather one harmless word too many than one secret.
 */
export const REDACTED = '[redacted]';

/**
 * Names whose value is a secret wherever the word stands in them: `x-api-key`, `sessionToken`, `DB_PASSWORD`.
 * The rate limiter's tokens are not secrets.
 */
const SECRET_NAME =
  /authorization|cookie|(?:api|service|private|access)[-_]?key|passw(?:or)?d|passphrase|secret|credential|session[-_]?id|signature|token(?!s$|sAt$|Bucket)/i;

/** Names that mean a secret or a person when they are the whole name of a URL's parameter. */
const SECRET_PARAMETER = /^(?:key|sig|auth|code|pwd|pass|sid|jwt|e-?mail|phone)$/i;

/** A quick look that lets most texts pass without further work. */
const SUSPICIOUS =
  /@|%40|authoriz|cookie|key|pass|pwd|secret|credential|session|sig|auth|code(?:=|%3d)|token|sid|jwt|mail|phone|bearer|basic|hooks?\.|webhook|telegram/i;

/**
 * A name and what stands between it and its value: also in JSON, and in JSON inside JSON. The look-behind keeps
 * the search linear in long words.
 */
const NAME = /(?<![\w.[\]-])([\w.[\]-]{1,64})((?:\\{0,7}["'])?\s?(?:[:=]|%3[AaDd])\s?(?:\\{0,7}["'])?)/g;
/** What a parameter's name follows, plain or percent-encoded inside another URL. */
const PARAMETER_START = /[?&#;]$/;
const ENCODED_PARAMETER_START = /^(?:3F|26|23)(?=.)/i;

/** User and password of a URL, up to the last @ before the path; also percent-encoded, and without a scheme. */
const USER_INFO =
  /(\/\/)[^\s/?#]*@|(%2F%2F)(?:(?!%2F|%3F|%23)[^\s&/?#])*%40|(?<![\w.%~+-])[\w.%~+-]{1,128}:[^\s/@:]{1,256}@(?=[\w[])/gi;
const SCHEME = /\b(bearer|basic)\s+[^\s"']+/gi;
/** Addresses whose path is all that a sender needs: those of webhooks of chats. */
const CAPABILITY =
  /((?:hooks\.slack\.com\/(?:services|workflows|triggers)|discord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks|webhook\.office\.com\/webhookb2|api\.telegram\.org)\/)[^\s"'?#]+/gi;
const EMAIL = /(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})*\.[A-Za-z]{2,24}/g;

/** Is a field or header of this name a secret, whatever it holds? */
function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** The text without its secrets; the same string when it has none. Linear in the length of the text. */
export function redactText(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  const shown = text
    .replace(SCHEME, (_, scheme) => `${scheme} ${REDACTED}`)
    .replace(CAPABILITY, `$1${REDACTED}`);
  let result = redactPairs(shown);
  if (result.includes('@') || result.includes('%40')) {
    result = result.replace(USER_INFO, hideUserInfo).replace(EMAIL, REDACTED);
  }
  return result;
}

/** A URL that may be shown: without user, password and the values of parameters that look like secrets. */
export function redactUrl(url: string): string {
  return redactText(url);
}

function hideUserInfo(_: string, slashes: string | undefined, encodedSlashes: string | undefined): string {
  if (encodedSlashes !== undefined) return `${encodedSlashes}${REDACTED}%40`;
  return `${slashes ?? ''}${REDACTED}@`;
}

/**
 * Hides the value of every `name=value` and `name: value` whose name says that it is a secret. Where a value ends
 * is a guess, so names are looked for inside hidden values too: theirs may end later.
 */
function redactPairs(text: string): string {
  const ends = new Ends(text);
  let result = '';
  let copied = 0;
  NAME.lastIndex = 0;
  for (let match = NAME.exec(text); match !== null; match = NAME.exec(text)) {
    const [, name = '', separator = ''] = match;
    if (!isSecretName(name) && !isSecretParameter(text, match.index, name)) continue;
    const start = NAME.lastIndex;
    const end = ends.ofValue(start, name, separator);
    if (end <= Math.max(start, copied)) continue;
    if (start > copied) result += text.slice(copied, start) + REDACTED;
    copied = end;
  }
  return copied === 0 ? text : result + text.slice(copied);
}

function isSecretParameter(text: string, start: number, name: string): boolean {
  const before = text.slice(start - 1, start);
  if (before === '%') return SECRET_PARAMETER.test(name.replace(ENCODED_PARAMETER_START, ''));
  return PARAMETER_START.test(before) && SECRET_PARAMETER.test(name);
}

/** Where values end in one text. */
class Ends {
  readonly #text: string;
  readonly #line = new NextMatch(/[\r\n]|$/g);
  readonly #parameter = new NextMatch(/[\s&#]|$/g);
  readonly #encodedParameter = new NextMatch(/[\s&#]|%26|$/gi);

  constructor(text: string) {
    this.#text = text;
  }

  ofValue(start: number, name: string, separator: string): number {
    const quote = separator.at(-1);
    if (quote === '"' || quote === "'") return closingQuote(this.#text, start, quote);
    // Header values have spaces (Cookie: a=b; c=d), and so may whatever is in a list or an object.
    const first = this.#text[start];
    const isHeader = separator.includes(':') && /authorization|cookie/i.test(name);
    if (isHeader || first === '[' || first === '{') return this.#line.from(this.#text, start);
    return (separator.includes('%') ? this.#encodedParameter : this.#parameter).from(this.#text, start);
  }
}

/** Remembers the last answer, so that asking from many places before the same end stays cheap. */
class NextMatch {
  readonly #pattern: RegExp;
  #asked = 0;
  #found = -1;

  constructor(pattern: RegExp) {
    this.#pattern = pattern;
  }

  from(text: string, start: number): number {
    if (start < this.#asked || start > this.#found) {
      this.#pattern.lastIndex = start;
      this.#asked = start;
      this.#found = this.#pattern.exec(text)?.index ?? text.length;
    }
    return this.#found;
  }
}

/** Where the quoted value that begins at `start` ends. A quote inside it has more backslashes than the first one. */
function closingQuote(text: string, start: number, quote: string): number {
  const depth = backslashesBefore(text, start - 1);
  for (let at = text.indexOf(quote, start); at !== -1; at = text.indexOf(quote, at + 1)) {
    const backslashes = backslashesBefore(text, at);
    if (backslashes <= depth || (depth === 0 && backslashes % 2 === 0))
      return at - Math.min(backslashes, depth);
  }
  return text.length;
}

function backslashesBefore(text: string, end: number): number {
  let count = 0;
  while (text[end - count - 1] === '\\') count += 1;
  return count;
}

const MAX_DEPTH = 6;
const MAX_ITEMS = 100;
/** Values looked at for one line: a guard against logging half the heap by accident. */
const MAX_VISITS = 2_000;

type Fields = Readonly<Record<string, unknown>>;

/**
 * The fields of a log line without secrets at any depth; the same object when it has none, so that the usual line
 * costs no copy. Fields in `except` are copied unchanged. Values that are nested too deeply or are instances of
 * some class is only named: a line is for facts, not for objects with a life of their own.
 */
export function redactFields(fields: Fields, except: ReadonlySet<string> = NOTHING): Fields {
  return new Walk().fields(fields, 0, except);
}

export function redactValue(value: unknown): unknown {
  return new Walk().value(value, 0);
}

/** An error as log fields: type, message, stack and cause. */
export function redactError(error: Error): Fields {
  return new Walk().error(error, 0);
}

const NOTHING: ReadonlySet<string> = new Set();

class Walk {
  #visits = 0;

  value(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return redactText(value);
    if (typeof value !== 'object' || value === null) return value;
    this.#visits += 1;
    if (depth > MAX_DEPTH || this.#visits > MAX_VISITS) return '[left out]';
    if (Array.isArray(value)) return this.items(value, depth);
    if (value instanceof Error) return this.error(value, depth);
    if (value instanceof Map) return this.fields(Object.fromEntries(value), depth, NOTHING);
    if (value instanceof Set) return this.items([...value], depth);
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if ('toJSON' in value && typeof value.toJSON === 'function') return this.value(value.toJSON(), depth + 1);
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) return `[${value.constructor.name}]`;
    return this.fields(value as Fields, depth, NOTHING);
  }

  fields(fields: Fields, depth: number, except: ReadonlySet<string>): Fields {
    let copy: Record<string, unknown> | null = null;
    for (const name of Object.keys(fields)) {
      const shown = except.has(name) ? fields[name] : this.field(name, fields[name], depth);
      const shownName = redactText(name);
      if (shown === fields[name] && shownName === name) continue;
      copy ??= { ...fields };
      if (shownName !== name) delete copy[name];
      copy[shownName] = shown;
    }
    return copy ?? fields;
  }

  field(name: string, value: unknown, depth: number): unknown {
    // Whether a value is there is no secret, so null and booleans are shown.
    if (value === null || value === undefined || typeof value === 'boolean') return value;
    return isSecretName(name) ? REDACTED : this.value(value, depth + 1);
  }

  items(items: readonly unknown[], depth: number): readonly unknown[] {
    let copy: unknown[] | null = items.length > MAX_ITEMS ? items.slice(0, MAX_ITEMS) : null;
    const count = Math.min(items.length, MAX_ITEMS);
    for (let index = 0; index < count; index += 1) {
      const shown = this.value(items[index], depth + 1);
      if (shown === items[index]) continue;
      copy ??= [...items];
      copy[index] = shown;
    }
    return copy ?? items;
  }

  error(error: Error, depth: number): Fields {
    const shown: Record<string, unknown> = { type: error.name, message: redactText(error.message) };
    if (error.stack !== undefined) shown.stack = redactText(error.stack);
    for (const [name, value] of Object.entries(error)) {
      if (name !== 'name' && value !== undefined) shown[name] = this.field(name, value, depth);
    }
    if (error.cause !== undefined) shown.cause = this.value(error.cause, depth + 1);
    return shown;
  }
}
