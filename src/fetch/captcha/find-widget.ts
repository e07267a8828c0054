import type { Page } from 'patchright-core';
import type { Puzzle } from '../../ports/captcha.ts';

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

export function puzzleOf(widget: Widget, pageUrl: string): Puzzle {
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

interface PageElement {
  readonly src?: string;
  getAttribute(name: string): string | null;
}

interface PageGlobals {
  readonly document: {
    querySelector(selector: string): PageElement | null;
    querySelectorAll(selector: string): ArrayLike<PageElement>;
  };
  readonly URL: typeof URL;
}
