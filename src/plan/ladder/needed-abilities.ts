import type { Ability } from './possible-ways.ts';

/** The options that plain HTTP cannot honour, as far as they were given. */
export interface BrowserOptions {
  readonly wait?: unknown;
  readonly scroll?: unknown;
  readonly actions?: readonly unknown[] | null | undefined;
  readonly screenshot?: unknown;
  readonly formats: readonly string[];
}

const BY_FORMAT: Readonly<Record<string, Ability>> = { screenshot: 'screenshots', pdf: 'pdf', xhr: 'xhr' };

/** What an engine must be able to do to honour them; empty when anyone will do. */
export function neededAbilities({ wait, scroll, actions, screenshot, formats }: BrowserOptions): Ability[] {
  const needs = new Set<Ability>();
  if (isGiven(wait) || isGiven(scroll)) needs.add('javascript');
  if (isGiven(actions) && actions.length > 0) needs.add('actions');
  if (isGiven(screenshot)) needs.add('screenshots');
  for (const format of formats) {
    const ability = BY_FORMAT[format];
    if (ability !== undefined) needs.add(ability);
  }
  return [...needs];
}

const isGiven = <T>(option: T): option is NonNullable<T> => option !== undefined && option !== null;
