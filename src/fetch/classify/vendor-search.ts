import type { ResponseHeaders } from '../engine.ts';
import { CHALLENGE_FRAMES, CHALLENGE_URLS, VENDOR_SIGNS, type VendorSign } from './vendor-signs.ts';

export interface VendorFinding {
  readonly outcome: VendorSign['outcome'];
  readonly vendor: string;
  readonly evidence: string;
}

/** Markup beyond this is no block page; nothing is searched in it. */
export const SEARCHED_MARKUP = 131_072;

type HeaderSign = VendorSign & { readonly header: NonNullable<VendorSign['header']> };
type MarkupSign = VendorSign & { readonly markup: NonNullable<VendorSign['markup']> };

// Most pages are answered with 200 and have none of this: what could matter to them is sorted out beforehand.
const HEADER_SIGNS = VENDOR_SIGNS.filter((sign): sign is HeaderSign => sign.header !== undefined);
const EASY_HEADER_SIGNS = HEADER_SIGNS.filter(({ status }) => status === 'any');
const MARKUP_SIGNS = VENDOR_SIGNS.filter((sign): sign is MarkupSign => sign.markup !== undefined);
const EASY_MARKUP_SIGNS = MARKUP_SIGNS.filter(({ status }) => status === 'any');
const ANY_MARKUP = anyOf(MARKUP_SIGNS);
const ANY_EASY_MARKUP = anyOf(EASY_MARKUP_SIGNS);

export function searchHeaders(statusCode: number, headers: ResponseHeaders): VendorFinding | null {
  const signs = statusCode < 400 ? EASY_HEADER_SIGNS : HEADER_SIGNS;
  for (const { header, status, outcome, vendor } of signs) {
    const [name, pattern] = header;
    const value = headers[name];
    if (value === undefined || !fits(status, statusCode) || !pattern.test(value.toString())) continue;
    return { outcome, vendor, evidence: `${vendor}: header ${name}` };
  }
  return null;
}

export function searchMarkup(statusCode: number, html: string): VendorFinding | null {
  if (html === '' || html.length > SEARCHED_MARKUP) return null;
  const [signs, firstParts] =
    statusCode < 400 ? [EASY_MARKUP_SIGNS, ANY_EASY_MARKUP] : [MARKUP_SIGNS, ANY_MARKUP];
  if (!firstParts.test(html)) return null;
  for (const { markup, status, outcome, vendor } of signs) {
    if (!fits(status, statusCode) || !markup.every((part) => html.includes(part))) continue;
    if (statusCode < 400 && !standsInCode(html, markup[0] ?? '')) continue;
    return { outcome, vendor, evidence: `${vendor}: markup ${markup[0]}` };
  }
  return null;
}

/** Whether a request for another page ended at an address where visitors are challenged. */
export function searchUrl(url: string, finalUrl: string): VendorFinding | null {
  if (url === finalUrl) return null;
  const address = withoutScheme(finalUrl);
  const asked = withoutScheme(url);
  for (const [vendor, outcome, pattern] of CHALLENGE_URLS) {
    if (!pattern.test(address) || pattern.test(asked)) continue;
    return { outcome, vendor, evidence: `${vendor}: redirect to ${address.slice(0, 80)}` };
  }
  return null;
}

export function searchFrame(frameUrl: string): VendorFinding | null {
  const address = withoutScheme(frameUrl);
  for (const [vendor, pattern] of CHALLENGE_FRAMES) {
    if (!pattern.test(address)) continue;
    const host = address.slice(0, address.indexOf('/'));
    return { outcome: 'captcha', vendor, evidence: `${vendor}: frame ${host}` };
  }
  return null;
}

const MOST_LOOKS = 20;

/** Whether a part stands in a script or a tag at least once, and is not only something that the page says. */
function standsInCode(html: string, part: string): boolean {
  let at = html.indexOf(part);
  for (let looks = 0; at !== -1 && looks < MOST_LOOKS; looks += 1) {
    if (part.startsWith('<') || html.lastIndexOf('<', at) > html.lastIndexOf('>', at)) return true;
    if (html.lastIndexOf('<script', at) > html.lastIndexOf('</script', at)) return true;
    at = html.indexOf(part, at + part.length);
  }
  return false;
}

const withoutScheme = (url: string): string => url.replace(/^https?:\/\//i, '');

function fits(status: VendorSign['status'], statusCode: number): boolean {
  if (status === 'any') return true;
  return status === 'error' ? statusCode >= 400 : status.includes(statusCode);
}

/** One look that is enough for most pages: finds whether the first part of any sign is there. */
function anyOf(signs: readonly MarkupSign[]): RegExp {
  const firsts = new Set(signs.map(({ markup }) => (markup[0] ?? '').replace(/[^\w\s]/g, '\\$&')));
  return new RegExp([...firsts].join('|'));
}
