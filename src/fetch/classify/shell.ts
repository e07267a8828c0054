import type { MarkupFacts } from '../../extract/scan/markup-facts.ts';
import { type PageFacts, roughMarkup } from './page-facts.ts';
import { asksForScripts } from './page-phrases.ts';

/** Less than this is a heading and a footer at most. */
const BARE_TEXT = 80;
/** With more than this there is something to read. */
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
export function shellEvidence(html: string, facts: PageFacts): string | null {
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
