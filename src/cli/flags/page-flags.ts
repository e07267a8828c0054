import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { given } from './flags.ts';
import { readYamlFile, wrongFile } from './yaml-file.ts';

/** The flags for requests and page actions; the same for every command that fetches. */
export interface PageFlags {
  readonly engine?: string;
  readonly waitFor?: string;
  readonly waitMs?: number;
  readonly waitUntil?: string;
  readonly scroll?: boolean;
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly mobile?: true;
  readonly geolocation?: { readonly latitude: number; readonly longitude: number };
  readonly locale?: string;
  readonly timezone?: string;
  readonly proxy?: readonly string[];
  readonly proxyTier?: string;
  readonly maxProxyTier?: string;
  readonly country?: string;
  readonly identity?: string;
  readonly taskTimeout?: number;
  readonly identityBrowser?: string;
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
  'noScroll',
  'viewport',
  'mobile',
  'geolocation',
  'locale',
  'timezone',
  'proxy',
  'proxyTier',
  'maxProxyTier',
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
  'taskTimeout',
  'identityBrowser',
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
  'viewport.width': '--viewport',
  'viewport.height': '--viewport',
  viewport: '--viewport',
  mobile: '--mobile',
  'geolocation.latitude': '--geolocation',
  'geolocation.longitude': '--geolocation',
  geolocation: '--geolocation',
  locale: '--locale',
  timezone: '--timezone',
  'proxy.tier': '--proxy-tier',
  'proxy.country': '--country',
  'proxy.maxTier': '--max-proxy-tier',
  'proxy.url': '--proxy',
  'proxy.urls': '--proxy',
  proxy: '--proxy',
  identity: '--identity',
  taskTimeoutMs: '--task-timeout',
  identityBrowser: '--identity-browser',
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
  const scroll = given({ maxSteps: flags.scrollSteps, pauseMs: flags.scrollPause });
  const [url, ...more] = flags.proxy ?? [];
  const proxy = given({
    url: more.length === 0 ? url : undefined,
    urls: more.length === 0 ? undefined : flags.proxy,
    tier: flags.proxyTier,
    maxTier: flags.maxProxyTier,
    country: flags.country,
  });
  return given({
    engine: flags.engine,
    wait: Object.keys(wait).length === 0 ? undefined : wait,
    scroll: Object.keys(scroll).length === 0 ? flags.scroll : scroll,
    viewport: flags.viewport,
    mobile: flags.mobile,
    geolocation: flags.geolocation,
    locale: flags.locale,
    timezone: flags.timezone,
    proxy: Object.keys(proxy).length === 0 ? undefined : proxy,
    identity: flags.identity,
    taskTimeoutMs: flags.taskTimeout,
    identityBrowser: flags.identityBrowser,
    headers: flags.header,
    crossOriginHeaders: flags.crossOriginHeader,
    cookies: flags.cookie,
    session: flags.session,
    maxAttempts: flags.maxAttempts,
    maxBodyBytes: flags.maxBodyBytes,
    blockResources: flags.blockResources,
  });
}

/** A list of routes from a YAML or JSON file; the schema validates its entries. */
export const readRoutes = (cwd: string, file: string | undefined): unknown =>
  file === undefined ? undefined : readList(cwd, file, '--routes', 'routes').list;

/**
 * The same of actions. Files of an `upload` may be named by `path`, beside that file, and are read here.
 */
export function readActions(cwd: string, file: string | undefined): unknown {
  if (file === undefined) return undefined;
  const { path, list } = readList(cwd, file, '--actions', 'actions');
  return list.map((action: unknown) => withFiles(action, dirname(path)));
}

function readList(cwd: string, file: string, flag: string, what: string): { path: string; list: unknown[] } {
  const { path, value } = readYamlFile(cwd, file, flag);
  if (!Array.isArray(value)) throw wrongFile(flag, `${path} must hold a list of ${what}.`);
  return { path, list: value };
}

function withFiles(action: unknown, folder: string): unknown {
  if (!isObject(action) || !Array.isArray(action.files)) return action;
  return { ...action, files: action.files.map((file: unknown) => withBytes(file, folder)) };
}

function withBytes(file: unknown, folder: string): unknown {
  if (!isObject(file) || typeof file.path !== 'string') return file;
  const { path, ...given } = file;
  const found = resolve(folder, path);
  try {
    return { name: basename(found), ...given, base64: readFileSync(found).toString('base64') };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw wrongFile('--actions', `The file ${found} cannot be read: ${reason}.`);
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
