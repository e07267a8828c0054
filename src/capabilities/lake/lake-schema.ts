import type { LakeTable } from '../../core/ports/lake-store.ts';

/** `text` is UTF-8, `time` milliseconds since 1970 in UTC without a zone. */
export type LakeType = 'text' | 'int32' | 'int64' | 'double' | 'boolean' | 'time';

export interface LakeColumn {
  readonly name: string;
  readonly type: LakeType;
  /** The version of the schema that added it. */
  readonly since: number;
  /** For docs/lake.md and the manifest. */
  readonly meaning: string;
}

/** Grows when a column is added. A column is never changed, renamed or removed, so every file of the lake stays readable. */
export const LAKE_SCHEMA_VERSION = 1;

const column = (name: string, type: LakeType, meaning: string, since = 1): LakeColumn => ({
  name,
  type,
  since,
  meaning,
});

/** What the rows of all tables begin with. */
const PAGE_KEY: readonly LakeColumn[] = [
  column('job_id', 'text', 'The job that fetched the page.'),
  column('task_id', 'int64', 'The URL of the job; unique in the installation.'),
  column('page_seq', 'int64', 'The number of the page; grows with each page that is stored.'),
  column('url', 'text', 'The URL of the page, canonical, as the job knows it.'),
  column('host', 'text', 'The host of that URL, in lower case, with the port where it is not the default.'),
  column('fetched_at', 'time', 'When the page was fetched, UTC.'),
];

export const LAKE_COLUMNS: Readonly<Record<LakeTable, readonly LakeColumn[]>> = {
  pages: [
    ...PAGE_KEY,
    column('final_url', 'text', 'Where redirects led.'),
    column('status_code', 'int32', 'Of the last response; null when there was none.'),
    column('content_type', 'text', 'As the server sent it.'),
    column('charset', 'text', 'The charset that the body was read with.'),
    column('depth', 'int32', 'Links between a start URL and the page.'),
    column('bytes', 'int64', 'Bytes of the body.'),
    column('content_hash', 'text', 'SHA-256 of the body.'),
    column('text_hash', 'text', 'Hash of the normalized text.'),
    column('title', 'text', 'The title of the document.'),
    column('description', 'text', 'The meta description.'),
    column('language', 'text', 'The language that the document states.'),
    column('canonical_url', 'text', 'rel=canonical.'),
    column('robots', 'text', 'The robots meta tag.'),
    column('h1', 'text', 'The first heading of level 1.'),
    column('word_count', 'int32', 'Words of the main content, where the job asked for it.'),
    column('link_count', 'int32', 'Rows that the page has in `links`.'),
    column('outcome', 'text', 'What the response was: ok, blocked, captcha …'),
    column('is_rendered', 'boolean', 'Whether a browser rendered the page.'),
    column('etag', 'text', 'The ETag of the response.'),
    column('last_modified', 'text', 'The Last-Modified of the response.'),
    column('duplicate_of', 'text', 'The URL whose page this one repeats.'),
    column('error_code', 'text', 'Why the page failed; null for a page that was fetched well.'),
    column('error_message', 'text', 'The same in words.'),
  ],
  links: [
    ...PAGE_KEY,
    column('position', 'int32', 'The place of the link on its page, from 0.'),
    column('link_url', 'text', 'Where the link leads.'),
    column('link_host', 'text', 'The host of that URL; null when it has none.'),
    column('text', 'text', 'The anchor text, or the alt text of the image in it.'),
    column('rel', 'text', 'The rel attribute.'),
    column('kind', 'text', 'Where it stood: a, area, frame, form, canonical, next, header …'),
    column('is_internal', 'boolean', 'Whether it leads to the host of the page.'),
  ],
  records: [
    ...PAGE_KEY,
    column('type', 'text', 'The type that was extracted; null when only rules or content were asked for.'),
    column('probability', 'double', 'How likely the page is of that type, 0 to 1.'),
    column('data', 'text', 'The extracted fields, JSON.'),
    column('structured', 'text', 'JSON-LD, microdata and RDFa, JSON.'),
    column('title', 'text', 'The title of the content.'),
    column('author', 'text', 'The author of the content.'),
    column('published_at', 'text', 'When the content was published, ISO 8601.'),
    column('modified_at', 'text', 'When the content was changed, ISO 8601.'),
    column('page_type', 'text', 'What kind of page it looks like.'),
    column('text', 'text', 'The text, where the job asked for it.'),
    column('markdown', 'text', 'The Markdown, where the job asked for it.'),
  ],
};
