import type { EngineName } from './attempt.ts';
import type { ProxyTier } from './proxy.ts';

/** A daily window in a time zone; `from` after `to` runs over midnight. */
export interface AllowedHours {
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
  /** 0 = Sunday. Empty: every day. */
  readonly days: readonly number[];
}

/**
 * Features that could harm a site owner or hide our identity. Off unless the operator names the domain for them: not
 * obeying robots.txt, stealth engines, CAPTCHA services, a browser's identity.
 */
export type Consent = 'robots' | 'stealth' | 'captcha' | 'identity';

/** How one host is treated: the default, overlaid by every entry that matches it, most specific last. */
export interface HostPolicy {
  /** The most requests per second; null means that the rate has no limit. */
  readonly ratePerSecond: number | null;
  /** Requests that may follow each other without a pause after an idle time. */
  readonly burst: number;
  readonly concurrency: number;
  readonly minDelayMs: number;
  readonly maxCrawlDelayMs: number;
  /** How long the rate is halved after 429 or 503; twice as long with each further halving. */
  readonly slowDownMs: number;
  readonly allowedHours: AllowedHours | null;
  /** `ignore` only together with the consent `robots`. */
  readonly robots: 'obey' | 'ignore';
  /** Engines that may be used; `stealth` only together with the consent of that name. */
  readonly engines: readonly EngineName[];
  /** Shortest and longest pause before each action of a disguised browser; null: as the settings say. */
  readonly actionPauseMs: { readonly min: number; readonly max: number } | null;
  readonly proxyTier: string | null;
  /** The dearest tier that may be used; null: any. */
  readonly maxProxyTier: ProxyTier | null;
  readonly deny: boolean;
  readonly notes: string | null;
  readonly consent: readonly Consent[];
  /** The entries that made this up, for the trace: `default`, `linkedin.com` … */
  readonly matched: readonly string[];
}
