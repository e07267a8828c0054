import { article } from './article.ts';
import { companyWebsite } from './company-website.ts';
import { defineType, type TypeSpec } from './draft.ts';
import { event } from './event.ts';
import { field } from './field.ts';
import { forumThread } from './forum-thread.ts';
import { jobPosting } from './job-posting.ts';
import { linkedinProfile } from './linkedin-profile.ts';
import { organization } from './organization.ts';
import { product } from './product/product.ts';
import { recipe } from './recipe.ts';

/** The position of a page in its site. */
const breadcrumbs = defineType({
  name: 'breadcrumbs',
  says: 'The position of a page in its site.',
  fields: {
    items: field('crumbs', 'From the root down: `name` and `url` each.'),
    url: field('url', 'The address the page wants to be known by.'),
  },

  weigh(evidence) {
    return evidence.parts.breadcrumbs === null ? 0 : 0.32;
  },

  read(evidence, draft) {
    const trail = evidence.parts.breadcrumbs;
    if (trail !== null) draft.give('items', trail.crumbs, trail.from);
    draft.give('url', evidence.address.url, evidence.address.source, 0.9);
  },
});

/** Every type there is. The order decides between types with equal scores. */
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
