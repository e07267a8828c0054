import { elementText } from '../structured/element-text.ts';
import {
  addresses,
  type DataItem,
  itemValue,
  itemValues,
  label,
  labels,
  textValue,
} from '../structured/item.ts';
import { type Draft, defineType } from './draft.ts';
import type { TypedEvidence } from './evidence.ts';
import {
  aboutItems,
  FIELD_READERS,
  field,
  fieldText,
  placeOfItem,
  type ReadingContext,
  type Station,
} from './field.ts';
import type { Markup } from './markup.ts';

const FIELDS = {
  name: field('text', 'Who it is.'),
  headline: field('text', 'The line below the name.'),
  currentCompany: field('text', 'Where the person works now.'),
  jobTitle: field('text', 'What the person does there.'),
  location: field('place', 'Where: `city region country raw`.'),
  summary: field('body', 'What the person says of themselves.'),
  image: field('url', 'Their picture.'),
  experience: field('stations', 'Jobs: `title organization startAt endAt` each.'),
  education: field('stations', 'Schools: `title organization startAt endAt` each.'),
  followerCount: field('count', 'How many follow.'),
  url: field('url', 'The address of the profile.'),
} as const;

type ProfileFields = typeof FIELDS;

const HEADLINE = /[\s_-](?:top-card-layout__headline|profile-headline|headline)[\s_-]/;
const NAME = /[\s_-](?:top-card-layout__title|profile-name|full-name)[\s_-]/;
const LOCATION = /[\s_-](?:profile-info-subheader|top-card__subline-item|profile-location|location)[\s_-]/;
const SUMMARY = /[\s_-](?:summary|about-section|profile-summary)[\s_-]/;
const JOBS = /[\s_-](?:experience-item|experience__item)[\s_-]/;
const SCHOOLS = /[\s_-](?:education__list-item|education-item)[\s_-]/;
const TITLE =
  /[\s_-](?:experience-item__title|profile-section-card__title|education__item--degree-info|item-title|degree-info)[\s_-]/;
const PLACE =
  /[\s_-](?:experience-item__subtitle|profile-section-card__subtitle|education__item--school-name|item-subtitle|school-name)[\s_-]/;
const DATES = /[\s_-](?:date-range|duration|dates)[\s_-]/;
const CARD = /[\s_-]top-card__position-info[\s_-]|[\s_-]top-card-link__description[\s_-]|\bcurrent-company\b/;
const FOLLOWERS = /(\d[\d.,]{0,12}[KM]?)\+?\s+(?:followers|abonnenten|abonnés|seguidores)/i;
const PRESENT = /present|heute|aujourd|actualidad|current/i;
const SCHOOL = /Educational|School|University|College/;
const MOST_STATIONS = 50;

/** A public profile of a person on LinkedIn or built like one. */
export const linkedinProfile = defineType({
  name: 'linkedin_profile',
  says: 'A public profile of a person on LinkedIn or built like one.',
  fields: FIELDS,

  weigh(evidence) {
    const { hostname, pathname } = evidence.url;
    if (/(?:^|\.)linkedin\.com$/.test(hostname)) return /^\/(?:in|pub)\//.test(pathname) ? 0.97 : 0;
    const people = evidence.items((type) => type === 'Person');
    const isProfile =
      evidence.openGraph('type') === 'profile' || evidence.items((type) => type === 'ProfilePage').length > 0;
    const hasCard =
      evidence.markup.firstNamed(HEADLINE) !== null && evidence.markup.firstNamed(JOBS) !== null;
    if (hasCard) return 0.8;
    return isProfile && people.length > 0 ? 0.7 : isProfile ? 0.31 : 0;
  },

  read(evidence, draft) {
    const context = evidence.context();
    for (const item of aboutItems(evidence, (type) => type === 'Person')) {
      const { source } = item;
      draft.give('name', textValue(item, 'name'), source);
      draft.give('headline', textValue(item, 'headline', 'disambiguatingDescription'), source);
      draft.give('jobTitle', labels(item, 'jobTitle')[0], source);
      draft.give('currentCompany', label(item, 'worksFor'), source);
      draft.give('location', placeOfItem(item, 'address', 'homeLocation', 'workLocation'), source);
      draft.give('summary', textValue(item, 'description'), source);
      draft.give('image', addresses(item, 'image')[0], source);
      // LinkedIn lists former employers among the schools.
      const former = itemValues(item, 'alumniOf').filter(
        ({ types }) => !types.some((type) => SCHOOL.test(type)),
      );
      const schools = itemValues(item, 'alumniOf').filter((place) => !former.includes(place));
      const jobs = stationsIn(itemValues(item, 'worksFor'), labels(item, 'jobTitle'), context);
      draft.give('experience', [...jobs, ...stationsIn(former, [], context)], source);
      draft.give('education', stationsIn(schools, [], context), source);
      draft.give('followerCount', followersOf(item), source);
      draft.give('url', textValue(item, 'url'), source);
    }
    readHead(evidence, draft);
    readMarkup(evidence, draft);
    draft.give('url', evidence.address.url, evidence.address.source, 0.9);
  },
});

function stationsIn(
  places: readonly DataItem[],
  titles: readonly string[],
  context: ReadingContext,
): Station[] {
  return places.slice(0, MOST_STATIONS).map((place, index) => {
    const role = itemValue(place, 'member', 'employee') ?? place;
    return {
      title: fieldText(textValue(role, 'roleName', 'description', 'jobTitle') ?? titles[index]),
      organization: fieldText(textValue(place, 'name')),
      startAt: FIELD_READERS.date(textValue(role, 'startDate'), context),
      endAt: FIELD_READERS.date(textValue(role, 'endDate'), context),
    };
  });
}

function followersOf(item: DataItem): string | null {
  const counters = itemValues(item, 'interactionStatistic');
  const found = counters.find((one) =>
    /Follow/.test(label(one, 'interactionType', 'name') ?? itemValue(one, 'interactionType')?.types[0] ?? ''),
  );
  return textValue(found, 'userInteractionCount');
}

/** "Jane Doe - Head of Data - Acme | LinkedIn" */
function readHead(evidence: TypedEvidence, draft: Draft<ProfileFields>): void {
  const title = (evidence.openGraph('title') ?? evidence.parts.head.title ?? '').replace(
    /\s*[|–]\s*LinkedIn\s*$/i,
    '',
  );
  const parts = title.split(/\s+[-–]\s+/);
  const [name, first, second] = parts;
  const source = evidence.openGraph('title') === null ? 'text' : 'open-graph';
  const given = [evidence.openGraph('profile:first_name'), evidence.openGraph('profile:last_name')].filter(
    (part) => part !== null,
  );
  draft.give('name', given.length === 2 ? given.join(' ') : name, source, 0.75);
  if (second !== undefined) draft.give('headline', first, 'text', 0.5);
  draft.give('currentCompany', second ?? first, 'text', 0.5);
  draft.give('image', evidence.openGraph('image'), 'open-graph', 0.7);
  draft.give('summary', evidence.openGraph('description'), 'open-graph', 0.4);
}

function readMarkup(evidence: TypedEvidence, draft: Draft<ProfileFields>): void {
  const { markup } = evidence;
  const context = evidence.context();
  draft.give('name', markup.textNamed(NAME, 100) ?? markup.text(markup.heading, 100), 'markup', 0.8);
  draft.give('headline', markup.textNamed(HEADLINE, 300), 'markup', 0.8);
  draft.give(
    'location',
    markup
      .textNamed(LOCATION, 120)
      ?.replace(/\s*(?:contact info|\d[\d.,+]* (?:connections|followers)).*$/i, ''),
    'markup',
    0.7,
  );
  draft.give(
    'summary',
    markup.textNamed(SUMMARY, 5_000)?.replace(/^(?:about|summary|info)\s+/i, ''),
    'markup',
    0.7,
  );
  draft.give('currentCompany', markup.textNamed(CARD, 100), 'markup', 0.7);
  const jobs = shownStations(markup, JOBS, context);
  const schools = shownStations(markup, SCHOOLS, context);
  draft.give('experience', jobs, 'markup', 0.65);
  draft.give('education', schools, 'markup', 0.65);
  const current = jobs.find(({ endAt }) => endAt === null);
  draft.give('currentCompany', current?.organization, 'markup', 0.6);
  draft.give('jobTitle', current?.title, 'markup', 0.6);
  const [main] = markup.tagged('main');
  draft.give('followerCount', FOLLOWERS.exec(elementText(markup.tree, main ?? 0, 20_000))?.[1], 'text', 0.6);
}

function shownStations(markup: Markup, pattern: RegExp, context: ReadingContext): Station[] {
  let past = 0;
  return markup
    .named(pattern)
    .slice(0, MOST_STATIONS)
    .flatMap((node) => {
      // Parts of an entry are named after it.
      if (node < past) return [];
      past = markup.tree.ends[node] as number;
      const title = fieldText(markup.textNamed(TITLE, 200, node));
      const organization = fieldText(markup.textNamed(PLACE, 200, node));
      if (title === null && organization === null) return [];
      const [start, end] = (markup.textNamed(DATES, 80, node) ?? '').split(/\s+[-–—]\s+/);
      const isOver = end !== undefined && !PRESENT.test(end);
      return [
        {
          title,
          organization,
          startAt: FIELD_READERS.date(start, context),
          endAt: isOver ? FIELD_READERS.date(end, context) : null,
        },
      ];
    });
}
