import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { apiReference, type OpenApiDocument } from './api-reference.ts';
import { type ContentsEntry, contentsOf, FILES_ELSEWHERE, REFERENCE, slugOf } from './contents.ts';
import { layoutPage, navigationOf } from './layout.ts';
import { type RenderedPage, renderMarkdown } from './render-markdown.ts';

/** A file of the site. */
export interface HelpFile {
  readonly contentType: string;
  readonly etag: string;
  readonly gzipped: Buffer;
  /** Version in the addresses by which pages refer to the file, so that it may be cached for ever; null for pages. */
  readonly version: string | null;
  /** Unpacked anew each time: almost every browser takes the packed one. */
  plain(): Promise<Buffer>;
}

export interface HelpSite {
  /** By the path below `/help`, without a slash at the beginning. Returns null when there is no such file. */
  file(path: string): Promise<HelpFile | null>;
  /** The page that says so. */
  notFound(): Promise<HelpFile>;
}

export interface HelpDeps {
  /** The folder that has `docs/`. */
  readonly root: URL;
  readonly version: string;
  document(): OpenApiDocument;
}

/** One folder is above the sources and above the build. */
export const PROJECT_ROOT = new URL('../../../', import.meta.url);

const ASSETS: Readonly<Record<string, string>> = {
  'site.css': 'text/css; charset=utf-8',
  'site.js': 'text/javascript; charset=utf-8',
  'theme.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml; charset=utf-8',
};
const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';
const NOT_FOUND = `# There is no such page

The address may be of another version. Search above, or begin at the [start page](/help).`;
const [pack, unpack] = [promisify(gzip), promisify(gunzip)];

/**
 * The documentation as a site. It is made of the Markdown files with the first request and kept, so that neither the start
 * of the server nor the package pays for it. Between two pages other requests get their turn.
 */
export function createHelpSite(deps: HelpDeps): HelpSite {
  let built: Promise<Pick<BuiltHelp, 'files' | 'notFound'>> | null = null;
  const site = () => {
    // Only the packed files are kept. A build that failed (a file could not be read) is tried again by the next request.
    built ??= buildHelp(deps)
      .then(({ files, notFound }) => ({ files, notFound }))
      .catch((error: unknown) => {
        built = null;
        throw error;
      });
    return built;
  };
  return {
    file: async (path) => (await site()).files.get(path) ?? null,
    notFound: async () => (await site()).notFound,
  };
}

interface Source {
  readonly slug: string;
  /** The file that links are relative to; null for a page that is made of the OpenAPI document. */
  readonly file: string | null;
  readonly markdown: string;
}

export interface BuiltHelp {
  /** The files by their paths below `/help`. */
  readonly files: ReadonlyMap<string, HelpFile>;
  /** The rendered pages by their slugs. */
  readonly pages: ReadonlyMap<string, RenderedPage>;
  readonly notFound: HelpFile;
}

export async function buildHelp({ root, version, document }: HelpDeps): Promise<BuiltHelp> {
  const names = await filesOf(root);
  const pictures = new Map<string, string>();
  const files = new Map<string, HelpFile>();
  for (const name of names.filter((each) => each.endsWith('.svg'))) {
    pictures.set(name, inlineSvg(await readFile(new URL(name, root), 'utf8')));
  }
  for (const name of names.filter((each) => each.endsWith('.png'))) {
    const path = name.slice('docs/'.length);
    pictures.set(name, `<img src="/help/${path}" alt="" loading="lazy">`);
    files.set(path, await fileOf('image/png', await readFile(new URL(name, root)), null));
  }
  const texts = new Set(names.filter((name) => /\.(?:md|yaml)$/.test(name)));
  const reference = apiReference(document());
  const referenceEntries: ContentsEntry[] = reference.map(({ slug, label }) => ({ file: '', slug, label }));
  const groups = contentsOf(texts).map((group) =>
    group.name === REFERENCE ? { ...group, entries: [...group.entries, ...referenceEntries] } : group,
  );
  const sources: Source[] = reference.map(({ slug, markdown }) => ({ slug, file: null, markdown }));
  for (const file of texts) {
    sources.push({
      slug: slugOf(file),
      file,
      markdown: asMarkdown(file, await readFile(new URL(file, root), 'utf8')),
    });
  }

  const pages = new Map<string, RenderedPage>();
  for (const { slug, file, markdown } of sources) {
    const rendered = renderMarkdown(markdown, {
      addressOf: (href) => addressOf(href, file, texts),
      pictureOf: (href) => pictures.get(placeOf(href, file)) ?? null,
    });
    pages.set(slug, rendered);
    await nextTurn();
  }

  const titles = new Map([...pages].map(([slug, { title }]) => [slug, title]));
  const navigation = navigationOf(groups, titles);
  const index = Buffer.from(JSON.stringify(searchIndex(pages, navigation)));
  const assets = await Promise.all(
    Object.entries(ASSETS).map(
      async ([name, type]) => [name, type, await readFile(new URL(`docs/site/${name}`, root))] as const,
    ),
  );
  const assetVersion = hashOf(Buffer.concat([...assets.map(([, , bytes]) => bytes), index]));
  for (const [name, type, bytes] of assets)
    files.set(`assets/${name}`, await fileOf(type, bytes, assetVersion));
  files.set('search.json', await fileOf(JSON_TYPE, index, assetVersion));
  const laidOut = (slug: string, page: RenderedPage) =>
    fileOf(HTML, Buffer.from(layoutPage({ slug, page, groups: navigation, assetVersion, version })), null);
  for (const [slug, page] of pages) files.set(slug, await laidOut(slug, page));
  const missing = renderMarkdown(NOT_FOUND, { addressOf: (href) => href, pictureOf: () => null });
  return { files, pages, notFound: await laidOut('404', missing) };
}

/** Files of `docs/` and those elsewhere that have a page. A package may lack some of the latter. */
async function filesOf(root: URL): Promise<readonly string[]> {
  const base = fileURLToPath(new URL('docs/', root));
  const entries = await readdir(base, { recursive: true, withFileTypes: true });
  const inDocs = entries
    .filter((entry) => entry.isFile() && /\.(?:md|svg|png)$/.test(entry.name))
    .map((entry) => `docs/${posix.relative(base, posix.join(entry.parentPath, entry.name))}`)
    .filter((name) => !name.startsWith('docs/site/'));
  const elsewhere = await Promise.all(
    FILES_ELSEWHERE.map(async (file) => {
      const found = await readFile(new URL(file, root)).catch(() => null);
      return found === null ? [] : [file];
    }),
  );
  return [...inDocs, ...elsewhere.flat()].sort();
}

function asMarkdown(file: string, text: string): string {
  if (!file.endsWith('.yaml')) return text;
  return `# ${posix.basename(file)}\n\n\`\`\`yaml\n${text}\`\`\`\n`;
}

/** The file that a link refers to, from the root of the project. */
function placeOf(href: string, from: string | null): string {
  const [path = ''] = href.split('#');
  return posix.join(from === null ? 'docs' : posix.dirname(from), path);
}

function addressOf(href: string, from: string | null, texts: ReadonlySet<string>): string | null {
  if (/^(?:https?:|mailto:|#|\/)/.test(href)) return href;
  const place = placeOf(href, from);
  if (!texts.has(place)) return null;
  const slug = slugOf(place);
  const hash = href.includes('#') ? href.slice(href.indexOf('#')) : '';
  return `${slug === '' ? '/help' : `/help/${slug}`}${hash}`;
}

/** The picture without a style of its own: the style sheet of the site gives its classes the colours of the theme. */
const inlineSvg = (svg: string): string =>
  svg.replace(/<style>[\s\S]*?<\/style>/g, '').replace(/^[\s\S]*?(?=<svg\b)/, '');

/** For each page its address and title, and for each section `[page, anchor, heading, text]`. */
function searchIndex(pages: ReadonlyMap<string, RenderedPage>, navigation: ReturnType<typeof navigationOf>) {
  const listed = navigation.flatMap(({ name, entries }) =>
    entries.map((entry) => ({ ...entry, group: name })),
  );
  const known = listed.filter(({ slug }) => pages.has(slug));
  return {
    pages: known.map(({ slug, group }) => [slug, pages.get(slug)?.title ?? '', group]),
    sections: known.flatMap(({ slug }, at) =>
      (pages.get(slug)?.sections ?? []).map(({ id, heading, text }) => [at, id, heading, text]),
    ),
  };
}

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('base64url').slice(0, 16);

async function fileOf(contentType: string, bytes: Buffer, version: string | null): Promise<HelpFile> {
  const gzipped = await pack(bytes);
  return { contentType, version, etag: `"${hashOf(bytes)}"`, gzipped, plain: () => unpack(gzipped) };
}
