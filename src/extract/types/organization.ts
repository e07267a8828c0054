import { elementLines, elementText } from '../structured/element-text.ts';
import { addresses, type DataItem, itemValue, label, textValue, valuesOf } from '../structured/item.ts';
import { parseEmail } from '../values/email.ts';
import { defineType } from './draft.ts';
import type { TypedEvidence } from './evidence.ts';
import { field } from './field.ts';
import { choosePerSource, placeOfItem } from './item-reading.ts';

const FIELDS = {
  name: field('text', 'What it is called.'),
  legalName: field('text', 'Its name in law.'),
  description: field('body', 'What it says of itself.'),
  url: field('url', 'Its site.'),
  logo: field('url', 'Its sign.'),
  email: field('email', 'Address for mail.'),
  phone: field('phone', 'Telephone, E.164 where the country is known.'),
  address: field('place', 'Where it is: `city region country raw`.'),
  foundedAt: field('date', 'When it was founded.'),
  employeeCount: field('text', 'How many work there, a number or a range.'),
  vatId: field('text', 'VAT or tax number.'),
  profiles: field('urls', 'Its pages elsewhere: LinkedIn, GitHub …'),
} as const;

const ORGANIZATION =
  /(?:Organization|Corporation|Business|Store|Restaurant|Hotel|School|NGO|Airline|Brand|Agency|Company)$/;

/** Organizations a page describes, the one that publishes the site before those it only mentions. */
export function organizationItems(evidence: TypedEvidence): readonly DataItem[] {
  const all = evidence.items((type) => ORGANIZATION.test(type) && type !== 'Brand');
  const roots = new Set(evidence.parts.roots);
  return [...all.filter((item) => roots.has(item)), ...all.filter((item) => !roots.has(item))];
}

export function employeesOf(item: DataItem): string | null {
  const [value] = valuesOf(item, 'numberOfEmployees');
  if (value === undefined) return null;
  if (typeof value !== 'object') return String(value);
  const [min, max] = [textValue(value, 'minValue'), textValue(value, 'maxValue')];
  return (
    textValue(value, 'value') ??
    (min !== null && max !== null ? `${min}-${max}` : min === null ? null : `${min}+`)
  );
}

/** A company, a club, an authority, as described on any page. */
export const organization = defineType({
  name: 'organization',
  says: 'A company, a club, an authority, as described on any page.',
  fields: FIELDS,

  weigh(evidence) {
    const items = organizationItems(evidence);
    return items.length === 0 ? 0.05 : items.some((item) => evidence.parts.roots.includes(item)) ? 0.35 : 0.1;
  },

  read(evidence, draft) {
    for (const item of choosePerSource(evidence, organizationItems(evidence))) {
      const { source } = item;
      const contact = itemValue(item, 'contactPoint');
      draft.give('name', textValue(item, 'name'), source);
      draft.give('legalName', textValue(item, 'legalName'), source);
      draft.give('description', textValue(item, 'description', 'slogan'), source);
      draft.give('url', textValue(item, 'url'), source);
      draft.give('logo', addresses(item, 'logo')[0], source);
      draft.give('email', textValue(item, 'email') ?? textValue(contact, 'email'), source);
      draft.give('phone', textValue(item, 'telephone') ?? textValue(contact, 'telephone'), source);
      draft.give('address', placeOfItem(item, 'address', 'location'), source);
      draft.give('foundedAt', textValue(item, 'foundingDate'), source);
      draft.give('employeeCount', employeesOf(item), source);
      draft.give('vatId', label(item, 'vatID', 'taxID'), source);
      draft.give('profiles', addresses(item, 'sameAs'), source);
    }
    draft.give('name', evidence.openGraph('site_name'), 'open-graph', 0.7);
    draft.give('description', evidence.openGraph('description'), 'open-graph', 0.5);
    const contact = contactOf(evidence);
    draft.give('email', contact.email, 'markup', 0.65);
    draft.give('phone', contact.phone, 'markup', 0.65);
    draft.give('address', contact.address, 'markup', 0.6);
    draft.give('profiles', contact.profiles, 'markup', 0.6);
    draft.give('url', evidence.url.protocol.startsWith('http') ? evidence.url.origin : null, 'url', 0.5);
  },
});

const SOCIAL =
  /^https?:\/\/(?:[\w-]+\.)?(?:linkedin\.com\/(?:company|school|in)|twitter\.com|x\.com|facebook\.com|instagram\.com|youtube\.com|github\.com|xing\.com|tiktok\.com|mastodon\.\w+|bsky\.app\/profile)\/[^/?#]/i;
const SHARE = /\/(?:share|sharer|intent|shareArticle|dialog|hashtag)/i;
const PHONE_LABEL =
  /(?:tel(?:ephone|efon)?|phone|call(?: us)?|fon|t)\s*[.:]\s*(\+?[\d(][\d\s()./-]{6,20}\d)/i;
const MOST_LINKS = 50;

/** Contact details of the site, from the whole page, because they are often in the footer. */
interface Contact {
  readonly email: string | null;
  readonly phone: string | null;
  readonly address: string | null;
  readonly profiles: readonly string[];
}

export function contactOf(evidence: TypedEvidence): Contact {
  const { markup } = evidence;
  const links = markup.tagged('a', 0, true).map((node) => markup.attribute(node, 'href') ?? '');
  const email = links.find((href) => /^mailto:[^?]/i.test(href))?.replace(/^mailto:|\?.*$/gi, '') ?? null;
  const phone = links.find((href) => /^tel:/i.test(href))?.slice(4) ?? null;
  const profiles = links.filter((href) => SOCIAL.test(href) && !SHARE.test(href)).slice(0, MOST_LINKS);
  const [place] = markup.tagged('address', 0, true);
  const address = place === undefined ? null : addressText(evidence, place);
  const text = email !== null && phone !== null ? '' : contactText(evidence);
  return {
    email: email ?? parseEmail(text)?.value ?? null,
    phone: phone ?? PHONE_LABEL.exec(text)?.[1] ?? null,
    address,
    profiles: [...new Set(profiles)],
  };
}

/** The lines of an address without those that are telephone numbers or e-mail addresses. */
function addressText({ markup }: TypedEvidence, node: number): string | null {
  const lines = elementLines(markup.tree, node, 300).filter(
    (line) => !/@|^(?:tel|phone|fon|fax|e-?mail)\b|^\+?[\d\s()/-]{7,}$/i.test(line),
  );
  const text = lines.join(', ').replace(/,{2,}/g, ',');
  return text === '' ? null : text;
}

function contactText({ markup }: TypedEvidence): string {
  const footer = markup.tagged('footer', 0, true).at(-1);
  const named = markup.marked.find(({ mark }) =>
    /[\s_-](?:contact|kontakt|impressum|imprint)[\s_-]/.test(mark),
  )?.node;
  return [named, footer]
    .flatMap((node) => (node === undefined ? [] : [elementText(markup.tree, node, 3_000)]))
    .join(' ');
}
