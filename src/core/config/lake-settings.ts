import { z } from 'zod';
import { whole } from './field-types.ts';

/** Where the lake lies, and what SQL over it may take. */
export const lakeSettings = {
  lake: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Folder, or `s3://bucket/path` in the object store of `SCRAPIFIE_S3_URL`, for the lake; without it, `lake` in that bucket, or in the data folder.',
    ),
  lakeCacheBytes: whole(1_048_576, 1_000_000_000_000_000)
    .default(4_294_967_296)
    .describe('Bytes of a lake in an object store that are kept in the data folder for SQL.'),
  sqlMemoryMb: whole(64, 1_048_576).default(512).describe('Megabytes of memory that one SQL query may take.'),
  sqlConcurrency: whole(1, 100)
    .default(2)
    .describe('SQL queries that this process runs at once, each in a process of its own.'),
};
