import type { Evidence } from '../block-features.ts';
import type { TypedObject } from '../page-signals.ts';
import type { PageType } from '../page-type.ts';
import type { ContentHead } from './content-head.ts';
import type { OwnElements } from './own-elements.ts';
import type { Site } from './person-name.ts';

/** What the author and the dates of a page are looked for in. */
export interface FactSources {
  readonly evidence: Evidence;
  readonly type: PageType;
  readonly site: Site;
  /** The objects in the data of the page that are about all of it. */
  readonly works: readonly TypedObject[];
  readonly head: ContentHead | null;
  readonly elements: OwnElements;
}
