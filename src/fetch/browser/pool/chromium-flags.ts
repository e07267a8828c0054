/** `site`: each site that a page is made of has a process of its own. `none`: those of one page share one. */
export type BrowserIsolation = 'site' | 'none';

export interface FlagOptions {
  /** Where all traffic goes, as `http://127.0.0.1:port`. */
  readonly proxyUrl: string;
  readonly rendererLimit: number;
  readonly isolation: BrowserIsolation;
  readonly extra?: readonly string[] | undefined;
}

/** Chromium heeds only the last such list, so what Playwright turns off is here as well. */
const ISOLATION_FEATURES = ['IsolateOrigins', 'site-per-process'];
const FEATURES_OFF = [
  // The back/forward cache and prerendering: memory, and requests that no page made.
  'BackForwardCache',
  'Prerender2',
  // The address bar asks its search engine what it may offer, whenever a context is opened.
  'AimEnabled',
  'AimServerEligibilityEnabled',
  'AimServerEligibilityForPrimaryAccountEnabled',
  'AimServerRequestOnStartupEnabled',
  'AimServerRequestOnIdentityChangeEnabled',
  'AimStartupRequestDelayedUntilNetworkAvailableEnabled',
  // And it opens connections to that search engine in advance.
  'PreconnectToSearch',
  'PreconnectFromKeyedService',
  'SearchEnginePreconnect2',
  'SearchEnginePreconnectInterval',
  // A request for http means http.
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  // What interception and a browser without a screen stumble over.
  'BlockOriginHeaderModificationOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  // A picture format that few servers know, and that the Accept header would name.
  'JXLImageFormat',
  // What a person at the screen would want.
  'AutoDeElevate',
  'DialMediaRouteProvider',
  'GlobalMediaControls',
  'LensOverlay',
  'MediaRouter',
  'OptimizationHints',
  'Translate',
  // Pages of the address bar, in a process of their own beside every window.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  'msForceBrowserSignIn',
];

/**
 * How our Chromium is started, besides what Playwright adds. Three aims: nothing goes around the guard's proxy, nothing
 * goes out that no page asked for, and few processes serve many pages.
 */
export function chromiumFlags({ proxyUrl, rendererLimit, isolation, extra = [] }: FlagOptions): string[] {
  const featuresOff = isolation === 'none' ? [...ISOLATION_FEATURES, ...FEATURES_OFF] : FEATURES_OFF;
  return [
    // Traffic of no context has no credentials and gets nowhere; loopback is no exception.
    `--proxy-server=${proxyUrl}`,
    '--proxy-bypass-list=<-loopback>',
    // Names are the proxy's business: Chromium itself resolves nothing.
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
    // UDP would go around the proxy.
    '--disable-quic',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',

    '--disable-background-networking',
    '--disable-component-update',
    '--disable-domain-reliability',
    '--disable-sync',
    '--no-first-run',
    '--no-pings',

    // Contexts never share a renderer. Within one, which belongs to one key, the sites of a page share it unless
    // they are isolated.
    `--renderer-process-limit=${rendererLimit}`,
    isolation === 'none' ? '--disable-site-isolation-trials' : '--site-per-process',
    `--disable-features=${featuresOff.join(',')}`,
    ...extra,
  ];
}
