import { expect, it } from 'vitest';
import { ERRORS } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { toldError } from './export-worker.ts';

it('an export that found the disk full names no path of the server', () => {
  const full = new ScrapifieError('DISK_FULL', 'No space left to write /srv/data/exports/1.part.');
  expect(toldError(full)).toEqual({ code: 'DISK_FULL', message: ERRORS.DISK_FULL.meaning });
});

it('an export that failed for what it was asked says so', () => {
  const message = 'The diff needs `against`.';
  expect(toldError(new ScrapifieError('EXPORT_FAILED', message))).toEqual({ code: 'EXPORT_FAILED', message });
});
