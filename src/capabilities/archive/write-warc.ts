import { gzipMember } from '../../lib/warc/gzip-member.ts';
import { recordBytes, recordId, type WarcRecord, warcFields } from '../../lib/warc/warc-record.ts';
import type { ArchivedJob, Exchange } from './exchange.ts';
import { recordsOf } from './exchange-records.ts';
import type { KnownPayloads } from './known-payloads.ts';

/** A record with its compressed bytes. */
export interface WrittenRecord {
  readonly record: WarcRecord;
  /** In pieces; to be read once, and before the next record. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface WarcInfo {
  readonly job: ArchivedJob;
  readonly version: string;
  readonly fileName: string;
  readonly at: number;
}

/** The first record of a file: which program wrote it, and what it holds. */
export function infoRecord({ job, version, fileName, at }: WarcInfo): WarcRecord {
  return {
    type: 'warcinfo',
    id: recordId('warcinfo', job.id, fileName, at),
    at,
    targetUri: null,
    contentType: 'application/warc-fields',
    fields: [['WARC-Filename', fileName]],
    head: new Uint8Array(),
    payload: warcFields([
      ['software', `Scrapifie/${version}`],
      ['format', 'WARC File Format 1.1'],
      ['conformsTo', 'http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/'],
      ['isPartOf', job.id],
      ['robots', job.options.page.obeyRobots ? 'obey' : 'ignore'],
    ]),
  };
}

export const written = (record: WarcRecord): WrittenRecord => ({
  record,
  chunks: gzipMember(recordBytes(record)),
});

/** The records of exchanges, compressed one by one; one exchange is in memory at a time. */
export async function* writtenRecords(
  exchanges: AsyncIterable<Exchange>,
  known: KnownPayloads,
): AsyncGenerator<WrittenRecord> {
  for await (const exchange of exchanges) {
    for (const record of recordsOf(exchange, known)) yield written(record);
  }
}
