import { type ExportFormat, exportFormatSpec } from '../../core/model/export-registry.ts';
import type { PageWriter } from './table/export-page.ts';
import type { TableWriter } from './table/table.ts';

/** A file of `writers/`: its functions, by the formats that they write. */
interface WriterModule {
  readonly writers: Readonly<Partial<Record<ExportFormat, TableWriter | PageWriter>>>;
}

/** How a format is written. Writers are loaded when they are needed: some bring large packages. */
export type LoadedWriter =
  | { readonly takes: 'rows'; readonly write: TableWriter }
  | { readonly takes: 'pages'; readonly write: PageWriter };

export async function loadWriter(format: ExportFormat): Promise<LoadedWriter> {
  const { takes, writer } = exportFormatSpec(format);
  const { writers } = (await import(`./writers/${writer}.ts`)) as WriterModule;
  const write = writers[format];
  if (write === undefined) throw new Error(`writers/${writer}.ts has no writer of ${format}.`);
  return { takes, write } as LoadedWriter;
}
