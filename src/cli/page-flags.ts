import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { ScrapifieError } from '../errors/scrapifie-error.ts';
import { given } from './flags.ts';

/** The flags that say how a page is asked for and what is done on it; the same for every command that fetches. */
export interface PageFlags {
  readonly engine?: string;
  readonly waitFor?: string;
  readonly waitMs?: number;
  readonly waitUntil?: string;
  readonly scroll?: true;
  readonly proxy?: string;
  readonly proxyTier?: string;
  readonly country?: string;
  readonly identity?: string;
}

export const PAGE_FLAGS = [
  'engine',
  'waitFor',
  'waitMs',
  'waitUntil',
  'scroll',
  'proxy',
  'proxyTier',
  'country',
  'identity',
] as const;

/** Which flag a field of the request comes from; the first that fits counts. */
export const PAGE_FLAG_OF = {
  engine: '--engine',
  'wait.selector': '--wait-for',
  'wait.ms': '--wait-ms',
  'wait.until': '--wait-until',
  wait: '--wait-for',
  scroll: '--scroll',
  'proxy.tier': '--proxy-tier',
  'proxy.country': '--country',
  proxy: '--proxy',
  identity: '--identity',
} as const;

/** The fields of a request that these flags stand for. */
export function pageFieldsOf(flags: PageFlags): Record<string, unknown> {
  const wait = given({ selector: flags.waitFor, ms: flags.waitMs, until: flags.waitUntil });
  const proxy = given({ url: flags.proxy, tier: flags.proxyTier, country: flags.country });
  return given({
    engine: flags.engine,
    wait: Object.keys(wait).length === 0 ? undefined : wait,
    scroll: flags.scroll,
    proxy: Object.keys(proxy).length === 0 ? undefined : proxy,
    identity: flags.identity,
  });
}

/** A list of actions from a YAML or JSON file; what is in the list is for the schema to judge. */
export function readActions(cwd: string, file: string | undefined): unknown {
  if (file === undefined) return undefined;
  const path = resolve(cwd, file);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw wrongActions(`${path} cannot be read: ${(error as Error).message}`, error);
  }
  const document = parseDocument(text);
  const [problem] = document.errors;
  if (problem !== undefined) {
    const line = problem.linePos?.[0].line ?? 1;
    throw wrongActions(`${path}:${line}: ${problem.message.split('\n', 1)[0]}`, problem);
  }
  const actions: unknown = document.toJS();
  if (!Array.isArray(actions)) throw wrongActions(`${path} must hold a list of actions.`);
  return actions;
}

const wrongActions = (why: string, cause?: unknown) =>
  new ScrapifieError('INVALID_USAGE', `--actions: ${why}`, cause === undefined ? {} : { cause });
