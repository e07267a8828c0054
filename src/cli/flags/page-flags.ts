import { given } from './flags.ts';
import { readYamlFile, wrongFile } from './yaml-file.ts';

/** The flags for requests and page actions; the same for every command that fetches. */
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
  readonly taskTimeout?: number;
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
  'taskTimeout',
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
  taskTimeoutMs: '--task-timeout',
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
    taskTimeoutMs: flags.taskTimeout,
  });
}

/** A list of actions from a YAML or JSON file; the schema validates its entries. */
export function readActions(cwd: string, file: string | undefined): unknown {
  if (file === undefined) return undefined;
  const { path, value } = readYamlFile(cwd, file, '--actions');
  if (!Array.isArray(value)) throw wrongFile('--actions', `${path} must hold a list of actions.`);
  return value;
}
