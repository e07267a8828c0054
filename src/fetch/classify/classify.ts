import type { OutcomeKind } from '../../model/attempt.ts';
import type { ResponseHeaders } from '../engine.ts';
import { type PageFacts, roughFacts } from './page-facts.ts';
import { saysNotFound, wasLedToLogin } from './page-phrases.ts';
import { VENDOR_SIGNS, type VendorSign } from './vendor-signs.ts';

export interface Observation {
  readonly url: string;
  readonly finalUrl: string;
  readonly statusCode: number;
  readonly headers: ResponseHeaders;
  readonly contentType: string | null;
  /** After decompression. */
  readonly bytes: number;
  /** The markup or its beginning; empty for what is not text. */
  readonly html: string;
  /** What extraction found; null when it has not run, then it is estimated where it matters. */
  readonly facts: PageFacts | null;
}

export interface Classification {
  readonly outcome: OutcomeKind;
  /** What decided; null when it is plainly ok. */
  readonly evidence: string | null;
}

const OK: Classification = { outcome: 'ok', evidence: null };

/** A page with this much text or this many links has content of its own: it is no challenge and no error page. */
const THIN_TEXT = 1_500;
const THIN_LINKS = 25;
/** Markup beyond this is no block page; nothing is searched in it. */
const SEARCHED_MARKUP = 131_072;

/**
 * Says what a response turned out to be. It decides from what only such pages have, so that a page about CAPTCHAs is
 * not taken for one. A redirect that was not followed and 304 are ok: there is nothing to judge.
 */
export function classify(seen: Observation): Classification {
  const { statusCode } = seen;
  if (statusCode >= 400) return classifyError(seen);
  if (statusCode >= 300) return OK;

  const sign = headerSign(seen);
  if (sign !== null) return sign;
  if (seen.bytes === 0) {
    return statusCode === 204 || statusCode === 205 ? OK : { outcome: 'empty', evidence: 'body: no bytes' };
  }
  if (!isHtml(seen)) return OK;

  const facts = seen.facts ?? roughFacts(seen.html.slice(0, SEARCHED_MARKUP));
  if (wasLedToLogin(seen.url, seen.finalUrl, seen.html)) {
    return { outcome: 'login-wall', evidence: 'redirect: to a login form' };
  }
  if (facts.textLength >= THIN_TEXT || facts.linkCount >= THIN_LINKS) return OK;
  return markupSign(seen) ?? softError(facts) ?? emptiness(seen.html, facts) ?? OK;
}

function classifyError(seen: Observation): Classification {
  const { statusCode, headers } = seen;
  const isThin = !isHtml(seen) || isThinPage(seen.facts ?? roughFacts(seen.html.slice(0, SEARCHED_MARKUP)));
  const sign = headerSign(seen) ?? (isThin ? markupSign(seen) : null);
  if (sign !== null) return sign;
  if (statusCode === 429) return { outcome: 'rate-limited', evidence: 'status: 429' };
  if (statusCode === 503 && headers['retry-after'] !== undefined) {
    return { outcome: 'rate-limited', evidence: 'status: 503 with Retry-After' };
  }
  if (statusCode === 401) return { outcome: 'login-wall', evidence: 'status: 401' };
  return { outcome: 'error', evidence: `status: ${statusCode}` };
}

function headerSign({ statusCode, headers }: Observation): Classification | null {
  for (const sign of VENDOR_SIGNS) {
    if (sign.header === undefined) continue;
    const [name, pattern] = sign.header;
    const value = headers[name];
    if (value === undefined || !fits(sign.status, statusCode) || !pattern.test(value.toString())) continue;
    return { outcome: sign.outcome, evidence: `${sign.vendor}: header ${name}` };
  }
  return null;
}

function markupSign({ statusCode, html }: Observation): Classification | null {
  if (html === '' || html.length > SEARCHED_MARKUP) return null;
  for (const { markup, status, outcome, vendor } of VENDOR_SIGNS) {
    if (markup === undefined || !fits(status, statusCode)) continue;
    if (markup.every((part) => html.includes(part)))
      return { outcome, evidence: `${vendor}: markup ${markup[0]}` };
  }
  return null;
}

function fits(status: VendorSign['status'], statusCode: number): boolean {
  if (status === 'any') return true;
  return status === 'error' ? statusCode >= 400 : status.includes(statusCode);
}

function softError({ title, heading }: PageFacts): Classification | null {
  for (const [where, text] of [
    ['title', title],
    ['h1', heading],
  ] as const) {
    if (text !== null && saysNotFound(text)) {
      return { outcome: 'soft-404', evidence: `${where}: ${text.trim().slice(0, 80)}` };
    }
  }
  return null;
}

const SHOWN_OTHERWISE =
  /<(?:script|img|picture|iframe|frame|video|audio|canvas|object|embed|svg|form|input|button|meta\s+http-equiv)/i;

/** A page that scripts would fill is not empty: it only looks so from here. */
function emptiness(html: string, { textLength, linkCount }: PageFacts): Classification | null {
  if (textLength > 0 || linkCount > 0 || SHOWN_OTHERWISE.test(html)) return null;
  return { outcome: 'empty', evidence: 'body: no text, links or scripts' };
}

function isThinPage({ textLength, linkCount }: PageFacts): boolean {
  return textLength < THIN_TEXT && linkCount < THIN_LINKS;
}

function isHtml({ contentType, html }: Observation): boolean {
  if (contentType === null) return /^\s*</.test(html);
  return /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(contentType);
}
