import type { ExportFormat } from '../../model/export.ts';
import type { PageWriter } from './export-page.ts';
import type { TableWriter } from './table.ts';

/** How a format is written. Writers are loaded when they are needed: some bring large packages. */
export type FormatSpec = FormatFacts &
  (
    | { readonly takes: 'rows'; readonly load: () => Promise<TableWriter> }
    | { readonly takes: 'pages'; readonly load: () => Promise<PageWriter> }
  );

interface FormatFacts {
  readonly format: ExportFormat;
  /** Ending of the file's name, with its dot. */
  readonly ending: string;
  readonly contentType: string;
}
