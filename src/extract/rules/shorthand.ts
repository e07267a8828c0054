import type { AlternativeInput } from './rule-schema.ts';

const PREFIX = /^(css|xpath|regex|jsonpath):\s*/;
/** `a.more@href`: what of the element. */
const ATTRIBUTE = /\s*@([\w:.-]+)\s*$/;

export interface Shorthand {
  readonly input: AlternativeInput;
  /** How many characters stand before the selector, so that a column counts from the start of what was written. */
  readonly offset: number;
}

/** A rule written as one text: a CSS selector unless a prefix says otherwise, with `@name` behind it for an attribute. */
export function readShorthand(text: string): Shorthand {
  const [prefix = '', kind = 'css'] = PREFIX.exec(text) ?? [];
  const selector = text.slice(prefix.length);
  if (kind !== 'css') return { input: { [kind]: selector }, offset: prefix.length };
  const suffix = ATTRIBUTE.exec(selector);
  if (suffix === null) return { input: { css: selector }, offset: prefix.length };
  const { 1: attribute = '', index } = suffix;
  return { input: { css: selector.slice(0, index), attribute }, offset: prefix.length };
}
