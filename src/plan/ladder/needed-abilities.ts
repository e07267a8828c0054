import type { RenderWish } from '../../model/render.ts';
import type { Ability } from './possible-methods.ts';

/** The options that plain HTTP cannot honour, as far as they were given. */
export interface BrowserOptions {
  readonly wait?: RenderWish['wait'] | null;
  readonly scroll?: unknown;
  readonly actions?: readonly unknown[] | null | undefined;
  readonly screenshot?: unknown;
  readonly formats: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
}

const BY_FORMAT: Readonly<Record<string, Ability>> = { screenshot: 'screenshots', pdf: 'pdf', xhr: 'xhr' };

/** What an engine must be able to do to honour them; empty when anyone will do. */
export function neededAbilities(options: BrowserOptions): Ability[] {
  const { wait, scroll, actions, screenshot, formats, headers = {}, method = 'GET' } = options;
  const needs = new Set<Ability>();
  if (isGiven(wait) || isGiven(scroll)) needs.add('javascript');
  if (isGiven(scroll) || wait?.selector !== undefined || wait?.until !== undefined) needs.add('waits');
  if (method !== 'GET' || Object.keys(headers).length > 0) needs.add('messages');
  if (isGiven(actions) && actions.length > 0) needs.add('actions');
  if (isGiven(screenshot)) needs.add('screenshots');
  for (const format of formats) {
    const ability = BY_FORMAT[format];
    if (ability !== undefined) needs.add(ability);
  }
  return [...needs];
}

const isGiven = <T>(option: T): option is NonNullable<T> => option !== undefined && option !== null;
