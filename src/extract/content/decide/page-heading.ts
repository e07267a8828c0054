import { headingLevel, squeeze } from '../features/block-facts.ts';
import type { Block } from '../features/blocks.ts';
import { ELEMENT_FLAG } from '../features/element-flags.ts';
import type { ContentEvidence } from '../features/evidence.ts';
import type { PageSignals } from '../features/page-signals.ts';
import { PAGE_TYPES } from '../model/page-type.ts';

const MOST_WORDS = 40;
const MOST_OBJECTS = 5;
const AWAY =
  ELEMENT_FLAG.nav | ELEMENT_FLAG.footer | ELEMENT_FLAG.aside | ELEMENT_FLAG.dialog | ELEMENT_FLAG.unseen;
const BODY = ELEMENT_FLAG.main | ELEMENT_FLAG.article;

const TITLED = [PAGE_TYPES.indexOf('article'), PAGE_TYPES.indexOf('forum')];
const TITLED_CHANCE = 0.5;
/** In articles and threads a heading with a lower score is the title alone. */
const LEAST_TITLE_SUM = -2.2;

/**
 * The heading of the page introduces its content and belongs to it. Articles and threads have their title beside their
 * content; there the scores decide. Changes `isKept`.
 */
export function keepPageHeading(
  evidence: ContentEvidence,
  types: ArrayLike<number>,
  sums: Float64Array,
  isKept: Uint8Array,
): void {
  const heading = pageHeading(evidence);
  if (heading < 0 || isKept.indexOf(1, heading + 1) < 0) return;
  const titled = TITLED.reduce((sum, type) => sum + (types[type] ?? 0), 0);
  if (titled >= TITLED_CHANCE && (sums[heading] as number) < LEAST_TITLE_SUM) return;
  // A heading may have several lines.
  const { container } = evidence.blocks[heading] as Block;
  for (let index = heading; evidence.blocks[index]?.container === container; index++) isKept[index] = 1;
}

/** The place of the block with the heading of the page; -1 without one. */
export function pageHeading({ tree, blocks, shape, signals }: ContentEvidence): number {
  const titles = titlesOf(signals)
    .map(squeeze)
    .filter((title) => title !== '');
  const site = squeeze(signals.meta.get('og:site_name') ?? '');
  let only = -1;
  let count = 0;
  for (let index = 0; index < blocks.length; index++) {
    const block = blocks[index] as Block;
    if (headingLevel(tree, block) !== 1 || block.words > MOST_WORDS) continue;
    const around = shape.flagsAround[block.container] as number;
    if ((around & AWAY) !== 0) continue;
    const text = squeeze(block.text);
    // The heading of a site, in its header, stands on every page.
    const isInBody = (around & BODY) !== 0;
    const isOfSite =
      text === site || ((around & ELEMENT_FLAG.header) !== 0 && !isInBody && block.linkWords > 0);
    if (text === '' || isOfSite) continue;
    if (titles.some((title) => title.includes(text) || text.includes(title))) return index;
    if (isInBody || (around & ELEMENT_FLAG.header) === 0) {
      count++;
      only = index;
    }
  }
  return count === 1 ? only : -1;
}

/** The titles that a page gives itself, and the names of what it is about. */
function titlesOf({ title, meta, objects }: PageSignals): string[] {
  const about = objects.slice(0, MOST_OBJECTS).flatMap(({ value }) => [value.headline, value.name]);
  return [title, meta.get('og:title'), meta.get('twitter:title'), ...about].filter(
    (name) => typeof name === 'string',
  );
}
