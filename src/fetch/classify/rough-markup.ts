import type { MarkupFacts } from '../../extract/scan/markup-facts.ts';

const SCRIPT = /<script\b([^>]{0,2000})>/gi;
const SOURCE = /\bsrc\s*=\s*["']?([^"'\s>]{1,500})/i;
const DATA_TYPE =
  /\btype\s*=\s*["']?(?:application\/(?:ld\+)?json|text\/template|importmap|speculationrules)/i;
const MOST_SOURCES = 32;
const NOSCRIPT_CHARS = 500;

/** What a page is made of, seen roughly, for when extraction has not run. Linear in its size. */
export function roughMarkup(html: string): MarkupFacts {
  const scriptSources: string[] = [];
  let scriptCount = 0;
  let scriptChars = 0;
  for (const { 0: tag, 1: attributes = '', index } of html.matchAll(SCRIPT)) {
    if (DATA_TYPE.test(attributes)) continue;
    scriptCount += 1;
    const source = SOURCE.exec(attributes)?.[1];
    if (source !== undefined) {
      if (scriptSources.length < MOST_SOURCES) scriptSources.push(source);
      continue;
    }
    const start = index + tag.length;
    const end = html.indexOf('</script', start);
    scriptChars += (end === -1 ? html.length : end) - start;
    // The rest of the page is this script, and is not looked through again for every tag in it.
    if (end === -1) break;
  }
  return {
    hasPasswordField: /<input\b[^>]{0,1000}\btype\s*=\s*["']?password\b/i.test(html),
    formCount: count(html, /<form\b/gi),
    iframeCount: count(html, /<iframe\b/gi),
    scriptCount,
    scriptChars,
    scriptSources,
    noscriptText: noscriptText(html),
    refresh: /<meta\b[^>]{0,300}\bhttp-equiv\s*=\s*["']?refresh\b[^>]{0,300}\burl\s*=/i.test(html)
      ? ''
      : null,
    refreshSeconds: null,
  };
}

function count(html: string, pattern: RegExp): number {
  let found = 0;
  for (const _ of html.matchAll(pattern)) found += 1;
  return found;
}

function noscriptText(html: string): string {
  for (const { 0: tag, index } of html.matchAll(/<noscript\b[^>]{0,500}>/gi)) {
    const start = index + tag.length;
    const end = html.indexOf('</noscript', start);
    const inside = html.slice(start, Math.min(end === -1 ? html.length : end, start + 4 * NOSCRIPT_CHARS));
    const text = inside
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim();
    if (text !== '' || end === -1) return text.slice(0, NOSCRIPT_CHARS);
  }
  return '';
}
