import { isSecretName, REDACTED, redactText } from './redact.ts';

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
