import type { DataItem } from '../structured/item.ts';
import { addresses, itemValue, label, textValue, valuesOf } from '../structured/item-values.ts';
import { contactOf } from './contact.ts';
import type { Evidence } from './evidence.ts';
import { field } from './field.ts';
import { choosePerSource, placeOf } from './item-reading.ts';
import { defineType } from './type-spec.ts';

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
export function organizationItems(evidence: Evidence): readonly DataItem[] {
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
      draft.give('address', placeOf(item, 'address', 'location'), source);
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
