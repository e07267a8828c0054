import { Zip, ZipDeflate, ZipPassThrough } from 'fflate';
import { WARCRecord, WARCSerializer } from 'warcio';
import type { ExportPage } from '../../src/capabilities/exports/table.ts';
import { pagesOf } from './pages.ts';

/**
 * What each format of whole pages costs with its library alone: warcio for archives, fflate for ZIP files. There is none
 * for chunks: `JSON.stringify` of each paragraph stands in for it. Each counts the bytes.
 */
export const BARE_PAGES: Readonly<Record<string, (count: number) => Promise<number>>> = {
  async warc(count) {
    let bytes = 0;
    for await (const page of pagesOf(count)()) for (const part of await records(page)) bytes += part.length;
    return bytes;
  },
  async wacz(count) {
    const zip = counted();
    const archive = new ZipPassThrough('archive/data.warc.gz');
    zip.add(archive);
    const lines: string[] = [];
    let offset = 0;
    for await (const page of pagesOf(count)()) {
      for (const part of await records(page)) {
        archive.push(part);
        offset += part.length;
      }
      lines.push(
        `${page.page.url} ${page.page.fetchedAt} ${JSON.stringify({ url: page.page.url, offset })}\n`,
      );
    }
    archive.push(new Uint8Array(), true);
    const index = new ZipPassThrough('indexes/index.cdx');
    zip.add(index);
    lines.sort();
    for (const line of lines) index.push(Buffer.from(line));
    index.push(new Uint8Array(), true);
    return zip.finish();
  },
  async markdown(count) {
    const zip = counted();
    const list = new ZipDeflate('llms.txt', { level: 6 });
    zip.add(list);
    for await (const {
      page: { title, url },
    } of pagesOf(count)())
      list.push(Buffer.from(`- [${title}](${url})\n`));
    list.push(new Uint8Array(), true);
    const full = new ZipDeflate('llms-full.txt', { level: 6 });
    zip.add(full);
    for await (const { record } of pagesOf(count)()) full.push(Buffer.from(`${record.markdown}\n\n---\n\n`));
    full.push(new Uint8Array(), true);
    let n = 0;
    for await (const {
      page: { title, url },
      record: { markdown },
    } of pagesOf(count)()) {
      n += 1;
      const file = new ZipDeflate(`pages/${n}.md`, { level: 6 });
      zip.add(file);
      file.push(Buffer.from(`---\ntitle: "${title}"\nurl: "${url}"\n---\n\n${markdown}\n`), true);
    }
    return zip.finish();
  },
  async chunks(count) {
    let bytes = 0;
    for await (const {
      page: { title, url },
      record: { markdown = '' },
    } of pagesOf(count)()) {
      const lines = (markdown ?? '').split('\n\n').map((text) => JSON.stringify({ url, title, text }));
      bytes += Buffer.from(`${lines.join('\n')}\n`).length;
    }
    return bytes;
  },
};

/** Request, response and metadata, each a gzip member. */
async function records({ page: { url, title, fetchedAt }, record, body }: ExportPage): Promise<Uint8Array[]> {
  const html = (await body()) ?? new Uint8Array();
  const headers = record.headers as Record<string, string>;
  const date = new Date(fetchedAt).toISOString();
  const common = { url, date, warcVersion: 'WARC/1.1' as const };
  const made = [
    WARCRecord.create({ ...common, type: 'response', statusline: 'HTTP/1.1 200 OK', httpHeaders: headers }, [
      html,
    ]),
    WARCRecord.create(
      {
        ...common,
        type: 'request',
        statusline: `GET ${new URL(url).pathname} HTTP/1.1`,
        httpHeaders: { host: 'shop.example' },
      },
      [],
    ),
    WARCRecord.create({ ...common, type: 'metadata', warcHeaders: { 'Content-Type': 'application/json' } }, [
      Buffer.from(JSON.stringify({ url, title })),
    ]),
  ];
  const parts: Uint8Array[] = [];
  for (const record of made) parts.push(await WARCSerializer.serialize(record, { gzip: true }));
  return parts;
}

function counted() {
  let bytes = 0;
  const zip = new Zip((error, chunk) => {
    if (error !== null) throw error;
    bytes += chunk.length;
  });
  return {
    add: (file: ZipPassThrough | ZipDeflate) => zip.add(file),
    finish() {
      zip.end();
      return bytes;
    },
  };
}
