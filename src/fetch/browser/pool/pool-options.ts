import { isIPv4 } from 'node:net';
import type { BrowserType } from 'patchright-core';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { GuardProxy } from '../../guard-proxy/guard-proxy.ts';
import type { BrowserIsolation } from './browser-launch.ts';
import type { WatchLimits } from './browser-watch.ts';
import type { RenderLimits } from './memory-watch.ts';
import type { PoolEvent } from './pool-health.ts';

export interface BrowserPoolOptions extends RenderLimits {
  /** The program to start, or where a browser listens. */
  readonly source: string | RemoteAddress;
  readonly proxy: GuardProxy;
  /** Whether contexts go out by the proxy. One that cannot reach it has its requests checked instead. */
  readonly usesProxy?: boolean | undefined;
  /** Pages that a browser serves before it is replaced. */
  readonly pagesPerBrowser?: number | undefined;
  /** Browsers that are launched at once, and kept while they have nothing to do; never more than `maxBrowsers`. */
  readonly minBrowsers?: number | undefined;
  /** Contexts kept per browser; those used longest ago go first. */
  readonly maxContexts?: number | undefined;
  /** Renderer processes per browser that Chromium aims at; each context has at least one while it is used. */
  readonly rendererLimit?: number | undefined;
  /** A browser without work is closed after this. */
  readonly idleMs?: number | undefined;
  /** A page without work is led to a blank page after this, so that its scripts come to rest. */
  readonly blankAfterMs?: number | undefined;
  readonly launchTimeoutMs?: number | undefined;
  /** For a page, a context or a browser to close before force is used. */
  readonly closeTimeoutMs?: number | undefined;
  /** How often a browser's memory is looked at. */
  readonly measureEveryMs?: number | undefined;
  /** How often the memory of a browser with pages is compared with the limits that must not be passed. */
  readonly memoryEveryMs?: number | undefined;
  /** For a page to open. */
  readonly openTimeoutMs?: number | undefined;
  readonly watch?: Partial<WatchLimits> | undefined;
  /** How often it is looked whether the program of a browser was replaced or removed. */
  readonly lookAtProgramEveryMs?: number | undefined;
  /** How long requests wait for a program that is not there: one that is replaced is gone for a moment. */
  readonly missingGraceMs?: number | undefined;
  /** Looks for a browser program anew, when the one that was used is gone. Null when there is none. */
  readonly relocate?: (() => Promise<string | null>) | undefined;
  /** A browser runs now, of this version and, if it was started here, from this path. */
  readonly onLaunched?: ((version: string, path: string | null) => void) | undefined;
  /** The pool's `health` may have changed. */
  readonly onHealth?: (() => void) | undefined;
  /** Events worth a line in the log. */
  readonly onEvent?: ((event: PoolEvent) => void) | undefined;
  /** How processes are shared among sites; `none` by default. */
  readonly isolation?: BrowserIsolation | undefined;
  /** Chromium runs its sandbox; where it cannot, it does not start. On unless this process is root's. */
  readonly isSandboxed?: boolean | undefined;
  readonly extraFlags?: readonly string[] | undefined;
  /** What the browser sees of the environment; this process's own by default. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Patchright's by default; any with Playwright's interface will do. */
  readonly library?: BrowserType | undefined;
  readonly random?: (() => number) | undefined;
}

const WATCH: WatchLimits = { probeAfterMs: 5_000, probeEveryMs: 15_000, probeTimeoutMs: 10_000 };

export function withDefaults(options: BrowserPoolOptions) {
  return {
    ...options,
    pagesPerBrowser: options.pagesPerBrowser ?? 500,
    minBrowsers: Math.min(options.minBrowsers ?? 0, options.maxBrowsers),
    maxContexts: options.maxContexts ?? 16,
    rendererLimit: options.rendererLimit ?? 1,
    idleMs: options.idleMs ?? 60_000,
    blankAfterMs: options.blankAfterMs ?? 50,
    launchTimeoutMs: options.launchTimeoutMs ?? 30_000,
    closeTimeoutMs: options.closeTimeoutMs ?? 5_000,
    measureEveryMs: options.measureEveryMs ?? 5_000,
    // Elsewhere a program has to be started to find out.
    memoryEveryMs: options.memoryEveryMs ?? (process.platform === 'linux' ? 250 : 1_000),
    openTimeoutMs: options.openTimeoutMs ?? 20_000,
    watch: { ...WATCH, ...options.watch },
    lookAtProgramEveryMs: options.lookAtProgramEveryMs ?? 5_000,
    missingGraceMs: options.missingGraceMs ?? 15_000,
    isolation: options.isolation ?? ('none' as const),
    // Chromium refuses to run its sandbox as root.
    isSandboxed: options.isSandboxed ?? process.getuid?.() !== 0,
    usesProxy: options.usesProxy ?? true,
    random: options.random ?? Math.random,
  };
}

export type PoolSettings = ReturnType<typeof withDefaults>;

/** The address of a browser that this process did not start. */
export interface RemoteAddress {
  readonly url: string;
  /** `cdp`: Chromium's own port. `playwright`: a server that decides by itself which browser there is. */
  readonly kind: 'cdp' | 'playwright';
  /** On this machine, so that what listens on our loopback can be reached from there. */
  readonly isNear: boolean;
  /** All of it that may be told: what follows the host is often a secret. */
  readonly shown: string;
}

/** Throws INVALID_SETTINGS for any other text. */
export function remoteAddressOf(text: string): RemoteAddress {
  const url = URL.parse(text);
  if (url === null || !/^(?:wss?|https?):$/.test(url.protocol) || url.hostname === '') {
    throw new ScrapifieError(
      'INVALID_SETTINGS',
      'The address of a remote browser must begin with ws://, wss://, http:// or https://',
    );
  }
  const isSocket = url.protocol === 'ws:' || url.protocol === 'wss:';
  return {
    url: text,
    kind: isSocket && !url.pathname.startsWith('/devtools/') ? 'playwright' : 'cdp',
    isNear: isThisMachine(url.hostname),
    shown: `${url.protocol}//${url.host}`,
  };
}

function isThisMachine(hostname: string): boolean {
  if (hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]') return true;
  return isIPv4(hostname) && hostname.startsWith('127.');
}

/** What a library says of a failure, without anything of an address beyond its host. */
export function withoutAddresses(text: string): string {
  return text.replace(/\b((?:ws|http)s?:\/\/)(?:[^\s/@]*@)?([^\s/?#]+)[^\s]*/g, '$1$2');
}
