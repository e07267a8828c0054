import { article } from './article.ts';
import { breadcrumbs } from './breadcrumbs.ts';
import { companyWebsite } from './company-website.ts';
import { event } from './event.ts';
import { forumThread } from './forum-thread.ts';
import { jobPosting } from './job-posting.ts';
import { linkedinProfile } from './linkedin-profile.ts';
import { organization } from './organization.ts';
import { product } from './product.ts';
import { recipe } from './recipe.ts';
import type { TypeSpec } from './type-spec.ts';

/** Every type there is. The order decides only between types that equally much speaks for. */
export const TYPES = {
  product,
  job_posting: jobPosting,
  recipe,
  event,
  forum_thread: forumThread,
  linkedin_profile: linkedinProfile,
  article,
  company_website: companyWebsite,
  organization,
  breadcrumbs,
} as const satisfies Readonly<Record<string, TypeSpec>>;

export type TypeName = keyof typeof TYPES;
export const TYPE_NAMES = Object.keys(TYPES) as readonly TypeName[];
