import type { OutcomeKind } from '../../core/model/attempt.ts';
import { isHtmlType } from '../../extract/html/media-type.ts';
import type { ResponseHeaders } from '../engine.ts';
import { type PageFacts, type RenderedFacts, roughFacts, roughMarkup } from './page-facts.ts';
import {
  asksForHuman,
  asksForLogin,
  isLoginUrl,
  saysNotFound,
  shutsOut,
  wasLedToLogin,
} from './page-phrases.ts';
import { shellEvidence } from './shell.ts';
import { SEARCHED_MARKUP, searchFrame, searchHeaders, searchMarkup, searchUrl } from './vendor-signs.ts';

export interface Observation {
  readonly url: string;
  readonly finalUrl: string;
  readonly statusCode: number;
  readonly headers: ResponseHeaders;
  readonly contentType: string | null;
  /** Size of the body after decompression. */
  readonly bytes: number;
  /** The markup or its beginning, after scripts have run where a browser was there; empty for what is not text. */
  readonly html: string;
  /** What extraction found; null when it has not run, then it is estimated where it matters. */
  readonly facts: PageFacts | null;
  /** Present when a browser has shown the page: it cannot need scripts any more. */
  readonly rendered?: RenderedFacts;
}

export interface Classification {
  readonly outcome: OutcomeKind;
  /** What decided; null when it is plainly ok. */
  readonly evidence: string | null;
  /** Whose block or challenge it is, where that is known. */
  readonly vendor: string | null;
}

const OK: Classification = { outcome: 'ok', evidence: null, vendor: null };

/** A page with this much text or this many links has content of its own: it is no challenge and no error page. */
const THIN_TEXT = 1_500;
const THIN_LINKS = 25;
/** Below these a page may be one form or one question and nothing else. */
const LONELY_TEXT = 600;
const LONELY_LINKS = 10;
/** Smaller frames are badges and beacons. */
const SEEN_FRAME_PX = 50;

/**
 * Says what a response turned out to be. It decides from what only such pages have, so that a page about CAPTCHAs is
 * not taken for one. A redirect that was not followed and 304 are ok: there is nothing to judge.
 */
export function classify(seen: Observation): Classification {
  const { statusCode } = seen;
  if (statusCode >= 400) return classifyError(seen);
  if (statusCode >= 300) return OK;

  const sign = searchHeaders(statusCode, seen.headers) ?? searchUrl(seen.url, seen.finalUrl);
  if (sign !== null) return sign;
  if (seen.bytes === 0) {
    return statusCode === 204 || statusCode === 205 ? OK : found('empty', 'body: no bytes');
  }
  if (!isHtml(seen)) return OK;

  const facts = factsOf(seen);
  if (wasLedToLogin(seen.url, seen.finalUrl, seen.html))
    return found('login-wall', 'redirect: to a login form');
  if (facts.textLength >= THIN_TEXT) return OK;
  // Links without any text are a menu that waits for its page.
  if (facts.linkCount >= THIN_LINKS) return (facts.textLength === 0 && shell(seen, facts)) || OK;
  return (
    challenge(seen, facts) ??
    softError(facts) ??
    loginForm(seen, facts) ??
    shell(seen, facts) ??
    emptiness(seen.html, facts) ??
    OK
  );
}

function classifyError(seen: Observation): Classification {
  const { statusCode, headers } = seen;
  const byHeader = searchHeaders(statusCode, headers);
  if (byHeader !== null) return byHeader;
  // Only LinkedIn answers with this status.
  if (statusCode === 999) return found('blocked', 'linkedin: status 999', 'linkedin');
  const facts = isHtml(seen) ? factsOf(seen) : null;
  const isThin = facts === null || (facts.textLength < THIN_TEXT && facts.linkCount < THIN_LINKS);
  const byMarkup = isThin ? searchMarkup(statusCode, seen.html) : null;
  if (byMarkup !== null) return byMarkup;
  if (statusCode === 429) return found('rate-limited', 'status: 429');
  if (statusCode === 503 && headers['retry-after'] !== undefined) {
    return found('rate-limited', 'status: 503 with Retry-After');
  }
  if (statusCode === 401) return found('login-wall', 'status: 401');
  const said = isThin && (statusCode === 403 || statusCode === 406) ? headline(facts, shutsOut) : null;
  return said === null
    ? found('error', `status: ${statusCode}`)
    : found('blocked', `${statusCode} and ${said}`);
}

/** Finds a page that is nothing but a challenge, whatever its status. */
function challenge(seen: Observation, facts: PageFacts): Classification | null {
  if (facts.linkCount >= LONELY_LINKS) return null;
  const sign = searchMarkup(seen.statusCode, seen.html);
  if (sign !== null) return sign;
  if (facts.textLength >= LONELY_TEXT) return null;
  const frame = seen.rendered === undefined ? null : challengeFrame(seen.rendered);
  if (frame !== null) return frame;
  const said = headline(facts, asksForHuman);
  if (said === null || !/<(?:script|form|iframe)\b/i.test(seen.html)) return null;
  // Many forms carry the widget, but a page that asks for humans and nothing else shuts out like an error.
  const widget = searchMarkup(403, seen.html);
  return widget?.outcome === 'captcha'
    ? found('captcha', `${said} and ${widget.evidence}`, widget.vendor)
    : found('blocked', said);
}

/** A form may carry such a frame; a page that has it and no field to fill in is about the frame. */
function challengeFrame({ frames, fieldCount }: RenderedFacts): Classification | null {
  if (fieldCount > 0) return null;
  for (const { url, width, height } of frames) {
    if (width < SEEN_FRAME_PX || height < SEEN_FRAME_PX) continue;
    const sign = searchFrame(url);
    if (sign !== null) return sign;
  }
  return null;
}

function softError(facts: PageFacts): Classification | null {
  const said = headline(facts, saysNotFound);
  return said === null ? null : found('soft-404', said);
}

/** A form to log in where something else was asked for. */
function loginForm({ url, html }: Observation, facts: PageFacts): Classification | null {
  if (facts.textLength >= LONELY_TEXT) return null;
  const said = headline(facts, asksForLogin);
  if (said === null || isLoginUrl(url)) return null;
  const { hasPasswordField } = facts.markup ?? roughMarkup(html.slice(0, SEARCHED_MARKUP));
  return hasPasswordField ? found('login-wall', said) : null;
}

function shell({ html, rendered }: Observation, facts: PageFacts): Classification | null {
  if (rendered !== undefined) return null;
  const evidence = shellEvidence(html.slice(0, SEARCHED_MARKUP), facts);
  return evidence === null ? null : found('needs-javascript', evidence);
}

const SHOWN_OTHERWISE =
  /<(?:script|img|picture|iframe|frame|video|audio|canvas|object|embed|svg|form|input|button|meta\s+http-equiv)/i;

function emptiness(html: string, { textLength, linkCount }: PageFacts): Classification | null {
  if (textLength > 0 || linkCount > 0 || SHOWN_OTHERWISE.test(html)) return null;
  return found('empty', 'body: no text, links or scripts');
}

/** The title or first heading that says it, as evidence. */
function headline(facts: PageFacts | null, says: (text: string) => boolean): string | null {
  if (facts === null) return null;
  const { title, heading } = facts;
  if (title !== null && says(title)) return `title: ${title.trim().slice(0, 80)}`;
  return heading !== null && says(heading) ? `h1: ${heading.trim().slice(0, 80)}` : null;
}

function factsOf({ facts, html, rendered }: Observation): PageFacts {
  const known = facts ?? roughFacts(html.slice(0, SEARCHED_MARKUP));
  return rendered === undefined ? known : { ...known, textLength: rendered.textLength };
}

function found(outcome: OutcomeKind, evidence: string, vendor: string | null = null): Classification {
  return { outcome, evidence, vendor };
}

function isHtml({ contentType, html }: Observation): boolean {
  return contentType === null ? /^\s*</.test(html) : isHtmlType(contentType);
}
