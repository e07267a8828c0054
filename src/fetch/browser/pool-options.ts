import type { BrowserType } from 'patchright-core';
import type { GuardProxy } from './guard-proxy.ts';
import type { RenderLimits } from './memory-budget.ts';
import type { RemoteAddress } from './remote-address.ts';

export interface BrowserPoolOptions extends RenderLimits {
  /** The program to start, or where a browser listens. */
  readonly source: string | RemoteAddress;
  readonly proxy: GuardProxy;
  /** Whether contexts go out by the proxy. One that cannot reach it has its requests checked instead. */
  readonly usesProxy?: boolean | undefined;
  /** Pages that a browser serves before it is replaced. */
  readonly pagesPerBrowser?: number | undefined;
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
  readonly extraFlags?: readonly string[] | undefined;
  /** What the browser sees of the environment; this process's own unless told. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Patchright's unless told; any with Playwright's interface will do. */
  readonly library?: BrowserType | undefined;
  readonly random?: (() => number) | undefined;
}

export function withDefaults(options: BrowserPoolOptions) {
  return {
    ...options,
    pagesPerBrowser: options.pagesPerBrowser ?? 500,
    maxContexts: options.maxContexts ?? 16,
    rendererLimit: options.rendererLimit ?? 1,
    idleMs: options.idleMs ?? 60_000,
    blankAfterMs: options.blankAfterMs ?? 50,
    launchTimeoutMs: options.launchTimeoutMs ?? 30_000,
    closeTimeoutMs: options.closeTimeoutMs ?? 5_000,
    measureEveryMs: options.measureEveryMs ?? 5_000,
    usesProxy: options.usesProxy ?? true,
    random: options.random ?? Math.random,
  };
}

export type PoolSettings = ReturnType<typeof withDefaults>;
