import { elementLines, elementText } from '../structured/element-text.ts';
import { addresses, type DataItem, itemValue, label, textValue, valuesOf } from '../structured/item.ts';
import { parseEmail } from '../values/contact.ts';
import { type Draft, defineType } from './draft.ts';
import type { TypedEvidence } from './evidence.ts';
import { choosePerSource, field, placeOfItem } from './field.ts';

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
function organizationItems(evidence: TypedEvidence): readonly DataItem[] {
  const all = evidence.items((type) => ORGANIZATION.test(type) && type !== 'Brand');
  const roots = new Set(evidence.parts.roots);
  return [...all.filter((item) => roots.has(item)), ...all.filter((item) => !roots.has(item))];
}

function employeesOf(item: DataItem): string | null {
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

function contactOf(evidence: TypedEvidence): Contact {
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

const WEBSITE_FIELDS = {
  companyName: field('text', 'What the company is called.'),
  description: field('body', 'What it does, in its own words.'),
  industry: field('text', 'The trade it is in.'),
  employeeCountRange: field('text', 'How many work there, a number or a range.'),
  headquarters: field('place', 'Where it is: `city region country raw`.'),
  contactEmail: field('email', 'Address for mail.'),
  contactPhone: field('phone', 'Telephone, E.164 where the country is known.'),
  foundedYear: field('number', 'When it was founded.'),
  logo: field('url', 'Its sign.'),
  profiles: field('urls', 'Its pages elsewhere: LinkedIn, GitHub …'),
  url: field('url', 'Its site.'),
} as const;

const HOME = /^\/(?:[a-z]{2}(?:-[a-z]{2})?\/?)?(?:index\.\w{2,5})?$/i;
const ABOUT =
  /^\/(?:[a-z]{2}\/)?(?:about|about-us|company|contact|contact-us|imprint|impressum|ueber-uns|kontakt|a-propos)\/?(?:index\.\w+)?$/i;
const EMPLOYEES =
  /(?:team of|over|more than|with|employs|about)?\s?(\d[\d.,]{0,12}(?:\s?(?:-|–|to)\s?\d[\d.,]{0,12})?\+?)\s+(?:employees|people|staff|team members|mitarbeite\w*|salariés|colleagues)/i;
const FOUNDED =
  /(?:founded|established|since|seit|gegründet|depuis|est\.?)\s+(?:in\s+)?((?:1[89]|20)\d{2})\b/i;
const COPYRIGHT =
  /(?:©|\(c\)|copyright)\s*(?:\d{4}(?:\s?[-–]\s?\d{4})?)?\s*(?:by\s+)?([\p{L}\p{N}&'. -]{2,60}?)(?:[.,|·]|\s{2}|\s(?:all rights|alle rechte)|$)/iu;

/** The site of a company, as its home, about or contact page shows it. */
export const companyWebsite = defineType({
  name: 'company_website',
  says: 'The site of a company, as its home, about or contact page shows it.',
  fields: WEBSITE_FIELDS,

  weigh(evidence) {
    const isHome = HOME.test(evidence.url.pathname);
    const isAbout = ABOUT.test(evidence.url.pathname);
    const hasItems = organizationItems(evidence).length > 0;
    const { email, phone, profiles } = contactOf(evidence);
    const contacts = [email, phone, profiles[0]].filter(
      (value) => value !== null && value !== undefined,
    ).length;
    if (isHome || isAbout) return hasItems ? 0.8 : contacts > 0 ? 0.65 : isHome ? 0.35 : 0.3;
    return hasItems && contacts > 1 ? 0.3 : 0;
  },

  read(evidence, draft) {
    for (const item of choosePerSource(evidence, organizationItems(evidence))) {
      const { source } = item;
      const contact = itemValue(item, 'contactPoint');
      draft.give('companyName', textValue(item, 'name', 'legalName'), source);
      draft.give('description', textValue(item, 'description', 'slogan'), source);
      draft.give('industry', label(item, 'industry', 'knowsAbout', 'naics'), source);
      draft.give('employeeCountRange', employeesOf(item), source);
      draft.give('headquarters', placeOfItem(item, 'address', 'location'), source);
      draft.give('contactEmail', textValue(item, 'email') ?? textValue(contact, 'email'), source);
      draft.give('contactPhone', textValue(item, 'telephone') ?? textValue(contact, 'telephone'), source);
      draft.give('foundedYear', textValue(item, 'foundingDate')?.slice(0, 4), source);
      draft.give('logo', addresses(item, 'logo')[0], source);
      draft.give('profiles', addresses(item, 'sameAs'), source);
      draft.give('url', textValue(item, 'url'), source);
    }
    const [site] = evidence.items((type) => type === 'WebSite');
    if (site !== undefined) draft.give('companyName', textValue(site, 'name'), site.source, 0.85);
    draft.give('companyName', evidence.openGraph('site_name'), 'open-graph', 0.75);
    draft.give('description', evidence.openGraph('description'), 'open-graph', 0.7);
    draft.give('description', evidence.meta('description'), 'meta', 0.7);
    readContact(evidence, draft);
    readText(evidence, draft);
  },
});

function readContact(evidence: TypedEvidence, draft: Draft<typeof WEBSITE_FIELDS>): void {
  const { markup } = evidence;
  const contact = contactOf(evidence);
  draft.give('contactEmail', contact.email, 'markup', 0.7);
  draft.give('contactPhone', contact.phone, 'markup', 0.7);
  draft.give('headquarters', contact.address, 'markup', 0.6);
  draft.give('profiles', contact.profiles, 'markup', 0.7);
  const logo = markup.tagged('img', 0, true).find((node) => {
    const marks = `${markup.attribute(node, 'class') ?? ''} ${markup.attribute(node, 'alt') ?? ''} ${markup.attribute(node, 'src') ?? ''}`;
    return /\blogo\b|logo\.|[-_]logo/i.test(marks);
  });
  if (logo !== undefined) {
    draft.give('logo', markup.attribute(logo, 'src'), 'markup', 0.6);
    draft.give(
      'companyName',
      markup.attribute(logo, 'alt')?.replace(/\s*(?:logo|home)\s*$/i, ''),
      'markup',
      0.55,
    );
  }
  draft.give('url', evidence.url.protocol.startsWith('http') ? evidence.url.origin : null, 'url', 0.6);
}

function readText(evidence: TypedEvidence, draft: Draft<typeof WEBSITE_FIELDS>): void {
  const { markup } = evidence;
  const text = elementText(markup.tree, 0, 30_000);
  const footer = markup.tagged('footer', 0, true).at(-1);
  const owner = footer === undefined ? null : COPYRIGHT.exec(elementText(markup.tree, footer, 2_000))?.[1];
  draft.give('companyName', owner?.trim(), 'text', 0.5);
  draft.give('companyName', evidence.ownTitle, 'text', 0.4);
  draft.give('employeeCountRange', EMPLOYEES.exec(text)?.[1], 'text', 0.4);
  draft.give('foundedYear', FOUNDED.exec(text)?.[1], 'text', 0.45);
  draft.give('description', markup.text(markup.heading, 300), 'text', 0.3);
}
