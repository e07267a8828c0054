import { readFileSync } from 'node:fs';

/** One step of a schema. Its statements are read when it is applied, so that a program that finds them applied reads none. */
export interface SqlStep {
  /** The files that have the statements, relative to the module that names them. */
  readonly files?: readonly string[];
  readonly sql: () => string;
}

/** A step that is written in files, which are applied in this order. `module` is the `import.meta.url` of the caller. */
export const fromFiles = (module: string, files: readonly string[]): SqlStep => ({
  files,
  sql: () => files.map((file) => readFileSync(new URL(file, module), 'utf8')).join('\n'),
});
