import { shortUrl } from '../../format/format.ts';

const firstOf = (value: unknown): string | undefined =>
  Array.isArray(value) && typeof value[0] === 'string' ? value[0] : undefined;

/** The job of a schedule in a line: its kind and where it begins. */
export function jobText(job: unknown): string {
  const { kind, url, urls, sitemapUrls } = job as Readonly<Record<string, unknown>>;
  const start = typeof url === 'string' ? url : (firstOf(urls) ?? firstOf(sitemapUrls) ?? '');
  const count = Array.isArray(urls) ? urls.length : 1;
  return `${String(kind)} ${shortUrl(start)}${count > 1 ? ` and ${count - 1} more` : ''}`;
}
