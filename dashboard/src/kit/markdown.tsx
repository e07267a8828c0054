import { Lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { createElement, Fragment, type ReactNode, useMemo } from 'react';
import { formatNumber } from '../format/format.ts';
import { ExternalLink } from './external-link.tsx';
import styles from './markdown.module.css';
import { Notice } from './states.tsx';

/** More would freeze the page while it is read. */
const MOST_CHARACTERS = 300_000;
/** A site may nest quotes and lists as deep as it likes; below this they are shown as they are written. */
const MOST_LEVELS = 24;
/** Lines that nest deeper than that: the lexer takes seconds for some hundreds of levels. */
const TOO_DEEP = /^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)])){25,}|^[ \t]{80,}(?:>|[-*+]|\d{1,9}[.)])[ \t]/m;
/** The time for `_a__` repeated grows with its square, so longer paragraphs keep their marks as text. */
const LONGEST_PARAGRAPH = 6_000;
/** After this time the rest keeps its marks as text. */
const MOST_MS = 400;

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
};

/** Character references, which the lexer leaves as they are. */
const decoded = (text: string): string =>
  text.replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos|nbsp));/gi,
    (all, decimal, hex, name) => {
      if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? all;
      const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all;
    },
  );

/** The words of tokens, without their form. */
const plainText = (tokens: readonly Token[] | undefined, level: number): string =>
  (tokens ?? [])
    .map((token) =>
      'tokens' in token && token.tokens !== undefined && level > 0
        ? plainText(token.tokens, level - 1)
        : 'text' in token
          ? decoded(String(token.text))
          : ' ',
    )
    .join('');

const inner = (tokens: readonly Token[] | undefined, level: number): ReactNode =>
  (tokens ?? []).map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no identity beside their place
    <Fragment key={index}>{element(token, level - 1)}</Fragment>
  ));

function tableOf({ header, rows }: Tokens.Table, level: number): ReactNode {
  const cells = (row: readonly Tokens.TableCell[], tag: 'th' | 'td') =>
    row.map((cell, index) => createElement(tag, { key: index }, inner(cell.tokens, level)));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className={styles.scroll} aria-label="Table" tabIndex={0}>
      <table>
        <thead>
          <tr>{cells(header, 'th')}</tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity beside their place
            <tr key={index}>{cells(row, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function listOf({ ordered, start, items }: Tokens.List, level: number): ReactNode {
  const children = items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: entries have no identity beside their place
    <li key={index}>{inner(item.tokens, level)}</li>
  ));
  return ordered ? <ol start={Number(start) || 1}>{children}</ol> : <ul>{children}</ul>;
}

/** One element of the allowlist; everything else is the text that stands in the source. */
function element(given: Token, level: number): ReactNode {
  const token = given as MarkedToken;
  if (level <= 0) return token.raw;
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading':
      // Below the headings of the page that shows it.
      return createElement(`h${Math.min(6, token.depth + 2)}`, null, inner(token.tokens, level));
    case 'paragraph':
      return <p>{inner(token.tokens, level)}</p>;
    case 'blockquote':
      return <blockquote>{inner(token.tokens, level)}</blockquote>;
    case 'list':
      return listOf(token, level);
    case 'table':
      return tableOf(token, level);
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <pre tabIndex={0}>
          <code>{token.text}</code>
        </pre>
      );
    case 'hr':
      return <hr />;
    case 'br':
      return <br />;
    case 'strong':
      return <strong>{inner(token.tokens, level)}</strong>;
    case 'em':
      return <em>{inner(token.tokens, level)}</em>;
    case 'del':
      return <del>{inner(token.tokens, level)}</del>;
    case 'codespan':
      return <code>{decoded(token.text)}</code>;
    case 'checkbox':
      return token.checked ? '☑ ' : '☐ ';
    case 'link':
      return <ExternalLink url={token.href} text={plainText(token.tokens, level) || token.href} />;
    case 'image':
      return (
        <span className={styles.image}>
          Image: <ExternalLink url={token.href} text={decoded(token.text) || token.href} />
        </span>
      );
    case 'text':
      return token.tokens === undefined ? decoded(token.text) : inner(token.tokens, level);
    case 'escape':
      return decoded(token.text);
    default:
      return <code>{given.raw}</code>;
  }
}

/** Reads blocks first, and then the marks within each block for as long as the time allows. */
function tokensOf(text: string): readonly Token[] {
  const lexer = new Lexer({ gfm: true });
  lexer.blockTokens(text.replaceAll(/\r\n?/g, '\n'), lexer.tokens);
  const endAt = performance.now() + MOST_MS;
  for (const { src, tokens } of lexer.inlineQueue) {
    if (src.length > LONGEST_PARAGRAPH || performance.now() > endAt) {
      tokens.push({ type: 'text', raw: src, text: src });
    } else lexer.inlineTokens(src, tokens);
  }
  return lexer.tokens;
}

/**
 * Markdown that a site has written, as React elements of an allowlist: no HTML, no picture that would be loaded from
 * the site, links only to http and https.
 */
export function Markdown({ text }: { readonly text: string }) {
  const shown = text.slice(0, MOST_CHARACTERS);
  const content = useMemo(() => {
    try {
      if (!TOO_DEEP.test(shown)) return inner(tokensOf(shown), MOST_LEVELS);
    } catch {
      // The lexer calls itself for each level, and a site can nest deeper than the stack.
    }
    return <pre>{shown}</pre>;
  }, [shown]);
  return (
    <div className={styles.markdown}>
      {text.length > MOST_CHARACTERS && (
        <Notice>
          The first {formatNumber(MOST_CHARACTERS)} of {formatNumber(text.length)} characters are shown. The
          raw text has all of them.
        </Notice>
      )}
      {content}
    </div>
  );
}
