import { fullUrl, linesOf } from '../../../format/full-url.ts';
import type { OptionField } from './option-field-types.ts';
import { OPTION_FIELDS } from './option-fields.ts';

type Fields = Readonly<Record<string, unknown>>;
/** A step on the page as it is typed. */
export type ActionDraft = Readonly<Record<string, unknown>> & { readonly type: string };
export type DraftValue = string | boolean | readonly string[] | readonly ActionDraft[];
/** What the form holds: the value of each option by its path, as it is typed. Options at their default are absent. */
export type Draft = Readonly<Record<string, DraftValue>>;
export type Problems = Readonly<Record<string, string>>;

export interface DraftedRequest {
  readonly body: Fields & { readonly url: string };
  /** What is wrong before the server is asked, by path. */
  readonly problems: Problems;
}

export const DEFAULT_FORMATS: readonly string[] = ['markdown', 'links', 'metadata'];

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

class WrongValue extends Error {}

function pairsOf(text: string): Fields {
  return Object.fromEntries(
    linesOf(text).map((line) => {
      const colon = line.indexOf(':', 1);
      if (colon < 1)
        throw new WrongValue(`Write each line as “Name: value”; “${line.slice(0, 40)}” has no colon.`);
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );
}

function jsonOf(text: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new WrongValue(`This is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
  if (!isFields(value)) throw new WrongValue('Write an object: { … }.');
  return value;
}

/** Values that are no texts in the request. */
const CHOICE_VALUES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  scroll: { true: true, false: false },
  'extract.llm': { true: true, derived: { derived: 'all' } },
};

/** The value of the request, or undefined where the option is left at its default. */
function requestValue({ path, kind }: OptionField, typed: DraftValue): unknown {
  if (kind === 'on') return typed === true ? true : undefined;
  if (kind === 'off') return typed === false ? false : undefined;
  if (kind === 'checks' || kind === 'actions')
    return (typed as readonly unknown[]).length > 0 ? typed : undefined;
  const text = String(typed);
  if (text.trim() === '') return undefined;
  if (kind === 'number') {
    const value = Number(text);
    if (!Number.isFinite(value)) throw new WrongValue('Write a number.');
    return value;
  }
  if (kind === 'lines') return linesOf(text);
  if (kind === 'pairs') return pairsOf(text);
  if (kind === 'json') return jsonOf(text);
  if (kind === 'choice') return CHOICE_VALUES[path]?.[text] ?? text;
  if (path === 'maxAge' && /^\d+$/.test(text.trim())) return Number(text);
  return kind === 'long' ? text : text.trim();
}

function withValue(body: Fields, path: string, value: unknown): Fields {
  const [head = '', ...rest] = path.split('.');
  if (rest.length === 0) return { ...body, [head]: value };
  const inner = body[head];
  return { ...body, [head]: withValue(isFields(inner) ? inner : {}, rest.join('.'), value) };
}

/** Other fields beside those of the form; of an object that both have, the entries of both. */
const merged = (body: Fields, others: Fields): Fields => ({
  ...body,
  ...Object.fromEntries(
    Object.entries(others).map(([name, value]) => {
      const own = body[name];
      return [name, isFields(own) && isFields(value) ? { ...own, ...value } : value];
    }),
  ),
});

function urlProblem(url: string): string | null {
  if (url === '') return 'Write the address of a page, such as https://example.com/.';
  if (!/^https?:\/\//i.test(url)) return 'Begin with http:// or https://.';
  return URL.canParse(url) ? null : 'This is no URL. Check the host and remove spaces.';
}

/** The request that the form describes, and what is wrong with it. */
export function requestOf(draft: Draft): DraftedRequest {
  const problems: Record<string, string> = {};
  const url = fullUrl(String(draft.url ?? ''));
  const wrongUrl = urlProblem(url);
  if (wrongUrl !== null) problems.url = wrongUrl;
  let body: Fields = { url };
  for (const field of OPTION_FIELDS) {
    const typed = draft[field.path];
    if (typed === undefined) continue;
    try {
      const value = requestValue(field, typed);
      if (value === undefined) continue;
      body = field.path === '*' ? merged(body, value as Fields) : withValue(body, field.path, value);
    } catch (cause) {
      if (!(cause instanceof WrongValue)) throw cause;
      problems[field.path] = cause.message;
    }
  }
  return { body: body as DraftedRequest['body'], problems };
}

function typedValue({ path, kind }: OptionField, value: unknown): DraftValue | undefined {
  if (value === undefined || value === null) return undefined;
  if (kind === 'on' || kind === 'off') return typeof value === 'boolean' ? value : undefined;
  if (kind === 'checks') return Array.isArray(value) ? value.map(String) : undefined;
  if (kind === 'actions') return Array.isArray(value) ? value.filter(isFields).map(asAction) : undefined;
  if (kind === 'lines') return Array.isArray(value) ? value.map(String).join('\n') : undefined;
  if (kind === 'pairs') {
    if (!isFields(value)) return undefined;
    return Object.entries(value)
      .map(([name, each]) => `${name}: ${String(each)}`)
      .join('\n');
  }
  if (kind === 'json') return isFields(value) ? JSON.stringify(value, null, 2) : undefined;
  if (kind === 'choice') {
    const found = Object.entries(CHOICE_VALUES[path] ?? {}).find(
      ([, each]) => JSON.stringify(each) === JSON.stringify(value),
    );
    return found?.[0] ?? (typeof value === 'string' ? value : undefined);
  }
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

const asAction = (value: Fields): ActionDraft => ({ ...value, type: String(value.type ?? 'click') });

function takeValue(body: Record<string, unknown>, path: string): unknown {
  const [head = '', ...rest] = path.split('.');
  const value = body[head];
  if (rest.length === 0) {
    delete body[head];
    return value;
  }
  if (!isFields(value)) return undefined;
  const inner = { ...value };
  const found = takeValue(inner, rest.join('.'));
  if (Object.keys(inner).length === 0) delete body[head];
  else body[head] = inner;
  return found;
}

/** The form of a request. Fields that the form has no place for are in “other fields”. */
export function draftOf(request: Fields): Draft {
  const rest: Record<string, unknown> = structuredClone(request);
  const draft: Record<string, DraftValue> = {};
  if (typeof rest.url === 'string') draft.url = rest.url;
  delete rest.url;
  for (const field of OPTION_FIELDS) {
    if (field.path === '*') continue;
    const before = { ...rest };
    const value = takeValue(rest, field.path);
    const typed = typedValue(field, value);
    if (typed !== undefined) draft[field.path] = typed;
    else if (value !== undefined && value !== null) Object.assign(rest, before);
  }
  if (Object.keys(rest).length > 0) draft['*'] = JSON.stringify(rest, null, 2);
  return draft;
}

/** The nearest option for a path of a problem that the server names, such as `extract.rules` for `extract.rules.price.css`. */
export function placeOf(problem: string): string | null {
  const steps = problem.split('.');
  for (let length = steps.length; length > 0; length--) {
    const path = steps.slice(0, length).join('.');
    if (path === 'url' || OPTION_FIELDS.some((field) => field.path === path)) return path;
  }
  return OPTION_FIELDS.find(({ path }) => path.startsWith(`${steps[0]}.`))?.path ?? null;
}

/** A problem as the option shows it: without the path that the place of the message says already. */
export function messageAt(path: string, field: string, message: string): string {
  const prefix = `\`${field}\` `;
  const words = message.startsWith(prefix) ? message.slice(prefix.length) : message;
  if (field !== path && field.startsWith(`${path}.`)) return `${field.slice(path.length + 1)}: ${words}`;
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
