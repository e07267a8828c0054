import { VALUE_TYPES } from '../../../api/choices.ts';

/** What is taken of a picked element. */
export interface RuleDraft {
  readonly name: string;
  readonly selector: string;
  /** `text`, or the name of an attribute. */
  readonly take: string;
  readonly type: string;
  readonly isList: boolean;
}

export type Rules = Readonly<Record<string, unknown>>;

/** What an element that was picked can be read as: a text is no JSON to people. */
export const RULE_TYPES: readonly string[] = VALUE_TYPES.filter((type) => type !== 'json');

/** The shortest rule of docs/rules.md that says it. */
export function ruleOf({ selector, take, type, isList }: RuleDraft): unknown {
  const hasAttribute = take !== 'text';
  const isPlain = type === 'string' && !isList;
  // `@` behind a selector names an attribute, so a selector that has one itself is written as an object.
  if (isPlain && !selector.includes('@')) return hasAttribute ? `${selector}@${take}` : selector;
  return {
    css: selector,
    ...(hasAttribute && { attribute: take }),
    ...(isList && { list: true }),
    ...(type !== 'string' && { type }),
  };
}

/** The type that a value most likely is. */
export function likelyType(take: string, value: string): string {
  if (take === 'href' || take === 'src') return 'url';
  if (take === 'datetime') return 'date';
  if (/^\s*(?:[$€£¥]|[A-Z]{3})\s?\d[\d.,\s]*$|^\s*\d[\d.,\s]*\s?(?:[$€£¥]|[A-Z]{3})\s*$/.test(value))
    return 'price';
  if (/^\s*-?\d[\d.,]*\s*$/.test(value)) return 'number';
  return 'string';
}

/** A name for the field: the last word of the selector that people chose, in the form of a key. */
export function likelyName(selector: string, taken: readonly string[]): string {
  const named = [...selector.matchAll(/(?:[.#]|(?:itemprop|property|name)=")([A-Za-z][\w:-]*)/g)].at(-1)?.[1];
  const tag = /([a-z][a-z0-9]*)(?::[\w-]+(?:\([^)]*\))?)*$/.exec(selector)?.[1];
  const base =
    (named ?? tag ?? 'field')
      .replace(/^\w+:/, '')
      .replace(/[-_:]+(\w)/g, (_, letter: string) => letter.toUpperCase())
      .replace(/\W/g, '') || 'field';
  const free = [base, ...Array.from({ length: 100 }, (_, index) => `${base}${index + 2}`)];
  return free.find((name) => !taken.includes(name)) ?? base;
}

/** The rules of the form; null where they are no JSON object. */
export function rulesOf(text: string): Rules | null {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Rules) : null;
  } catch {
    return null;
  }
}

export const rulesText = (rules: Rules): string =>
  Object.keys(rules).length === 0 ? '' : JSON.stringify(rules, null, 2);
