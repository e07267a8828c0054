/**
 * The identity that a session presents. All of it is consistent: headers, the values that scripts read, and where the proxy's
 * address is. Plain JSON, so that a session can keep it.
 */
export interface Identity {
  readonly kind: 'browser';
  /** Missing: Chrome. Only plain HTTP can look like another one; what renders pages is Chromium. */
  readonly family?: OtherBrowser | undefined;
  /** ISO 3166 in lower case. */
  readonly region: string;
  readonly userAgent: string;
  readonly clientHints: ClientHints;
  /** What scripts read as `navigator.platform`. */
  readonly platform: string;
  readonly screen: Screen;
  readonly viewport: Viewport;
  readonly timeZone: string;
  readonly geolocation: { readonly latitude: number; readonly longitude: number; readonly accuracy: number };
  /** `navigator.languages`; the first is the locale. */
  readonly languages: readonly string[];
  readonly acceptLanguage: string;
  readonly hardwareConcurrency: number;
  readonly deviceMemory: number;
  readonly maxTouchPoints: number;
  readonly videoCard: { readonly vendor: string; readonly renderer: string };
  /** Headers of a navigation without referrer, in the order in which the browser sends them. Names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** What `navigator.userAgentData` and the `sec-ch-ua` headers tell; the shape in which Chromium takes it over CDP. */
export interface ClientHints {
  readonly brands: readonly Brand[];
  readonly fullVersionList: readonly Brand[];
  readonly fullVersion: string;
  readonly platform: string;
  readonly platformVersion: string;
  readonly architecture: string;
  readonly bitness: string;
  readonly model: string;
  readonly mobile: boolean;
  readonly wow64: boolean;
}

export interface Brand {
  readonly brand: string;
  readonly version: string;
}

export interface Screen {
  readonly width: number;
  readonly height: number;
  readonly availWidth: number;
  readonly availHeight: number;
  readonly colorDepth: number;
  readonly devicePixelRatio: number;
}

export interface Viewport {
  readonly width: number;
  readonly height: number;
}

/** `bot` identifies as Scrapifie. `browser` looks like a regular browser, which needs the operator's consent. */
export type IdentityKind = 'bot' | 'browser';

export const OTHER_BROWSERS = ['firefox', 'safari'] as const;
/** Browsers beside Chrome whose headers and handshake plain HTTP can send. */
export type OtherBrowser = (typeof OTHER_BROWSERS)[number];
