import type { OutcomeKind } from '../../core/model/attempt.ts';
import { isHtmlType } from '../../extract/html/media-type.ts';
import type { MarkupFacts } from '../../extract/scan/markup-facts.ts';
import type { ResponseHeaders } from '../engine.ts';
import { type PageFacts, type RenderedFacts, roughFacts, roughMarkup } from './page-facts.ts';
import {
  asksForHuman,
  asksForLogin,
  asksForScripts,
  isLoginUrl,
  saysNotFound,
  shutsOut,
  wasLedToLogin,
} from './page-phrases.ts';
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

/** Less than this is a heading and a footer at most. */
const BARE_TEXT = 80;
/** A page with more text than this has something to read. */
const LITTLE_TEXT = 600;
/** A page may say all it has to say to browsers without scripts. */
const NOSCRIPT_CONTENT = 300;

/** Where frameworks say themselves that the server has left the page to the browser. */
const LEFT_TO_BROWSER =
  /BAILOUT_TO_CLIENT_SIDE_RENDERING|\bserverRendered:\s?(?:false|!1)|flutter_bootstrap\.js|main\.dart\.js/;
const BUNDLE =
  /(?:^|[/._-])(?:main|app|bundle|index|runtime|chunk|vendors?|client|entry|polyfills|webpack|_next|_nuxt|assets)\b[^?#]*\.m?js\b/i;
/** Shown without any text. */
const SHOWN = /<(?:img|picture|iframe|frame|video|audio|canvas|object|embed|svg|form|input|button)\b/i;

/**
 * The evidence that a page gets its content from scripts only, or null. What extraction got out of it decides: a page
 * with something to read is none, whatever it was built with.
 */
function shellEvidence(html: string, facts: PageFacts): string | null {
  if (facts.textLength >= LITTLE_TEXT) return null;
  const markup = facts.markup ?? roughMarkup(html);
  if (markup.refresh !== null || (markup.scriptSources.length === 0 && markup.scriptChars === 0)) return null;
  const sign = signOf(html, facts, markup);
  if (sign === null) return null;
  return `shell: ${sign}; ${facts.textLength} characters of text, ${markup.scriptCount} scripts`;
}

function signOf(html: string, facts: PageFacts, markup: Readonly<MarkupFacts>): string | null {
  const { title, heading, textLength, linkCount } = facts;
  for (const said of [title, heading]) {
    if (said !== null && asksForScripts(said)) return `it says "${said.trim().slice(0, 80)}"`;
  }
  const isBare = textLength < BARE_TEXT;
  const hasNotice = asksForScripts(markup.noscriptText);
  const hasBundle = markup.scriptSources.some((source) => BUNDLE.test(source));
  if (isBare && hasNotice) return `noscript says "${markup.noscriptText.slice(0, 80)}"`;
  if (isBare && markup.noscriptText.length >= NOSCRIPT_CONTENT)
    return 'its text is for browsers without scripts';
  if (isBare && LEFT_TO_BROWSER.test(html)) return 'its framework leaves it to the browser';
  if (isBare || hasNotice || hasBundle) {
    const root = hasEmptyRoot(html);
    if (root !== null) return `nothing in ${root}`;
  }
  if (isBare && BUSY.test(html)) return 'a part says that it is busy';
  const placeholders = countPlaceholders(html);
  if (placeholders >= (isBare ? 1 : MANY_PLACEHOLDERS)) return `${placeholders} empty placeholders`;
  if (textLength > 0 || linkCount > 0 || SHOWN.test(html)) return null;
  return 'nothing but scripts';
}

/** An element whose content is still being loaded, by the standard attribute for that. */
const BUSY = /<[a-z][^>]{0,300}\saria-busy\s*=\s*["']?true\b/i;
/** Grey boxes in the shape of the content to come; they are empty. */
const PLACEHOLDER =
  /<(?:div|span|li|p|section)\s[^>]{0,200}?\bclass\s*=\s*["'][^"'<>]{0,200}?\b(?:skeleton|shimmer|placeholder|spinner|loader)\b[^<>]{0,300}>\s{0,100}<\//gi;
const MANY_PLACEHOLDERS = 3;
const MOST_PLACEHOLDERS = 20;

function countPlaceholders(html: string): number {
  let count = 0;
  for (const _each of html.matchAll(PLACEHOLDER)) {
    count += 1;
    if (count >= MOST_PLACEHOLDERS) break;
  }
  return count;
}

/** Elements that frameworks fill. */
const ROOT =
  /<(?:(?:div|main|section)\b[^>]{0,200}\bid\s*=\s*["']?(root|app|application|__next|__nuxt|___gatsby|react-root|react-app|app-root|vue-app|svelte|ember-app|mount|app-container|app-mount|page-root|spa)(?=["'\s>])|(app-root|ng-app|[a-z]{2,20}-app)(?=[\s>]))[^>]{0,300}>/gi;
/** Something for the visitor, even without text. */
const CONTENT: ReadonlySet<string> = new Set(
  'a form input button select textarea video audio canvas iframe object embed picture table'.split(' '),
);
const SKIPPED: ReadonlySet<string> = new Set(['script', 'style', 'template', 'noscript', 'svg']);
const VOID: ReadonlySet<string> = new Set(['img', 'br', 'hr', 'link', 'meta', 'source', 'wbr']);
/** Around all of a page an image is the page; in a framework's element it is a logo to look at meanwhile. */
const WITHOUT_IMAGES: ReadonlySet<string> = new Set([...VOID].filter((name) => name !== 'img'));
/** Elements around all of a page. */
const WHOLE = /<(body|main)(?=[\s>])[^>]{0,300}>/gi;
const WAITING =
  /^(?:loading|please wait|wait|one moment|laden|wird geladen|chargement|cargando|carregando|caricamento|ładowanie|загрузка|yükleniyor|加载中|読み込み中)[\s\w,]{0,40}[.…]*$/i;
const MOST_TEXT = 60;
const MOST_TAGS = 400;
const MOST_ROOTS = 5;

/** The element that a framework would fill and that has nothing in it yet, or null. */
export function hasEmptyRoot(html: string): string | null {
  let looked = 0;
  for (const { 0: tag, 1: id, 2: name, index } of html.matchAll(ROOT)) {
    if (isEmptyFrom(html, index + tag.length, VOID)) return id === undefined ? `<${name}>` : `#${id}`;
    looked += 1;
    if (looked >= MOST_ROOTS) break;
  }
  for (const { 0: tag, 1: name, index } of html.matchAll(WHOLE)) {
    if (isEmptyFrom(html, index + tag.length, WITHOUT_IMAGES)) return `<${name}>`;
    looked += 1;
    if (looked >= MOST_ROOTS) break;
  }
  return null;
}

/**
 * Whether the element that starts before `start` ends without having shown anything but a sign of waiting. Elements of
 * `passed` have no end and are passed over; an image that is not among them is something to see.
 */
function isEmptyFrom(html: string, start: number, passed: ReadonlySet<string>): boolean {
  let at = start;
  let depth = 1;
  let text = '';
  for (let tags = 0; tags < MOST_TAGS && depth > 0; tags += 1) {
    const open = html.indexOf('<', at);
    if (open === -1) return false;
    text += html.slice(at, Math.min(open, at + MOST_TEXT + 1)).trim();
    if (text.length > MOST_TEXT) return false;
    if (html.startsWith('<!--', open)) {
      at = pastOf(html, '-->', open + 4);
      continue;
    }
    const isClosing = html[open + 1] === '/';
    const name = /^[a-z][a-z0-9-]{0,30}/i
      .exec(html.slice(open + (isClosing ? 2 : 1), open + 34))?.[0]
      .toLowerCase();
    at = pastOf(html, '>', open);
    if (name === undefined) continue;
    if (isClosing) depth -= 1;
    else if (CONTENT.has(name) || (name === 'img' && !passed.has(name))) return false;
    else if (SKIPPED.has(name)) at = pastOf(html, '>', pastOf(html, `</${name}`, at));
    else if (!passed.has(name) && html[at - 2] !== '/') depth += 1;
  }
  return depth === 0 && (text === '' || WAITING.test(text));
}

function pastOf(html: string, part: string, from: number): number {
  const index = html.indexOf(part, from);
  return index === -1 ? html.length : index + part.length;
}
