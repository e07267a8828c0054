import { expect, it } from 'vitest';
import type { AccountId, JobId } from '../../../core/model/ids.ts';
import { packRecord } from '../../../core/model/page-record.ts';
import type { ReaderRange, StoredEvent } from '../../../core/ports/event-store.ts';
import { createSearchReader } from './search-reader.ts';

const accountId = 'one' as AccountId;
const jobId = 'job' as JobId;
const range = { after: '0-0-0', next: '0-0-1' } as unknown as ReaderRange;
const events = [
  { type: 'job.started', jobId, accountId, data: {} },
  { type: 'pages.committed', jobId, accountId, data: { pages: Array.from({ length: 250 }, (_, n) => n) } },
] as unknown as StoredEvent[];

it('indexes in steps, and moves the cursor when all is indexed; what fails is read again', async () => {
  const steps: string[] = [];
  let isFailing = true;
  const apply = createSearchReader(
    {
      listSearchPages: async (_, seqs) =>
        seqs.map((pageSeq) => ({
          accountId,
          jobId,
          isPrivate: false,
          pageSeq,
          url: `https://a.test/${pageSeq}`,
          title: null,
          fetchedAt: 1,
          record: packRecord({ metadata: null, links: [], searchText: 'word' }),
          body: null,
        })),
      advanceReader: async (name) => {
        steps.push(`advance ${name}`);
        return true;
      },
    },
    {
      put: async (pages) => {
        if (isFailing && steps.length === 1) throw new Error('disk');
        steps.push(`put ${pages.length}`);
      },
    },
  );
  await expect(apply(events, range)).rejects.toThrow('disk');
  expect(steps).toEqual(['put 100']);
  isFailing = false;
  expect(await apply(events, range)).toBe(true);
  expect(steps).toEqual(['put 100', 'put 100', 'put 100', 'put 50', 'advance search']);
});
