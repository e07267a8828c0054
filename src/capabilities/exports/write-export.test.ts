import { expect, it } from 'vitest';
import { EXPORT_FORMATS, exportFormatSpec } from '../../core/model/export-registry.ts';
import { loadWriter } from './write-export.ts';

it.each(EXPORT_FORMATS)('%s has a writer of what it takes', async (format) => {
  const { takes, write } = await loadWriter(format);
  expect(takes).toBe(exportFormatSpec(format).takes);
  expect(write).toBeInstanceOf(Function);
});
