import { addresses, itemValue, itemValues, label, labels, textValue } from '../structured/item.ts';
import { type Draft, defineType } from './draft.ts';
import type { TypedEvidence } from './evidence.ts';
import { aboutItems, field, placeOfItem, readPrice } from './field.ts';

const FIELDS = {
  name: field('text', 'What it is called.'),
  startAt: field('date', 'When it begins, ISO 8601.'),
  endAt: field('date', 'When it ends.'),
  status: field('text', '`EventScheduled`, `EventCancelled`, `EventPostponed` … as in schema.org.'),
  isOnline: field('flag', 'Whether it can be attended online.'),
  venue: field('text', 'The name of the place.'),
  location: field('place', 'Where: `city region country raw`.'),
  organizer: field('text', 'Who holds it.'),
  performers: field('texts', 'Who appears.'),
  price: field('price', 'What a ticket costs; the lowest where there are several.'),
  currency: field('currency', 'ISO 4217.'),
  availability: field('availability', 'Whether there are tickets.'),
  ticketUrl: field('url', 'Where to get one.'),
  images: field('urls', 'Addresses of its pictures.'),
  description: field('body', 'What it is about.'),
  url: field('url', 'The address the page wants to be known by.'),
} as const;

const EVENT = /^(?:\w*Event|Festival|Hackathon|CourseInstance|EventSeries)$/;
const NAMED = /[\s_-]event[\s_-]{0,2}(?:date|time|start|details|venue|schedule)|\stribe-events?[\s_-]/;
const START =
  /[\s_-](?:event-?(?:date|start|time)|dtstart|start-date|tribe-event-date-start|date-time)[\s_-]/;
const END = /[\s_-](?:event-?end|dtend|end-date|tribe-event-date-end)[\s_-]/;
const VENUE = /[\s_-](?:venue|venue-name|event-?venue|tribe-venue|p-location)[\s_-]/;
const ADDRESS =
  /[\s_-](?:address|venue-address|event-?address|tribe-address|tribe-venue-location|event-?location)[\s_-]/;
const ORGANIZER = /[\s_-](?:organizer|organiser|event-?organizer|host|tribe-organizer)[\s_-]/;
const COST = /[\s_-](?:event-?cost|ticket-price|tribe-events-cost|price|cost)[\s_-]/;
const TEXT = /[\s_-](?:event-?description|tribe-events-content|event-?content|e-content)[\s_-]/;

/** Something that takes place. */
export const event = defineType({
  name: 'event',
  says: 'Something that takes place.',
  fields: FIELDS,

  weigh(evidence) {
    const items = evidence
      .items((type) => EVENT.test(type))
      .filter((item) => item.properties.has('startDate'));
    if (items.length > 0) return items.length > 5 ? 0.3 : 0.95;
    if (evidence.openGraph('event:start_time') !== null || evidence.openGraph('type') === 'event')
      return 0.85;
    const { markup } = evidence;
    const isNamed = markup.firstNamed(NAMED) !== null || markup.firstNamed(/\s(?:vevent|h-event)\s/) !== null;
    return isNamed && markup.firstNamed(START) !== null ? 0.7 : isNamed ? 0.4 : 0;
  },

  read(evidence, draft) {
    for (const item of aboutItems(evidence, (type) => EVENT.test(type))) {
      const { source } = item;
      const offers = itemValues(item, 'offers');
      const open = offers.filter((one) => !/SoldOut|OutOfStock/.test(label(one, 'availability') ?? ''));
      const [offer] = open.length > 0 ? open : offers;
      draft.give('name', textValue(item, 'name'), source);
      draft.give('startAt', textValue(item, 'startDate'), source);
      draft.give('endAt', textValue(item, 'endDate'), source);
      draft.give('status', label(item, 'eventStatus')?.replace(/^.*\//, ''), source);
      const mode = label(item, 'eventAttendanceMode');
      const places = itemValues(item, 'location');
      const isVirtual = places.some(({ types }) => types.includes('VirtualLocation'));
      if (mode !== null || isVirtual)
        draft.give('isOnline', isVirtual || /Online|Mixed/.test(mode ?? ''), source);
      const place = places.find(({ types }) => !types.includes('VirtualLocation')) ?? null;
      draft.give('venue', textValue(place, 'name'), source);
      draft.give(
        'location',
        place === null
          ? placeOfItem(item, 'location')
          : (placeOfItem(place, 'address') ?? textValue(place, 'name')),
        source,
      );
      draft.give('organizer', label(item, 'organizer'), source);
      draft.give('performers', labels(item, 'performer', 'performers'), source);
      const prices = (open.length > 0 ? open : offers).flatMap(
        (one) => textValue(one, 'lowPrice', 'price') ?? [],
      );
      const lowest = prices
        .map(Number)
        .filter(Number.isFinite)
        .sort((a, b) => a - b)[0];
      draft.give('currency', textValue(offer, 'priceCurrency'), source);
      draft.give('price', lowest ?? prices[0], source);
      draft.give('availability', label(offer, 'availability'), source);
      draft.give('ticketUrl', textValue(offer, 'url'), source);
      draft.give('images', addresses(item, 'image'), source);
      draft.give('description', textValue(item, 'description'), source);
      draft.give('url', textValue(item, 'url') ?? itemValue(item, 'mainEntityOfPage')?.id, source);
    }
    readMarkup(evidence, draft);
  },
});

function readMarkup(evidence: TypedEvidence, draft: Draft<typeof FIELDS>): void {
  const { markup } = evidence;
  draft.give('startAt', evidence.openGraph('event:start_time'), 'open-graph');
  draft.give('endAt', evidence.openGraph('event:end_time'), 'open-graph');
  draft.give('name', markup.text(markup.heading, 300), 'markup', 0.7);
  draft.give('name', evidence.openGraph('title'), 'open-graph', 0.7);
  const [first, second] = markup
    .tagged('time')
    .map((node) => markup.attribute(node, 'datetime'))
    .filter((time) => time !== null);
  draft.give('startAt', titleOf(evidence, START) ?? first, 'markup', 0.65);
  draft.give('endAt', titleOf(evidence, END) ?? second, 'markup', 0.55);
  draft.give('startAt', markup.textNamed(START, 100), 'text', 0.45);
  draft.give(
    'venue',
    markup.textNamed(VENUE, 120)?.replace(/^(?:venue|location|ort|lieu)\s*:\s*/i, ''),
    'markup',
    0.6,
  );
  draft.give('location', markup.textNamed(ADDRESS, 200), 'markup', 0.6);
  draft.give(
    'organizer',
    markup.textNamed(ORGANIZER, 120)?.replace(/^(?:organi[sz]er|hosted by|veranstalter)\s*:?\s*/i, ''),
    'markup',
    0.6,
  );
  const cost = markup.textNamed(COST, 80);
  const price = cost === null ? null : readPrice(cost, evidence.context());
  draft.give('price', price?.amount, 'markup', 0.6);
  draft.give('currency', price?.currency, 'markup', 0.6);
  draft.give('description', markup.textNamed(TEXT, 20_000), 'markup', 0.6);
  draft.give('description', evidence.openGraph('description') ?? evidence.meta('description'), 'meta', 0.5);
  draft.give('images', evidence.openGraphAll('image'), 'open-graph');
  draft.give('url', evidence.address.url, evidence.address.source, 0.9);
}

/** Dates for machines stand in `datetime` or, in older pages, in `title`. */
function titleOf({ markup }: TypedEvidence, pattern: RegExp): string | null {
  const node = markup.firstNamed(pattern);
  if (node === null) return null;
  const [inner] = markup.tagged('time', node);
  const title = markup.attribute(node, 'title') ?? markup.attribute(node, 'content');
  return (
    (inner === undefined ? null : markup.attribute(inner, 'datetime')) ??
    markup.attribute(node, 'datetime') ??
    (title !== null && /^\d{4}-/.test(title) ? title : null)
  );
}
