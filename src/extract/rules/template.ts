import { RULE_LIMITS } from './rule-limits.ts';
import { RuleSyntaxError } from './rule-problem.ts';

const PLACE = /\{([^{}]*)\}/g;

/** A text with places: `{value}`, `{value.name}` for a part of an object, `{url}` of the page. Throws RuleSyntaxError for others. */
export function compileTemplate(template: string): (value: unknown, url: string) => string {
  for (const { 1: name = '', index } of template.matchAll(PLACE)) {
    if (name !== 'url' && name !== 'value' && !/^value\.\w+$/.test(name)) {
      throw new RuleSyntaxError(
        index,
        `There is no \`{${name}}\`; the places are {value}, {value.name} and {url}.`,
      );
    }
  }
  return (value, url) =>
    template
      .replace(PLACE, (_whole, name: string) => {
        if (name === 'url') return url;
        return written(name === 'value' ? value : partOf(value, name.slice('value.'.length)));
      })
      .slice(0, RULE_LIMITS.valueChars);
}

function partOf(value: unknown, name: string): unknown {
  const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
  return isThere ? (value as Record<string, unknown>)[name] : null;
}

function written(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
