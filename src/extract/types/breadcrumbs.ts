import { field } from './field.ts';
import { defineType } from './type-spec.ts';

/** Where a page is in its site. */
export const breadcrumbs = defineType({
  name: 'breadcrumbs',
  says: 'Where a page is in its site.',
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
    draft.give('url', evidence.address, 'meta', 0.9);
  },
});
