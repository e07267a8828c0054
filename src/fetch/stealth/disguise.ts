import type { BrowserContextOptions } from 'patchright-core';
import type { Identity } from '../../model/identity.ts';
import { disguiseSource } from './disguise-script.ts';
import type { Briefing, TargetCommand } from './target-commands.ts';

/** What Playwright sets for every page of a context. */
export function contextOptionsOf(identity: Identity): BrowserContextOptions {
  const { screen, viewport } = identity;
  return {
    viewport,
    screen: { width: screen.width, height: screen.height },
    deviceScaleFactor: screen.devicePixelRatio,
    ...regionalOptionsOf(identity),
    userAgent: identity.userAgent,
    serviceWorkers: 'allow',
  };
}

/** What concerns the place alone, for a browser that has its own idea of who it is. */
export function regionalOptionsOf(identity: Identity): BrowserContextOptions {
  const { languages, timeZone, geolocation } = identity;
  return {
    timezoneId: timeZone,
    geolocation,
    permissions: ['geolocation'],
    ...(languages[0] === undefined ? {} : { locale: languages[0] }),
  };
}

/** What each target has to be told besides: the browser's own overrides, and a script where it has none. */
export function briefingOf(identity: Identity, secret: string): Briefing {
  const { userAgent, languages, platform, clientHints, hardwareConcurrency } = identity;
  const userAgentMetadata = { ...clientHints, formFactors: ['Desktop'] };
  const everywhere: readonly TargetCommand[] = [
    {
      method: 'Emulation.setUserAgentOverride',
      params: { userAgent, acceptLanguage: languages.join(','), platform, userAgentMetadata },
    },
    { method: 'Emulation.setHardwareConcurrencyOverride', params: { hardwareConcurrency } },
  ];
  const source = scriptOf(identity, secret);
  const inDocuments: readonly TargetCommand[] = [
    ...everywhere,
    { method: 'Page.addScriptToEvaluateOnNewDocument', params: { source, runImmediately: true } },
  ];
  const headers = { 'User-Agent': userAgent, 'Accept-Language': identity.acceptLanguage };
  const inWorkers: readonly TargetCommand[] = [
    ...everywhere,
    { method: 'Network.setExtraHTTPHeaders', params: { headers } },
    { method: 'Runtime.evaluate', params: { expression: source } },
  ];
  return {
    commandsFor: (kind) => (kind === 'page' || kind === 'iframe' ? inDocuments : inWorkers),
    headers,
  };
}

function scriptOf({ screen, viewport, ...identity }: Identity, secret: string): string {
  const { platform, userAgent, deviceMemory, videoCard } = identity;
  const { availWidth, availHeight } = screen;
  // Where the desktop has its bar: at the bottom on Windows, at the top elsewhere.
  const top = platform === 'Win32' ? 0 : screen.height - availHeight;
  return disguiseSource({
    secret,
    platform,
    userAgent,
    deviceMemory,
    videoCard,
    screen: { availWidth, availHeight, availLeft: 0, availTop: top },
    // The window reaches from bar to bar: that is how the viewport was chosen.
    window: {
      outerWidth: viewport.width,
      outerHeight: availHeight,
      screenX: 0,
      screenLeft: 0,
      screenY: top,
      screenTop: top,
    },
  });
}
