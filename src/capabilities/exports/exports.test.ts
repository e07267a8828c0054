import { expect, it } from 'vitest';
import type { Export, NewExport } from '../../core/model/export.ts';
import type { AccountId, ExportId } from '../../core/model/ids.ts';
import { jobOf } from '../../crawl/host/process/claimed-task.fixture.ts';
import { createExports, MOST_OPEN_EXPORTS } from './exports.ts';

const id = 'exp_1' as ExportId;

/** Exports of an account that has so many which are not written yet. */
function exportsBeside(open: number, known: Export | null = null) {
  const made: string[] = [];
  const exports = createExports({
    store: {
      countOpenExports: async () => open,
      getExport: async () => known,
      createExport: async (draft: NewExport) => {
        made.push(draft.id);
        return { ...draft } as unknown as Export;
      },
    } as unknown as Parameters<typeof createExports>[0]['store'],
    jobs: { requireRoom: () => undefined } as unknown as Parameters<typeof createExports>[0]['jobs'],
    files: {} as Parameters<typeof createExports>[0]['files'],
    places: { exportPlaces: [] } as unknown as Parameters<typeof createExports>[0]['places'],
    now: () => 0,
  });
  return { create: () => exports.create(jobOf(), { type: 'full', format: 'csv' }, id), made };
}

it('an account may have a bounded number of exports that are not written yet', async () => {
  const below = exportsBeside(MOST_OPEN_EXPORTS - 1);
  await below.create();
  expect(below.made).toEqual([id]);
  const full = exportsBeside(MOST_OPEN_EXPORTS);
  await expect(full.create()).rejects.toMatchObject({ code: 'TOO_MANY_EXPORTS', retryAfterMs: 10_000 });
  expect(full.made).toEqual([]);
});

it('a request that is sent again for an export that was made is answered, however many there are', async () => {
  const again = exportsBeside(MOST_OPEN_EXPORTS, { id, accountId: 'owner' as AccountId } as Export);
  await again.create();
  expect(again.made).toEqual([id]);
});
