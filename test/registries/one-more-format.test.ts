import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ChangedTree, copyTree, PRINT_API } from './changed-tree.ts';

/** The two edits that CONTRIBUTING names for a format. */
const ENTRY = `  tsv: {
    label: 'TSV',
    takes: 'rows',
    ending: '.tsv',
    contentType: 'text/tab-separated-values',
    writer: 'tsv',
    docs: 'tabs between the cells',
  },
`;
const WRITER = `
import type { Table, TableWriters } from '../table/table.ts';

async function* writeTsv(table: Table): AsyncGenerator<Uint8Array> {
  yield Buffer.from(table.columns.map(({ name }) => name).join('\\t'));
}

export const writers = { tsv: writeTsv } satisfies TableWriters;
`;

let tree: ChangedTree;
beforeAll(async () => {
  tree = await copyTree();
  await tree.insertBefore('src/model/export-registry.ts', '  xlsx: {\n', ENTRY);
  await tree.write('src/exports/writers/tsv.ts', WRITER);
});
afterAll(() => tree.remove());

it('one more format compiles', () => tree.checkTypes());

it('one more format is one of the requests and answers of the API', async () => {
  const { components } = JSON.parse(await tree.evaluate(PRINT_API));
  for (const name of ['ExportRequest', 'Export']) {
    expect(components.schemas[name].properties.format.enum, name).toContain('tsv');
  }
  expect(components.schemas.ExportRequest.properties.format.description).toContain('`csv` `tsv` `xlsx`');
  expect(JSON.stringify(components.schemas.CrawlRequest.properties.exports)).toContain('"tsv"');
});

it('one more format is one of the choices of the command line and of the tools for language models', async () => {
  expect(await tree.run('src/main.ts', 'export', '--help')).toContain('"tsv"');
  expect(await tree.run('src/main.ts', 'crawl', '--help')).toMatch(/formats:\s[^;]*\btsv\b/);
  const choices = await tree.evaluate(`
    import { exportJob } from './src/mcp/tools/exports.ts';
    console.log(exportJob.input.shape.format.unwrap().options.join(' '));
  `);
  expect(choices.split(/\s/)).toContain('tsv');
});

it('one more format is written', async () => {
  const written = await tree.evaluate(`
    import { loadWriter } from './src/exports/formats.ts';
    const { write } = await loadWriter('tsv');
    for await (const bytes of write({ columns: [{ name: 'url' }, { name: 'price' }] })) console.log(bytes.toString());
  `);
  expect(written).toBe('url\tprice\n');
});

it('one more format is in the docs and in the lists of the dashboard', async () => {
  await tree.run('scripts/write-docs.ts');
  expect(await tree.read('docs/exports.md')).toMatch(/\| `tsv` +\| tables \| tabs between the cells/);
  expect(await tree.read('dashboard/src/api/choices.ts')).toContain('"value":"tsv","label":"TSV"');
});
