import { Option } from 'commander';
import { wholeNumber } from './flag-values.ts';

/** The options about archives; see docs/archives.md. */
export const ARCHIVE_FLAGS = {
  replay: () =>
    new Option(
      '--replay <path>',
      'answer from a WARC or WACZ file, or a folder of them, in place of the web',
    ),
  warc: () =>
    new Option(
      '--warc <path>',
      'record everything that is received: a file that ends in .warc.gz, or a folder',
    ),
  warcSize: () =>
    new Option('--warc-size <bytes>', 'begin another file at this size (default: 1000000000)').argParser(
      wholeNumber,
    ),
} as const;
