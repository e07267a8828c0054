import type { ContentsGroup } from './contents.ts';
import { escapeHtml } from './highlight.ts';
import type { Heading, RenderedPage } from './render-markdown.ts';

/** A page in the sidebar. */
export interface NavigationEntry {
  readonly slug: string;
  readonly title: string;
}

export interface LayoutInput {
  readonly slug: string;
  readonly page: RenderedPage;
  readonly groups: readonly { readonly name: string; readonly entries: readonly NavigationEntry[] }[];
  /** Follows the address of scripts and styles, so that a browser never mixes two versions. */
  readonly assetVersion: string;
  readonly version: string;
}

/** The groups whose links are long lists: closed in the sidebar until a page of them is shown. */
const CLOSED = new Set(['Inside', 'More']);

const addressOf = (slug: string): string => (slug === '' ? '/help' : `/help/${slug}`);

/** A whole HTML page. It has no inline script and no inline style: the content security policy forbids both. */
export function layoutPage({ slug, page, groups, assetVersion, version }: LayoutInput): string {
  const all = groups.flatMap(({ entries }) => entries);
  const at = all.findIndex((entry) => entry.slug === slug);
  const group = groups.find(({ entries }) => entries.some((entry) => entry.slug === slug));
  const title = slug === '' ? 'Scrapifie documentation' : `${page.title} · Scrapifie`;
  const asset = (name: string) => `/help/assets/${name}?v=${assetVersion}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${escapeHtml(page.summary.slice(0, 200))}">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${asset('icon.svg')}" type="image/svg+xml">
<script src="${asset('theme.js')}"></script>
<link rel="stylesheet" href="${asset('site.css')}">
<script src="${asset('site.js')}" defer></script>
</head>
<body${slug === '' ? ' class="home"' : ''}>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<button class="icon menu" type="button" aria-label="Menu" aria-expanded="false" aria-controls="sidebar"><span></span></button>
<a class="brand" href="/help"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 7h9M4 12h16M11 17h9"/><circle cx="17" cy="7" r="2.4"/><circle cx="7" cy="17" r="2.4"/></svg>Scrapifie</a>
<span class="version">${escapeHtml(version)}</span>
<form class="search" role="search" action="/help" data-index="/help/search.json?v=${assetVersion}">
<input type="search" name="q" placeholder="Search" aria-label="Search the documentation" autocomplete="off" spellcheck="false" role="combobox" aria-expanded="false" aria-controls="hits">
<kbd>/</kbd>
<div id="hits" class="hits" role="listbox" hidden></div>
</form>
<nav class="links" aria-label="Site"><a href="/docs">API reference</a></nav>
<button class="icon theme" type="button" aria-label="Light or dark"><svg viewBox="0 0 24 24" aria-hidden="true"><path class="sun" d="M12 3v2m0 14v2m9-9h-2M5 12H3m15.4-6.4L17 7M7 17l-1.4 1.4m12.8 0L17 17M7 7 5.6 5.6"/><circle class="sun" cx="12" cy="12" r="4"/><path class="moon" d="M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5Z"/></svg></button>
</header>
<div class="frame">
<nav id="sidebar" class="sidebar" aria-label="Pages">
${groups.map((each) => sidebarGroup(each, slug, each === group)).join('\n')}
</nav>
<main id="content" tabindex="-1">
<article>
${group === undefined ? '' : `<p class="crumb">${escapeHtml(group.name)}</p>`}
${page.html}
</article>
${slug === '' ? '' : neighbours(all[at - 1], all[at + 1])}
</main>
${tableOfContents(page.headings)}
</div>
</body>
</html>
`;
}

function sidebarGroup(
  { name, entries }: LayoutInput['groups'][number],
  current: string,
  isCurrent: boolean,
): string {
  const links = entries.map(({ slug, title }) => {
    const mark = slug === current ? ' aria-current="page"' : '';
    return `<li><a href="${addressOf(slug)}"${mark}>${escapeHtml(title)}</a></li>`;
  });
  const open = isCurrent || !CLOSED.has(name) ? ' open' : '';
  return `<details${open}><summary>${escapeHtml(name)}</summary><ul>${links.join('')}</ul></details>`;
}

function neighbours(before: NavigationEntry | undefined, after: NavigationEntry | undefined): string {
  const link = (entry: NavigationEntry | undefined, kind: 'prev' | 'next', label: string) =>
    entry === undefined
      ? '<span></span>'
      : `<a class="${kind}" rel="${kind}" href="${addressOf(entry.slug)}"><small>${label}</small>${escapeHtml(entry.title)}</a>`;
  return `<nav class="pager" aria-label="Previous and next page">${link(before, 'prev', 'Previous')}${link(after, 'next', 'Next')}</nav>`;
}

function tableOfContents(headings: readonly Heading[]): string {
  const shown = headings.filter(({ depth }) => depth === 2 || depth === 3);
  if (shown.length < 2) return '<aside class="toc"></aside>';
  const items = shown.map(
    ({ id, text, depth }) => `<li class="d${depth}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
  );
  return `<aside class="toc" aria-label="On this page"><p>On this page</p><ul>${items.join('')}</ul></aside>`;
}

/** The labels of the contents, with the titles of pages that have none. */
export function navigationOf(
  groups: readonly ContentsGroup[],
  titles: ReadonlyMap<string, string>,
): LayoutInput['groups'] {
  return groups.map(({ name, entries }) => ({
    name,
    entries: entries.map(({ slug, label }) => ({ slug, title: label ?? titles.get(slug) ?? slug })),
  }));
}
