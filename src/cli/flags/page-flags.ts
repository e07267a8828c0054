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
  readonly header?: Record<string, string>;
  readonly crossOriginHeader?: string[];
  readonly cookie?: Record<string, string>;
  readonly session?: string;
  readonly maxAttempts?: number;
  readonly maxBodyBytes?: number;
  readonly blockResources?: string[];
  readonly scrollSteps?: number;
  readonly scrollPause?: number;
}

/** The flags for pictures, for commands that keep them. */
export interface PictureFlags {
  readonly fullPage?: true;
  readonly screenshotSelector?: string;
  readonly screenshotFormat?: string;
  readonly screenshotQuality?: number;
}

export const PICTURE_FLAGS = [
  'fullPage',
  'screenshotSelector',
  'screenshotFormat',
  'screenshotQuality',
] as const;

export const PICTURE_FLAG_OF = {
  'screenshot.fullPage': '--full-page',
  'screenshot.selector': '--screenshot-selector',
  'screenshot.format': '--screenshot-format',
  'screenshot.quality': '--screenshot-quality',
} as const;

/** The field `screenshot` of a request; undefined when no flag asks for a picture. */
export function pictureFieldOf(flags: PictureFlags): object | undefined {
  const picture = given({
    fullPage: flags.fullPage,
    selector: flags.screenshotSelector,
    format: flags.screenshotFormat,
    quality: flags.screenshotQuality,
  });
  return Object.keys(picture).length === 0 ? undefined : picture;
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
  'header',
  'crossOriginHeader',
  'cookie',
  'session',
  'maxAttempts',
  'maxBodyBytes',
  'blockResources',
  'scrollSteps',
  'scrollPause',
] as const;

/** Which flag a field of the request comes from; the first that fits counts. */
export const PAGE_FLAG_OF = {
  engine: '--engine',
  'wait.selector': '--wait-for',
  'wait.ms': '--wait-ms',
  'wait.until': '--wait-until',
  wait: '--wait-for',
  'scroll.maxSteps': '--scroll-steps',
  'scroll.pauseMs': '--scroll-pause',
  scroll: '--scroll',
  'proxy.tier': '--proxy-tier',
  'proxy.country': '--country',
  'proxy.url': '--proxy',
  proxy: '--proxy',
  identity: '--identity',
  headers: '--header',
  crossOriginHeaders: '--cross-origin-header',
  cookies: '--cookie',
  session: '--session',
  maxAttempts: '--max-attempts',
  maxBodyBytes: '--max-body-bytes',
  blockResources: '--block-resources',
  obeyRobots: '--no-robots',
  actions: '--actions',
} as const;

/** The fields of a request that these flags stand for. */
export function pageFieldsOf(flags: PageFlags): Record<string, unknown> {
  const wait = given({ selector: flags.waitFor, ms: flags.waitMs, until: flags.waitUntil });
  const proxy = given({ url: flags.proxy, tier: flags.proxyTier, country: flags.country });
  const scroll = given({ maxSteps: flags.scrollSteps, pauseMs: flags.scrollPause });
  return given({
    engine: flags.engine,
    wait: Object.keys(wait).length === 0 ? undefined : wait,
    scroll: Object.keys(scroll).length === 0 ? flags.scroll : scroll,
    proxy: Object.keys(proxy).length === 0 ? undefined : proxy,
    identity: flags.identity,
    headers: flags.header,
    crossOriginHeaders: flags.crossOriginHeader,
    cookies: flags.cookie,
    session: flags.session,
    maxAttempts: flags.maxAttempts,
    maxBodyBytes: flags.maxBodyBytes,
    blockResources: flags.blockResources,
  });
}

/** A list of actions from a YAML or JSON file; the schema validates its entries. */
export const readActions = (cwd: string, file: string | undefined): unknown =>
  readList(cwd, file, '--actions', 'actions');

/** The same of routes. */
export const readRoutes = (cwd: string, file: string | undefined): unknown =>
  readList(cwd, file, '--routes', 'routes');

function readList(cwd: string, file: string | undefined, flag: string, what: string): unknown {
  if (file === undefined) return undefined;
  const { path, value } = readYamlFile(cwd, file, flag);
  if (!Array.isArray(value)) throw wrongFile(flag, `${path} must hold a list of ${what}.`);
  return value;
}
