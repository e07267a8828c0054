import type { BlockedKind } from '../../../core/model/plain-options.ts';

const endings = (names: readonly string[]): string[] => names.flatMap((name) => [`*.${name}`, `*.${name}?*`]);
const hosts = (names: readonly string[]): string[] =>
  names.flatMap((name) => [`*://${name}/*`, `*://*.${name}/*`]);

/** Known by their usual names, since Chromium is told before it knows what an address holds. */
const PATTERNS: Readonly<Record<BlockedKind, readonly string[]>> = {
  images: endings(['png', 'jpg', 'jpeg', 'gif', 'webp', 'avif', 'bmp', 'ico', 'svg', 'apng']),
  fonts: [...endings(['woff', 'woff2', 'ttf', 'otf', 'eot']), ...hosts(['fonts.gstatic.com'])],
  media: endings([
    'mp4',
    'webm',
    'ogv',
    'mov',
    'm3u8',
    'mpd',
    'm4s',
    'mp3',
    'm4a',
    'ogg',
    'oga',
    'wav',
    'flac',
  ]),
  trackers: hosts([
    'google-analytics.com',
    'googletagmanager.com',
    'googlesyndication.com',
    'doubleclick.net',
    'adservice.google.com',
    'connect.facebook.net',
    'bat.bing.com',
    'clarity.ms',
    'hotjar.com',
    'mixpanel.com',
    'amplitude.com',
    'segment.io',
    'fullstory.com',
    'mc.yandex.ru',
    'criteo.com',
    'criteo.net',
    'scorecardresearch.com',
    'quantserve.com',
    'taboola.com',
    'outbrain.com',
    'nr-data.net',
    'snap.licdn.com',
    'analytics.tiktok.com',
  ]),
};

/** Whether one of these patterns means the URL; for browsers that cannot be told. */
export function isBlocked(url: string, kinds: readonly BlockedKind[]): boolean {
  return blockedPatterns(kinds).some((pattern) => expressionOf(pattern).test(url));
}

/** Bounded by the patterns above. */
const expressions = new Map<string, RegExp>();

function expressionOf(pattern: string): RegExp {
  const known = expressions.get(pattern);
  if (known !== undefined) return known;
  const parts = pattern.split('*').map((part) => part.replace(/[.?/]/g, '\\$&'));
  const made = new RegExp(`^${parts.join('.*')}$`, 'i');
  expressions.set(pattern, made);
  return made;
}

/** What to hand to Chromium so that it does not even ask for these. */
export function blockedPatterns(kinds: readonly BlockedKind[]): string[] {
  return [...new Set(kinds)].sort().flatMap((kind) => PATTERNS[kind]);
}
