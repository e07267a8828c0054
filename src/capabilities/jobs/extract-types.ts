import type { TypeName } from '../../extract/types/extract-typed.ts';

/** Names only, so that validating a request does not load the extractors. */
const TYPES: Readonly<Record<'auto' | TypeName, true>> = {
  auto: true,
  product: true,
  job_posting: true,
  recipe: true,
  event: true,
  forum_thread: true,
  linkedin_profile: true,
  article: true,
  company_website: true,
  organization: true,
  breadcrumbs: true,
};

export const EXTRACT_TYPES = Object.keys(TYPES) as readonly ('auto' | TypeName)[];
