import { elementText } from '../structured/element-text.ts';
import { addresses, itemValue, label, textValue } from '../structured/item.ts';
import { type Draft, defineType } from './draft.ts';
import type { TypedEvidence } from './evidence.ts';
import { field } from './field.ts';
import { choosePerSource, placeOfItem } from './item-reading.ts';
import { contactOf, employeesOf, organizationItems } from './organization.ts';

const FIELDS = {
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
  fields: FIELDS,

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

function readContact(evidence: TypedEvidence, draft: Draft<typeof FIELDS>): void {
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

function readText(evidence: TypedEvidence, draft: Draft<typeof FIELDS>): void {
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
