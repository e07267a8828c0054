import type { Page } from 'patchright-core';
import type { Vendor, Widget } from './find-widget.ts';

/** How the page was given the token; `nothing` when there is nobody on it to take one. */
export type HandedTo = 'callback' | 'form' | 'nothing';

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
export function handIn(page: Page, { vendor, siteKey, callback }: Widget, token: string): Promise<HandedTo> {
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
function deliver({ token, siteKey, callback, fields, mark }: Order): HandedTo {
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
  type: string;
  name: string;
  value: string;
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
  readonly Event: new (type: string, options: { readonly bubbles: boolean }) => object;
  readonly setTimeout: (work: () => void, ms: number) => number;
  readonly ___grecaptcha_cfg?: { readonly clients?: unknown };
}
