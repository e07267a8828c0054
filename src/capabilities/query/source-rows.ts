import type { PageRecord } from '../../core/model/page.ts';
import type { PageColumnField, QuerySource } from '../../core/model/query-fields.ts';
import { QUERY_CATALOGUE } from '../../core/model/query-fields.ts';
import type { ScannedPage } from '../../core/ports/query-store.ts';
import type { SourceRow } from './evaluate.ts';

/** The columns of pages that rows of a source are made of. */
export const columnsOf = (source: QuerySource): readonly PageColumnField[] =>
  [...QUERY_CATALOGUE[source].values()].flatMap(({ column }) => (column ?? []) as PageColumnField[]);

/** The rows of a source that a page has: itself, its links, or its record. */
export function rowsOfPage(
  source: QuerySource,
  page: ScannedPage,
  record: PageRecord | null,
): Iterable<SourceRow> {
  if (source === 'links') return linkRows(page, record);
  return source === 'records' ? recordRows(page, record) : [pageRow(page, record)];
}

/** The value of a column under the name that the source has for it. */
function columnReader(source: QuerySource, { values }: ScannedPage): (name: string) => unknown {
  const fields = QUERY_CATALOGUE[source];
  return (name) => {
    const column = fields.get(name)?.column;
    return column === null || column === undefined ? undefined : values[column as PageColumnField];
  };
}

function pageRow(page: ScannedPage, record: PageRecord | null): SourceRow {
  const column = columnReader('pages', page);
  const metadata = record?.metadata ?? null;
  const packed: Readonly<Record<string, unknown>> = {
    description: metadata?.description,
    language: metadata?.language,
    canonical: metadata?.canonical,
    robots: metadata?.robots,
    h1: metadata?.headings.find(({ level }) => level === 1)?.text,
    outcome: record?.outcome,
    linkCount: record?.links.length,
    imageCount: metadata?.images.length,
    extractedType: record?.extractedType,
  };
  return {
    place: [page.job, page.page, 0],
    valueOf: (name) => (Object.hasOwn(packed, name) ? packed[name] : column(name)),
  };
}

function* linkRows(page: ScannedPage, record: PageRecord | null): Generator<SourceRow> {
  const column = columnReader('links', page);
  const ownHost = column('pageHost');
  for (const [index, link] of (record?.links ?? []).entries()) {
    yield {
      place: [page.job, page.page, index],
      valueOf(name) {
        if (name === 'position') return index;
        if (name === 'host') return hostOf(link.url);
        if (name === 'isInternal') return hostOf(link.url) === ownHost;
        if (name === 'url' || name === 'text' || name === 'rel' || name === 'from') return link[name];
        return column(name);
      },
    };
  }
}

function recordRows(page: ScannedPage, record: PageRecord | null): SourceRow[] {
  const data = record?.extracted;
  if (data === null || data === undefined) return [];
  const column = columnReader('records', page);
  return [
    {
      place: [page.job, page.page, 0],
      valueOf(name) {
        if (name === 'type') return record?.extractedType;
        if (name === 'probability') return record?.extractedProbability;
        return name === 'data' || name.startsWith('data.')
          ? valueIn(data, name.split('.').slice(1))
          : column(name);
      },
    },
  ];
}

function valueIn(data: unknown, path: readonly string[]): unknown {
  let value: unknown = data;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

/** Cuts the host out of a URL as the stores do: URLs of links are absolute, and `mailto:` has no host. */
function hostOf(url: string): string | null {
  const start = url.indexOf('//');
  return start === -1 ? null : (/^[^/?#]*/.exec(url.slice(start + 2))?.[0] ?? null);
}
