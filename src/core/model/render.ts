import type { PlainRenderOptions } from './plain-options.ts';

/** What can be wanted of a page that a browser shows, and what comes of it. Plain data: it is stored and sent. */

/** Steps on a page beyond loading it. Omitted steps cost nothing. */
export interface RenderWish extends PlainRenderOptions {
  readonly wait?: RenderWait | undefined;
  /** After the wait: down the page until it grows no more. */
  readonly scroll?: RenderScroll | undefined;
  /** After waiting and scrolling, in order. The first that fails ends them. */
  readonly actions?: readonly RenderAction[] | undefined;
  readonly screenshot?: ScreenshotOptions | undefined;
  readonly pdf?: boolean | undefined;
  readonly captureXhr?: boolean | undefined;
  /** The screen and the place that the page finds. Only of a browser that identifies as ours. */
  readonly device?: RenderDevice | undefined;
  /** How a disguised browser acts. Set by the program alone, from settings and policy. */
  readonly manner?: HumanManner | undefined;
}

/** How far actions look like those of a person. */
export interface HumanManner {
  /** Before each action; a random time between the two. */
  readonly minPauseMs: number;
  readonly maxPauseMs: number;
  /** Keys are pressed one by one, with pauses between them. */
  readonly typing: boolean;
  /** A wheel is turned bit by bit; otherwise a page jumps by screens. */
  readonly scrolling: boolean;
}

export interface RenderDevice {
  /** Size of the window in CSS pixels. */
  readonly viewport?: { readonly width: number; readonly height: number } | undefined;
  /** A phone: touch, a narrow window unless `viewport` says otherwise, and `Mobile` in the user agent. */
  readonly isMobile?: boolean | undefined;
  /** In degrees; the accuracy in metres. */
  readonly geolocation?:
    | { readonly latitude: number; readonly longitude: number; readonly accuracy?: number | undefined }
    | undefined;
  /** A language tag such as `de-DE`. */
  readonly locale?: string | undefined;
  /** An IANA name such as `Europe/Berlin`. */
  readonly timezone?: string | undefined;
}

/** What came of it, besides the document. */
export interface RenderExtra {
  readonly screenshot: Picture | null;
  readonly pdf: Uint8Array | null;
  readonly xhr: readonly CapturedXhr[];
  /** Uncaught exceptions, and what the browser and the page report as errors. */
  readonly consoleErrors: readonly string[];
  /** One entry per action that ran to its end. */
  readonly actions: readonly ActionResult[];
  /** The page at the moment when a step failed; missing when none did, or when there was no time for it. */
  readonly failurePicture?: Picture | undefined;
  readonly storage: BrowserStorage | null;
  /** The captcha on the page and its outcome; undefined when the page was not searched for one. */
  readonly captcha?: CaptchaResult | null | undefined;
}

/** A CAPTCHA that a solver service was asked about. */
export interface CaptchaResult {
  readonly outcome: 'none' | 'solved' | 'unsolved';
  readonly kind: string | null;
  readonly solver: string | null;
  readonly ms: number;
  readonly costUsd: number | null;
  readonly note: string;
}

export interface RenderWait {
  readonly selector?: string | undefined;
  readonly ms?: number | undefined;
  readonly until?: 'load' | 'domcontentloaded' | 'networkidle' | undefined;
}

export interface RenderScroll {
  /** Screens to go at most. */
  readonly maxSteps?: number | undefined;
  readonly pauseMs?: number | undefined;
}

interface Timed {
  /** For this step alone; 10 s by default. */
  readonly timeoutMs?: number | undefined;
}

/** A file that a page is given. */
export interface UploadedFile {
  readonly name: string;
  readonly contentType?: string | undefined;
  readonly base64: string;
}

export const ACTION_TYPES = [
  'click',
  'hover',
  'back',
  'upload',
  'type',
  'press',
  'select',
  'wait',
  'scroll',
  'evaluate',
  'screenshot',
] as const satisfies readonly RenderAction['type'][];

export type RenderAction =
  | ({ readonly type: 'click' | 'hover'; readonly selector: string } & Timed)
  | ({ readonly type: 'back' } & Timed)
  | ({ readonly type: 'upload'; readonly selector: string; readonly files: readonly UploadedFile[] } & Timed)
  | ({
      readonly type: 'type';
      readonly selector: string;
      readonly text: string;
      /** The text holds stored credentials. Set by the program alone, never by a request. */
      readonly fill?: FillGuard | undefined;
    } & Timed)
  | ({ readonly type: 'press'; readonly key: string; readonly selector?: string | undefined } & Timed)
  | ({ readonly type: 'select'; readonly selector: string; readonly value: string } & Timed)
  | ({
      readonly type: 'wait';
      readonly selector?: string | undefined;
      readonly ms?: number | undefined;
      readonly until?: RenderWait['until'];
    } & Timed)
  | ({
      readonly type: 'scroll';
      readonly selector?: string | undefined;
      readonly pixels?: number | undefined;
    } & Timed)
  | ({ readonly type: 'evaluate'; readonly script: string } & Timed)
  | ({ readonly type: 'screenshot' } & ScreenshotOptions & Timed);

/** Text with stored credentials is put only into a field whose frame is on one of the hosts. */
export interface FillGuard extends CredentialHosts {
  /** A password is among it: it is put only into a field for passwords, which stays masked in pictures. */
  readonly isPassword: boolean;
}

export interface ScreenshotOptions {
  readonly fullPage?: boolean | undefined;
  /** CSS selector of an element: the picture shows this element alone. */
  readonly selector?: string | undefined;
  readonly format?: 'png' | 'jpeg' | undefined;
  /** 0 to 100, for jpeg. */
  readonly quality?: number | undefined;
}

export interface Picture {
  readonly bytes: Uint8Array;
  readonly contentType: 'image/png' | 'image/jpeg';
}

export interface CapturedXhr {
  readonly url: string;
  readonly method: string;
  readonly statusCode: number;
  readonly contentType: string | null;
  /** Null when there was none, or too much. */
  readonly body: Uint8Array | null;
  readonly isTooLarge: boolean;
}

export interface ActionResult {
  readonly type: RenderAction['type'];
  readonly ms: number;
  /** For an action of type `evaluate`, what the script returned, as JSON has it. */
  readonly value?: unknown;
  readonly picture?: Picture;
}

export interface BrowserStorage {
  readonly cookies: readonly BrowserCookie[];
  /** Origin → name → value. */
  readonly localStorage: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface BrowserCookie {
  readonly name: string;
  readonly value: string;
  /** Begins with a dot when subdomains get the cookie too. */
  readonly domain: string;
  readonly path: string;
  /** Seconds since 1970; -1 for the session. */
  readonly expires: number;
  readonly httpOnly: boolean;
  readonly secure: boolean;
  readonly sameSite: 'Strict' | 'Lax' | 'None';
}

/** The hosts on which a stored credential may be used. Plain data: it travels with the login action. */
export interface CredentialHosts {
  /** `example.com`, `example.com:8443`, or `*.example.com` for all hosts below that one. */
  readonly hosts: readonly string[];
  /** Over unencrypted http too. Missing in credentials of earlier versions: no. */
  readonly allowHttp?: boolean | undefined;
}

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Whether the credential may be sent to the URL. A port that is not the scheme's own must be named. What is sent by http
 * can be read on the way, so that needs `allowHttp`, but for this machine's own loopback addresses.
 */
export function isFor({ hosts, allowHttp }: CredentialHosts, url: string): boolean {
  const parsed = URL.parse(url);
  if (parsed === null) return false;
  const isHttp = parsed.protocol === 'http:' && (allowHttp === true || LOOPBACK.test(parsed.hostname));
  if (parsed.protocol !== 'https:' && !isHttp) return false;
  const host = parsed.host.replace(/\.(?=:|$)/, '');
  return hosts.some((entry) => (entry.startsWith('*.') ? host.endsWith(entry.slice(1)) : host === entry));
}

/** Why `isFor` says no, for a message: without anything of the URL but scheme and host. */
export function notFor({ hosts }: CredentialHosts, url: string): string {
  const { protocol = '', host = '' } = URL.parse(url) ?? {};
  const isHttp = protocol === 'http:' && isFor({ hosts }, url.replace(/^http:/, 'https:'));
  if (isHttp) return `they may be sent by https only, unless they are stored with allowHttp`;
  return `the credentials are for ${hosts.join(', ')} and not for ${host === '' ? 'this page' : host}`;
}
