export function escapeHtml(value: string): string {
  return value.replace(/[&<>"]/g, (sign) =>
    sign === '&' ? '&amp;' : sign === '<' ? '&lt;' : sign === '>' ? '&gt;' : '&quot;',
  );
}

export interface Document {
  readonly title: string;
  readonly body: string;
  /** More elements of the head. */
  readonly head?: string;
  readonly lang?: string;
}

const STYLE =
  'body{font:16px/1.6 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#1c2530}' +
  'a{color:#0b5cad}code{background:#f0f3f7;padding:.1em .35em;border-radius:.25em}li{margin:.2em 0}' +
  'table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3em .6em .3em 0;border-bottom:1px solid #dde4ec}';

/** A plain, valid page. The heading is the title; `body` is HTML. */
export function documentOf({ title, body, head = '', lang = 'en' }: Document): string {
  return (
    `<!doctype html>\n<html lang="${lang}">\n<head>\n<meta charset="utf-8">\n<title>${escapeHtml(title)}</title>\n` +
    `<meta name="viewport" content="width=device-width, initial-scale=1">\n${head}<style>${STYLE}</style>\n</head>\n` +
    `<body>\n<main>\n<h1>${escapeHtml(title)}</h1>\n${body}\n</main>\n</body>\n</html>\n`
  );
}

export function link(href: string, label = href): string {
  return `<a href="${escapeHtml(href)}">${escapeHtml(label)}</a>`;
}

export function linkList(hrefs: readonly string[]): string {
  return `<ul>\n${hrefs.map((href) => `<li>${link(href)}</li>`).join('\n')}\n</ul>`;
}
