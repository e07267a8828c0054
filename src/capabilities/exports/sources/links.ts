import type { PageLink } from '../../../core/model/page.ts';
import type { PageSource } from '../table/export-page.ts';
import { column, pageTable } from './page-table.ts';

interface FoundLink extends PageLink {
  readonly page: string;
  /** From 1, in the order of the page. */
  readonly position: number;
}

const LINK_COLUMNS = [
  column<FoundLink>('url', 'string', ({ page }) => page),
  column<FoundLink>('position', 'integer', ({ position }) => position),
  column<FoundLink>('target', 'string', ({ url }) => url),
  column<FoundLink>('text', 'string', ({ text }) => text),
  column<FoundLink>('rel', 'string', ({ rel }) => rel),
  column<FoundLink>('found_in', 'string', ({ from }) => from),
];

/** One row for each link of each page. */
export const linksTable = (pages: PageSource) =>
  pageTable(LINK_COLUMNS, pages, ({ page, record }) =>
    record.links.map((link, at) => ({ ...link, page: page.url, position: at + 1 })),
  );
