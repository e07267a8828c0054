import { given } from './flags.ts';

/** The flags that say which part of a page its content is. */
export interface PartFlags {
  readonly onlyMainContent?: boolean;
  readonly includeTags?: string[];
  readonly excludeTags?: string[];
  readonly maxPdfPages?: number;
}

export const PART_FLAGS = ['onlyMainContent', 'includeTags', 'excludeTags', 'maxPdfPages'] as const;

/** Which flag a field of the request comes from. */
export const PART_FLAG_OF = {
  onlyMainContent: '--no-only-main-content',
  includeTags: '--include-tags',
  excludeTags: '--exclude-tags',
  maxPdfPages: '--max-pdf-pages',
} as const;

/** The fields of a request that these flags stand for. */
export function partFieldsOf({
  onlyMainContent,
  includeTags,
  excludeTags,
  maxPdfPages,
}: PartFlags): Record<string, unknown> {
  return given({
    onlyMainContent: onlyMainContent === false ? false : undefined,
    includeTags,
    excludeTags,
    maxPdfPages,
  });
}
