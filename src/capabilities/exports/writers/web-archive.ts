import { VERSION } from '../../../version.ts';
import { type Exchange, exchangeOfPage } from '../../archive/exchange.ts';
import { createKnownPayloads } from '../../archive/exchange-records.ts';
import {
  infoRecord,
  type WaczEntry,
  waczEntries,
  written,
  writtenRecords,
} from '../../archive/write-archive.ts';
import type { PageSource, PageWriterOptions, PageWriters } from '../table.ts';
import { writeZip, type ZipEntry } from './zip.ts';

/** One WARC file, compressed record by record, of all pages. */
export async function* writeWarc(pages: PageSource, options: PageWriterOptions): AsyncGenerator<Uint8Array> {
  const { job, createdAt } = options;
  const fileName = `${job.id}.warc.gz`;
  yield* written(infoRecord({ job, version: VERSION, fileName, at: createdAt })).chunks;
  const known = createKnownPayloads();
  try {
    for await (const { chunks } of writtenRecords(exchanges(pages, options), known)) yield* chunks;
  } finally {
    known.close();
  }
}

/** A WACZ file: a ZIP of WARC files with an index and a list of pages. */
export function writeWacz(pages: PageSource, options: PageWriterOptions): AsyncIterable<Uint8Array> {
  const { job, createdAt } = options;
  const title = job.seeds[0] ?? job.id;
  return writeZip(
    storedEntries(waczEntries(exchanges(pages, options), { job, version: VERSION, title, at: createdAt })),
  );
}

/** Readers of WACZ files look into them at any place, which they cannot where files are compressed. */
async function* storedEntries(entries: AsyncIterable<WaczEntry>): AsyncGenerator<ZipEntry> {
  for await (const entry of entries) yield { ...entry, isStored: true };
}

async function* exchanges(pages: PageSource, { job, onRows }: PageWriterOptions): AsyncGenerator<Exchange> {
  for await (const { page, blob } of pages()) {
    yield await exchangeOfPage(page, job, { get: blob });
    onRows(1);
  }
}

export const writers = { warc: writeWarc, wacz: writeWacz } satisfies PageWriters;
