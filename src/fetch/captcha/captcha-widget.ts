import type { Page } from 'patchright-core';
import type { Captcha } from '../../core/ports/captcha.ts';

export type Vendor = 'recaptcha' | 'hcaptcha' | 'turnstile';

/** A widget as it stands on a page. */
export interface Widget {
  readonly vendor: Vendor;
  readonly siteKey: string;
  readonly isInvisible: boolean;
  readonly isEnterprise: boolean;
  /** reCAPTCHA v3: it judges visitors and shows nothing. */
  readonly isScore: boolean;
  readonly action: string | null;
  /** `data-s`, `data-rqdata` or `data-cdata`. */
  readonly data: string | null;
  /** The name of the function that the page wants called with the token. */
  readonly callback: string | null;
}

/** What most sites are content with, and most workers of services have. */
const MIN_SCORE = 0.3;

/** The widget that stands on the page, or null. It is looked for in the document, in a world apart from the page's. */
export function findWidget(page: Page): Promise<Widget | null> {
  return page.evaluate(lookAround);
}

export function captchaOf(widget: Widget, pageUrl: string): Captcha {
  const { vendor, siteKey, isInvisible, isEnterprise, isScore, action, data } = widget;
  const place = { siteKey, pageUrl };
  if (vendor === 'turnstile') return { kind: 'turnstile', ...place, action, cData: data };
  if (vendor === 'hcaptcha') return { kind: 'hcaptcha', ...place, isInvisible, rqData: data };
  if (isScore) return { kind: 'recaptcha-v3', ...place, isEnterprise, action, minScore: MIN_SCORE };
  return { kind: 'recaptcha-v2', ...place, isInvisible, isEnterprise, dataS: data };
}

/** Runs in the page. */
function lookAround(): Widget | null {
  const { document, URL } = globalThis as unknown as PageGlobals;
  const sources = (tag: string) =>
    Array.from(document.querySelectorAll(`${tag}[src]`))
      .map(({ src = '' }) => URL.parse(src))
      .filter((url) => url !== null);
  const attribute = (element: PageElement, name: string) => element.getAttribute(`data-${name}`) || null;
  const frames = sources('iframe');
  const scripts = sources('script');
  const plain = { isInvisible: false, isEnterprise: false, isScore: false, action: null, data: null };

  const marked = (selector: string, vendor: Vendor, data: string): Widget | null => {
    const element = document.querySelector(`${selector}[data-sitekey]`);
    const siteKey = element === null ? null : attribute(element, 'sitekey');
    if (element === null || siteKey === null) return null;
    return {
      ...plain,
      vendor,
      siteKey,
      isInvisible: attribute(element, 'size') === 'invisible',
      action: attribute(element, 'action'),
      data: attribute(element, data),
      callback: attribute(element, 'callback'),
    };
  };

  const turnstile = marked('.cf-turnstile', 'turnstile', 'cdata');
  if (turnstile !== null) return turnstile;

  const hcaptcha = marked('.h-captcha', 'hcaptcha', 'rqdata');
  if (hcaptcha !== null) return hcaptcha;
  for (const { hostname, hash } of frames) {
    if (!/(?:^|\.)hcaptcha\.com$/.test(hostname)) continue;
    const said = new URLSearchParams(hash.slice(1));
    const siteKey = said.get('sitekey');
    if (siteKey === null || siteKey === '') continue;
    const isInvisible = said.get('size') === 'invisible';
    return { ...plain, vendor: 'hcaptcha', siteKey, isInvisible, callback: null };
  }

  const isEnterprise = [...scripts, ...frames].some(({ pathname }) =>
    /^\/recaptcha\/enterprise(?:\.js|\/)/.test(pathname),
  );
  const recaptcha = marked('.g-recaptcha', 'recaptcha', 's');
  if (recaptcha !== null) return { ...recaptcha, isEnterprise };
  const loader = scripts.find(({ pathname }) => /^\/recaptcha\/(?:api|enterprise)\.js$/.test(pathname));
  const scoreKey = loader?.searchParams.get('render') ?? null;
  for (const { pathname, searchParams } of frames) {
    if (!/^\/recaptcha\/(?:api2|enterprise)\/anchor$/.test(pathname)) continue;
    const siteKey = searchParams.get('k') ?? '';
    if (siteKey === '' || siteKey === scoreKey) continue;
    const isInvisible = searchParams.get('size') === 'invisible';
    const data = searchParams.get('s');
    return { ...plain, vendor: 'recaptcha', siteKey, isInvisible, isEnterprise, data, callback: null };
  }
  if (scoreKey === null || scoreKey === '' || scoreKey === 'explicit' || scoreKey === 'onload') return null;
  const action = document.querySelector('[data-action]');
  return {
    ...plain,
    vendor: 'recaptcha',
    siteKey: scoreKey,
    isEnterprise,
    isScore: true,
    action: action === null ? null : attribute(action, 'action'),
    callback: null,
  };
}

/** The part of the page that took the token; `nothing` when it has none. */
export type TokenReceiver = 'callback' | 'form' | 'nothing';

/** Where the widgets leave their token for the form they stand in. */
const FIELDS: Readonly<Record<Vendor, readonly string[]>> = {
  recaptcha: ['g-recaptcha-response'],
  // Both offer to stand in for reCAPTCHA, and then use its field, too.
  hcaptcha: ['h-captcha-response', 'g-recaptcha-response'],
  turnstile: ['cf-turnstile-response', 'g-recaptcha-response'],
};
const MARKS: Readonly<Record<Vendor, string>> = {
  recaptcha: '.g-recaptcha',
  hcaptcha: '.h-captcha',
  turnstile: '.cf-turnstile',
};

/** Gives the page the token as its widget would. In the page's own world, where its functions are. */
export function submitToken(
  page: Page,
  { vendor, siteKey, callback }: Widget,
  token: string,
): Promise<TokenReceiver> {
  const order = { token, siteKey, callback, fields: FIELDS[vendor], mark: MARKS[vendor] };
  return page.evaluate(deliver, order, undefined, false);
}

interface Order {
  readonly token: string;
  readonly siteKey: string;
  readonly callback: string | null;
  readonly fields: readonly string[];
  readonly mark: string;
}

/** Runs in the page. What leads away from it happens after this has returned. */
function deliver({ token, siteKey, callback, fields, mark }: Order): TokenReceiver {
  const globals = globalThis as unknown as PageGlobals;
  const { document } = globals;
  const later = (work: () => void) => void globals.setTimeout(work, 0);

  const widget = document.querySelector(mark);
  const [main = ''] = fields;
  const present = fields.flatMap((name) => Array.from(document.querySelectorAll(`[name="${name}"]`)));
  const form = widget?.closest('form') ?? present[0]?.closest('form') ?? null;
  if (present.length === 0 && form !== null) {
    const field = document.createElement('input');
    field.type = 'hidden';
    field.name = main;
    form.append(field);
    present.push(field);
  }
  for (const field of present) {
    field.value = token;
    for (const type of ['input', 'change']) field.dispatchEvent(new globals.Event(type, { bubbles: true }));
  }

  const asFunction = (value: unknown): ((token: string) => void) | null => {
    if (typeof value === 'function') return value as (token: string) => void;
    if (typeof value !== 'string' || value === '') return null;
    let found: unknown = globals;
    for (const part of value.split('.')) {
      found = typeof found === 'object' && found !== null ? (found as Record<string, unknown>)[part] : null;
    }
    return typeof found === 'function' ? (found as (token: string) => void) : null;
  };
  /** reCAPTCHA keeps what it was rendered with among its clients, under names that change. */
  const rendered = (): ((token: string) => void) | null => {
    const waiting: unknown[] = [globals.___grecaptcha_cfg?.clients];
    for (let looked = 0; waiting.length > 0 && looked < 2_000; looked += 1) {
      const node = waiting.shift();
      if (typeof node !== 'object' || node === null || 'nodeType' in node) continue;
      const { callback: wanted, sitekey } = node as { callback?: unknown; sitekey?: unknown };
      const found = asFunction(wanted);
      if (found !== null && (sitekey === undefined || sitekey === siteKey)) return found;
      waiting.push(...Object.values(node));
    }
    return null;
  };

  const call = asFunction(callback) ?? rendered();
  if (call !== null) {
    later(() => call(token));
    return 'callback';
  }
  if (form === null) return 'nothing';
  later(() => form.requestSubmit());
  return 'form';
}

interface PageElement {
  readonly src?: string;
  type: string;
  name: string;
  value: string;
  getAttribute(name: string): string | null;
  closest(selector: 'form'): PageForm | null;
  dispatchEvent(event: object): boolean;
}

interface PageForm {
  append(child: PageElement): void;
  requestSubmit(): void;
}

interface PageGlobals {
  readonly document: {
    querySelector(selector: string): PageElement | null;
    querySelectorAll(selector: string): ArrayLike<PageElement>;
    createElement(name: 'input'): PageElement;
  };
  readonly URL: typeof URL;
  readonly Event: new (type: string, options: { readonly bubbles: boolean }) => object;
  readonly setTimeout: (work: () => void, ms: number) => number;
  readonly ___grecaptcha_cfg?: { readonly clients?: unknown };
}
