import { z } from 'zod';
import type { DateContext } from './document-content.ts';
import { DOCUMENT_LIMITS } from './document-limits.ts';
import { FeedBuilder, type FeedReading } from './feed.ts';
import { LinkList } from './link-list.ts';

/** Values of a wrong type are treated as missing: one odd value must not lose the feed. */
const text = z
  .union([z.string(), z.number().transform(String)])
  .optional()
  .catch(undefined);
const person = z.object({ name: text, url: text }).optional().catch(undefined);
const people = z.array(person).optional().catch(undefined);

const item = z.object({
  id: text,
  url: text,
  external_url: text,
  title: text,
  summary: text,
  content_html: text,
  content_text: text,
  date_published: text,
  date_modified: text,
  author: person,
  authors: people,
  image: text,
  banner_image: text,
  tags: z.array(text).optional().catch(undefined),
  attachments: z
    .array(z.object({ url: text, mime_type: text, size_in_bytes: z.number().optional().catch(undefined) }))
    .optional()
    .catch(undefined),
});
const feed = z.object({
  version: z.string().regex(/^https?:\/\/(?:www\.)?jsonfeed\.org\/version\//i),
  title: text,
  home_page_url: text,
  next_url: text,
  description: text,
  language: text,
  icon: text,
  favicon: text,
  author: person,
  authors: people,
  items: z.array(z.unknown()),
});

type Person = z.infer<typeof person>;

/** Reads a JSON Feed; null for any other value. */
export function readJsonFeed(value: unknown, url: string, hints: DateContext): FeedReading | null {
  const parsed = feed.safeParse(value);
  if (!parsed.success) return null;
  const { data } = parsed;
  const draft = new FeedBuilder(new LinkList(url, 'feed'), {
    ...hints,
    locale: data.language ?? hints.locale,
  });
  for (const each of data.items.slice(0, DOCUMENT_LIMITS.feedItems + 1)) {
    const entry = item.safeParse(each);
    if (!entry.success) continue;
    const { data: found } = entry;
    draft.addItem({
      id: found.id,
      url: found.url ?? found.external_url,
      title: found.title,
      summary: found.summary ?? found.content_text,
      html: found.content_html,
      isSummaryHtml: false,
      author: nameOf(found.authors, found.author),
      publishedAt: found.date_published,
      modifiedAt: found.date_modified,
      categories: found.tags?.filter((tag) => tag !== undefined),
      image: found.image ?? found.banner_image,
      enclosures: found.attachments?.map((each) => ({
        url: each.url,
        type: each.mime_type,
        bytes: each.size_in_bytes,
      })),
    });
  }
  return draft.finish({
    format: 'json',
    version: data.version.slice(data.version.lastIndexOf('/') + 1),
    title: data.title,
    description: data.description,
    url: data.home_page_url,
    nextUrl: data.next_url,
    language: data.language,
    author: nameOf(data.authors, data.author),
    image: data.icon ?? data.favicon,
    modifiedAt: undefined,
  });
}

function nameOf(all: readonly Person[] | undefined, single: Person): string | undefined {
  const names = [...(all ?? []), single].map((each) => each?.name).filter((name) => name !== undefined);
  return names.length === 0 ? undefined : [...new Set(names)].join(', ');
}
