import type { MarkupFacts } from '../../extract/scan/markup-facts.ts';
import type { PageFacts } from './page-facts.ts';
import { asksForScripts } from './page-phrases.ts';
import { hasEmptyRoot } from './root-container.ts';
import { roughMarkup } from './rough-markup.ts';

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
  if (textLength > 0 || linkCount > 0 || SHOWN.test(html)) return null;
  return 'nothing but scripts';
}
