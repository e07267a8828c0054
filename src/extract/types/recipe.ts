import { elementText } from '../structured/element-text.ts';
import {
  addresses,
  type DataItem,
  type ItemValue,
  isItem,
  itemValue,
  labels,
  textValue,
  valuesOf,
} from '../structured/item.ts';
import { type Draft, defineType } from './draft.ts';
import type { TypedEvidence } from './evidence.ts';
import { aboutItems, field, keywordsOf, ratingOf } from './field.ts';
import type { Markup } from './markup.ts';

const FIELDS = {
  name: field('text', 'The dish.'),
  authors: field('texts', 'Who wrote it down.'),
  description: field('body', 'What is said of it.'),
  ingredients: field('texts', 'One line each.'),
  instructions: field('texts', 'One step each.'),
  prepMinutes: field('minutes', 'Time to prepare.'),
  cookMinutes: field('minutes', 'Time to cook.'),
  totalMinutes: field('minutes', 'Both together.'),
  yield: field('text', 'How many it is for.'),
  category: field('text', 'Starter, dessert …'),
  cuisine: field('text', 'Where it is eaten.'),
  keywords: field('texts', 'What it is found by.'),
  calories: field('number', 'Kilocalories of a serving.'),
  rating: field('number', 'Mean of all opinions, on the scale of the page.'),
  reviewCount: field('count', 'How many opinions there are.'),
  images: field('urls', 'Addresses of its pictures.'),
  publishedAt: field('date', 'When it appeared.'),
  url: field('url', 'The address the page wants to be known by.'),
} as const;

const INGREDIENTS =
  /[\s_-](?:recipe-?ingredients?|ingredients?|wprm-recipe-ingredients?|tasty-recipes-ingredients|zutaten|p-ingredient)[\s_-]/;
const STEPS =
  /[\s_-](?:recipe-?instructions?|instructions?|directions?|method|steps|wprm-recipe-instructions?|zubereitung|e-instructions)[\s_-]/;
const TIMES = {
  prepMinutes: /[\s_-]prep(?:aration)?[\s_-]?time/,
  cookMinutes: /[\s_-]cook(?:ing)?[\s_-]?time/,
  totalMinutes: /[\s_-]total[\s_-]?time/,
} as const;
const SERVINGS = /[\s_-](?:servings?|yield|recipe-?yield|portions?)[\s_-]/;
const MOST_STEPS = 100;
const MOST_NESTED = 4;

/** How to make a dish. */
export const recipe = defineType({
  name: 'recipe',
  says: 'How to make a dish.',
  fields: FIELDS,

  weigh(evidence) {
    const items = evidence.items((type) => type === 'Recipe');
    if (items.length > 0) return items.length > 3 ? 0.3 : 0.97;
    const { markup } = evidence;
    const [ingredients, steps] = [markup.firstNamed(INGREDIENTS), markup.firstNamed(STEPS)];
    if (ingredients === null || steps === null) return 0;
    return markup.tagged('li', ingredients).length > 1 ? 0.85 : 0.5;
  },

  read(evidence, draft) {
    for (const item of aboutItems(evidence, (type) => type === 'Recipe')) {
      const { source } = item;
      draft.give('name', textValue(item, 'name'), source);
      draft.give('authors', labels(item, 'author'), source);
      draft.give('description', textValue(item, 'description'), source);
      draft.give('ingredients', labels(item, 'recipeIngredient', 'ingredients'), source);
      draft.give('instructions', stepsOf(valuesOf(item, 'recipeInstructions'), MOST_NESTED), source);
      draft.give('prepMinutes', textValue(item, 'prepTime'), source);
      draft.give('cookMinutes', textValue(item, 'cookTime', 'performTime'), source);
      draft.give('totalMinutes', textValue(item, 'totalTime'), source);
      draft.give('yield', labels(item, 'recipeYield', 'yield').at(-1), source);
      draft.give('category', labels(item, 'recipeCategory')[0], source);
      draft.give('cuisine', labels(item, 'recipeCuisine')[0], source);
      draft.give('keywords', keywordsOf(item, 'keywords'), source);
      draft.give('calories', textValue(itemValue(item, 'nutrition'), 'calories'), source);
      const { rating, reviewCount } = ratingOf(item);
      draft.give('rating', rating, source);
      draft.give('reviewCount', reviewCount, source);
      draft.give('images', addresses(item, 'image'), source);
      draft.give('publishedAt', textValue(item, 'datePublished'), source);
      draft.give('url', textValue(item, 'url'), source);
    }
    readMarkup(evidence, draft);
  },
});

/** Steps are texts, `HowToStep` with a text, or sections of them; one long text is cut at its lines. */
function stepsOf(values: readonly ItemValue[], depth: number): string[] {
  const steps = values.slice(0, MOST_STEPS).flatMap((value): string[] => {
    if (!isItem(value)) return lines(String(value));
    const inner = valuesOf(value, 'itemListElement', 'steps');
    if (inner.length > 0 && depth > 0) return stepsOf(inner, depth - 1);
    return [stepText(value)].filter((text) => text !== '');
  });
  return steps.slice(0, MOST_STEPS);
}

function stepText(step: DataItem): string {
  return textValue(step, 'text', 'description', 'name') ?? '';
}

function lines(text: string): string[] {
  return text
    .split(/\r?\n|<\/?(?:p|li|br|ol|ul)\b[^>]{0,200}>/i)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function readMarkup(evidence: TypedEvidence, draft: Draft<typeof FIELDS>): void {
  const { markup } = evidence;
  draft.give('name', markup.text(markup.heading, 300), 'markup', 0.75);
  draft.give('ingredients', listIn(markup, INGREDIENTS), 'markup', 0.7);
  draft.give('instructions', listIn(markup, STEPS), 'markup', 0.7);
  for (const [name, pattern] of Object.entries(TIMES)) {
    const node = markup.firstNamed(pattern);
    if (node === null) continue;
    const [time] = markup.tagged('time', node);
    const text = elementText(markup.tree, node, 80).replace(/^[^\d]{0,30}/, '');
    draft.give(
      name as keyof typeof TIMES,
      (time === undefined ? null : markup.attribute(time, 'datetime')) ?? text,
      'markup',
      0.65,
    );
  }
  draft.give(
    'yield',
    markup.textNamed(SERVINGS, 60)?.replace(/^(?:servings?|yields?|serves|portionen)\s*:?\s*/i, ''),
    'markup',
    0.6,
  );
  draft.give('description', evidence.openGraph('description') ?? evidence.meta('description'), 'meta', 0.6);
  draft.give('images', evidence.openGraphAll('image'), 'open-graph');
  draft.give('authors', evidence.meta('author'), 'meta');
  draft.give('url', evidence.address.url, evidence.address.source, 0.9);
}

/** The entries of the first list with such a name. */
function listIn(markup: Markup, pattern: RegExp): string[] {
  for (const node of markup.named(pattern)) {
    const entries = markup.tagged('li', node);
    const all = entries.length > 0 ? entries : markup.tagged('p', node);
    const texts = all
      .slice(0, MOST_STEPS)
      .map((entry) => elementText(markup.tree, entry, 2_000))
      .filter((text) => text !== '');
    if (texts.length > 1) return texts;
  }
  return [];
}
