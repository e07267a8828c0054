import { Marked, type Token, type Tokens } from 'marked';
import { escapeHtml, highlight } from './highlight.ts';

export interface Heading {
  readonly id: string;
  readonly text: string;
  readonly depth: number;
}

/** The text below one heading, for the search. */
export interface Section {
  /** Empty for what stands before the first heading of a page. */
  readonly id: string;
  readonly heading: string;
  readonly text: string;
}

export interface RenderedPage {
  readonly title: string;
  /** The first paragraph as plain text. */
  readonly summary: string;
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly sections: readonly Section[];
  /** Addresses of links as the HTML has them. */
  readonly links: readonly string[];
  /** Ids that an address may end in: those of headings, and of table rows that begin with a code. */
  readonly anchors: ReadonlySet<string>;
}

export interface RenderOptions {
  /** The address of what a link of the file refers to; null when the site has no page for it. */
  addressOf(href: string): string | null;
  /** The element, an SVG or an image, that stands in the page for a picture; null when the picture is not known. */
  pictureOf(href: string): string | null;
}

/**
 * Markdown as HTML. Raw HTML in the file is shown as text, except for comments, which are left out: the pages are the
 * project's own, but an angle bracket that a writer forgot to quote must not vanish from the page.
 */
export function renderMarkdown(markdown: string, options: RenderOptions): RenderedPage {
  const headings: Heading[] = [];
  const links: string[] = [];
  const newId = uniqueIds();
  const newRowId = uniqueRowIds();
  /** The next code block shows what the block before it prints. */
  let isOutput = false;
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth }) {
        const text = plainText(tokens);
        const id = newId(text);
        headings.push({ id, text, depth });
        const inner = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1 id="${id}">${inner}</h1>\n`;
        const anchor = `<a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`;
        return `<h${depth} id="${id}">${inner}${anchor}</h${depth}>\n`;
      },
      code({ text, lang }) {
        const [language = ''] = (lang ?? '').split(/\s/);
        if (language === 'http') return callOf(text);
        const copy = '<button class="copy" type="button" hidden>Copy</button>';
        const code = highlight(text, language);
        const kind = isOutput ? 'code output' : 'code';
        isOutput = false;
        return `<div class="${kind}">${copy}<pre tabindex="0"><code>${code}</code></pre></div>\n`;
      },
      codespan: ({ text }) => `<code>${escapeHtml(text)}</code>`,
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        const address = options.addressOf(href);
        if (address === null) return inner;
        links.push(address);
        const outside = /^https?:/.test(address) ? ' rel="noreferrer"' : '';
        return `<a href="${escapeHtml(address)}"${outside}>${inner}</a>`;
      },
      image({ href, text }) {
        const picture = options.pictureOf(href);
        if (picture === null) return escapeHtml(text);
        return `<span class="picture" role="img" aria-label="${escapeHtml(text)}">${picture}</span>`;
      },
      table(token) {
        const row = (cells: Tokens.TableCell[], tag: 'td' | 'th') => {
          const id = tag === 'td' ? newRowId(cells) : null;
          return `<tr${id === null ? '' : ` id="${id}"`}>${cells.map((cell) => `<${tag}${alignOf(cell)}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`;
        };
        const body = token.rows.map((cells) => row(cells, 'td')).join('\n');
        return `<div class="table" tabindex="0"><table><thead>${row(token.header, 'th')}</thead><tbody>${body}</tbody></table></div>\n`;
      },
      html({ text }) {
        if (!/^\s*<!--[\s\S]*-->\s*$/.test(text)) return escapeHtml(text);
        isOutput = text.includes('<!-- output -->');
        return '';
      },
    },
  });
  const tokens = marked.lexer(markdown);
  const html = marked.parser(tokens);
  const sections = sectionsOf(tokens, headings);
  const first = tokens.find(({ type }) => type === 'paragraph');
  return {
    title: headings.find(({ depth }) => depth === 1)?.text ?? '',
    summary: first === undefined ? '' : plainText([first]).replace(/\s+/g, ' ').trim(),
    html,
    headings,
    sections,
    links,
    anchors: new Set([...headings, ...sections].map(({ id }) => id)),
  };
}

/** A call of the API: its method and path. */
function callOf(text: string): string {
  const [method = '', path = ''] = text.split(' ');
  return `<p class="call"><span class="method">${escapeHtml(method)}</span> ${escapeHtml(path)}</p>\n`;
}

const alignOf = ({ align }: Tokens.TableCell): string => (align === 'right' ? ' class="right"' : '');

/** Ids of headings as GitHub makes them, so that a link works there and here. */
function uniqueIds(): (text: string) => string {
  const seen = new Map<string, number>();
  return (text) => {
    const base = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-');
    const before = seen.get(base) ?? 0;
    seen.set(base, before + 1);
    return before === 0 ? base : `${base}-${before}`;
  };
}

/** Rows that begin with an error code or a setting get its name as id, so that a search leads to the very row. */
function uniqueRowIds(): (cells: readonly Tokens.TableCell[]) => string | null {
  const seen = new Set<string>();
  return ([first]) => {
    const name = plainText(first?.tokens ?? []);
    if (!/^[A-Z][A-Z0-9_]{3,}$/.test(name) || seen.has(name)) return null;
    seen.add(name);
    return name;
  };
}

function sectionsOf(tokens: readonly Token[], headings: readonly Heading[]): readonly Section[] {
  const sections: { id: string; heading: string; text: string }[] = [];
  const rows = new Set<string>();
  const newRowId = uniqueRowIds();
  let heading = 0;
  for (const token of tokens) {
    if (token.type === 'heading') {
      const { id = '', text = '' } = headings[heading] ?? {};
      heading += 1;
      sections.push({ id, heading: text, text: '' });
      continue;
    }
    if (sections.length === 0) sections.push({ id: '', heading: '', text: '' });
    const last = sections.findLast(({ id }) => !rows.has(id));
    if (last === undefined) continue;
    if (token.type !== 'table') {
      last.text = joined(last.text, plainText([token]));
      continue;
    }
    for (const cells of [(token as Tokens.Table).header, ...(token as Tokens.Table).rows]) {
      const id = newRowId(cells);
      const texts = cells.map((cell) => plainText(cell.tokens)).join(' ');
      if (id === null) last.text = joined(last.text, texts);
      else {
        rows.add(id);
        sections.push({ id, heading: id, text: joined('', texts.slice(id.length)) });
      }
    }
  }
  return sections;
}

const joined = (before: string, text: string): string => `${before} ${text}`.replace(/\s+/g, ' ').trim();

/** The words of tokens without their marks. */
function plainText(tokens: readonly Token[]): string {
  return tokens.map(textOf).join('');
}

function textOf(token: Token): string {
  switch (token.type) {
    case 'html':
      return '';
    case 'space':
    case 'br':
      return ' ';
    case 'list':
      return (token as Tokens.List).items.map(({ tokens }) => `${plainText(tokens)} `).join('');
    case 'table': {
      const { header, rows } = token as Tokens.Table;
      return [header, ...rows]
        .map((row) => row.map((cell) => `${plainText(cell.tokens)} `).join(''))
        .join(' ');
    }
    case 'paragraph':
    case 'blockquote':
      return `${plainText(token.tokens ?? [])} `;
    default:
      if ('tokens' in token && token.tokens !== undefined) return plainText(token.tokens);
      return 'text' in token ? unescapeEntities(String(token.text)) : '';
  }
}

const unescapeEntities = (text: string): string =>
  text.replace(
    /&(amp|lt|gt|quot|#39);/g,
    (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"' })[name] ?? "'",
  );
