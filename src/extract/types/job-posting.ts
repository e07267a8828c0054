import { elementText } from '../structured/element-text.ts';
import { searchState, stateText, stateValue } from '../structured/embedded/embedded-state.ts';
import {
  addresses,
  type DataItem,
  isItem,
  itemValue,
  label,
  labels,
  textValue,
  valuesOf,
} from '../structured/item.ts';
import { parsePrice } from '../values/price/price.ts';
import { type Draft, defineType } from './draft.ts';
import type { TypedEvidence } from './evidence.ts';
import {
  aboutItems,
  FIELD_READERS,
  field,
  placeOfItem,
  type ReadingContext,
  readPrice,
  type Salary,
} from './field.ts';

const FIELDS = {
  jobTitle: field('text', 'What the job is called.'),
  companyName: field('text', 'Who hires.'),
  location: field('place', 'Where: `city region country raw`.'),
  isRemote: field('flag', 'Whether it can be done from elsewhere.'),
  employmentType: field(
    'texts',
    '`FULL_TIME`, `PART_TIME`, `CONTRACTOR`, `INTERN` … where the page says so in a known way.',
  ),
  department: field('text', 'Team or department.'),
  salaryRange: field('salary', 'What it pays: `min max currency per`.'),
  description: field('body', 'The text of the posting.'),
  postedAt: field('date', 'When it appeared.'),
  validUntil: field('date', 'When it ends.'),
  jobId: field('text', 'Number of the posting at the company.'),
  applyUrl: field('url', 'Where to apply.'),
  companyUrl: field('url', 'Site of the company.'),
  companyLogo: field('url', 'Picture of the company.'),
  url: field('url', 'The address the page wants to be known by.'),
} as const;

type JobFields = typeof FIELDS;

const JOB_BOARDS =
  /(?:^|\.)(?:greenhouse\.io|lever\.co|myworkdayjobs\.com|workable\.com|ashbyhq\.com|smartrecruiters\.com|recruitee\.com|personio\.\w+|bamboohr\.com|teamtailor\.com|jobvite\.com|icims\.com)$/;
const JOB_PATH =
  /\/(?:jobs?|careers?|positions?|vacanc(?:y|ies)|openings?|stellen(?:angebote)?|karriere|emplois?)\/[^/]+/i;
const APPLY =
  /^(?:apply(?: now| for this job| for this position)?|jetzt bewerben|postuler|solicitar|bewerben|i'm interested|submit (?:your )?application)$/i;
const HEADLINE = /[\s_-](?:posting-headline|app-title|job-title|jobpostingheader|job__title)[\s_-]/;
const COMPANY = /[\s_-](?:company|company-name|employer|hiring-organization|org-name|main-header-logo)[\s_-]/;
const LOCATION =
  /[\s_-](?:location|locations|job-location|job__location|posting-categories-location|sort-by-location|workplace)[\s_-]/;
const DEPARTMENT = /[\s_-](?:department|team|sort-by-team|posting-department)[\s_-]/;
const COMMITMENT = /[\s_-](?:commitment|employment-type|job-type|sort-by-commitment|time)[\s_-]/;
const PAY = /[\s_-](?:salary|compensation|pay-range|pay|salary-range|gehalt)[\s_-]/;
const TEXT =
  /[\s_-](?:job-description|jobdescription|job__description|posting-description|job-post-description|jobpostingdescription|description|job-content|content)[\s_-]/;
const POSTED = /[\s_-](?:posted|postedon|posted-on|date-posted|publish-date)[\s_-]/;
const JOB_ID = /[\s_-](?:requisitionid|requisition-id|job-id|reference-number)[\s_-]/;
const TYPES: readonly (readonly [RegExp, string])[] = [
  [/full[\s_-]?time|vollzeit|temps plein|jornada completa/i, 'FULL_TIME'],
  [/part[\s_-]?time|teilzeit|temps partiel/i, 'PART_TIME'],
  [/contract(?:or)?\b|freelance/i, 'CONTRACTOR'],
  [/intern(?:ship)?\b|praktikum|stage\b|werkstudent/i, 'INTERN'],
  [/temporary|befristet/i, 'TEMPORARY'],
  [/volunteer/i, 'VOLUNTEER'],
];
const REMOTE = /\b(?:remote|home ?office|télétravail|work from (?:home|anywhere))\b/i;

export const jobPosting = defineType({
  name: 'job_posting',
  says: 'A job offer.',
  fields: FIELDS,

  weigh(evidence) {
    const items = evidence.items((type) => type === 'JobPosting');
    if (items.length > 0) return items.length > 3 ? 0.3 : 0.98;
    const apply = applyText(evidence);
    const isJobPath = JOB_PATH.test(evidence.url.pathname);
    if (JOB_BOARDS.test(evidence.url.hostname))
      return evidence.markup.heading !== null || apply !== null ? 0.85 : 0.4;
    // "Apply" alone is also a label of filters and other forms.
    const isPlain = apply === null || /^(?:apply|apply now|bewerben)$/i.test(apply);
    if (isJobPath) return apply === null ? 0.32 : 0.85;
    return isPlain ? 0 : 0.65;
  },

  read(evidence, draft) {
    for (const item of aboutItems(evidence, (type) => type === 'JobPosting')) {
      const { source } = item;
      const company = itemValue(item, 'hiringOrganization');
      draft.give('jobTitle', textValue(item, 'title', 'name'), source);
      draft.give('companyName', label(item, 'hiringOrganization'), source);
      draft.give('companyUrl', textValue(company, 'sameAs', 'url'), source);
      draft.give('companyLogo', addresses(company, 'logo')[0], source);
      draft.give(
        'location',
        placeOfItem(item, 'jobLocation') ?? label(item, 'applicantLocationRequirements'),
        source,
      );
      if (/TELECOMMUTE/i.test(label(item, 'jobLocationType') ?? '')) draft.give('isRemote', true, source);
      draft.give('employmentType', typesIn(labels(item, 'employmentType')), source);
      draft.give('department', label(item, 'industry', 'occupationalCategory'), source, 0.5);
      draft.give('salaryRange', salaryOf(item, evidence.context()), source);
      draft.give('description', textValue(item, 'description', 'responsibilities'), source);
      draft.give('postedAt', textValue(item, 'datePosted'), source);
      draft.give('validUntil', textValue(item, 'validThrough'), source);
      draft.give(
        'jobId',
        textValue(itemValue(item, 'identifier'), 'value') ?? textValue(item, 'identifier'),
        source,
      );
      draft.give('url', textValue(item, 'url'), source);
    }
    readState(evidence, draft);
    readMarkup(evidence, draft);
    draft.give('url', evidence.address.url, evidence.address.source, 0.9);
  },
});

function readState(evidence: TypedEvidence, draft: Draft<JobFields>): void {
  const heading = evidence.markup.text(evidence.markup.heading)?.toLowerCase() ?? null;
  const match = searchState(evidence.states, (object) => {
    const title = stateText(object, 'title', 'jobTitle', 'text', 'name');
    const hasPlace =
      stateValue(object, 'location', 'locations', 'jobLocation', 'categories.location', 'locationName') !==
      null;
    const hasText =
      stateText(object, 'description', 'descriptionHtml', 'content', 'jobDescription', 'descriptionPlain') !==
      null;
    if (title === null || !hasPlace || !hasText) return 0;
    return title.toLowerCase().trim() === heading ? 3 : 1;
  });
  if (match === null) return;
  const { object } = match;
  const confidence = match.score > 1 ? 0.85 : 0.65;
  const source = 'embedded-state';
  draft.give('jobTitle', stateText(object, 'title', 'jobTitle', 'text', 'name'), source, confidence);
  draft.give(
    'location',
    stateText(object, 'location', 'locationName', 'categories.location', 'locations', 'jobLocation'),
    source,
    confidence,
  );
  draft.give(
    'department',
    stateText(object, 'department', 'departmentName', 'team', 'categories.team', 'departments'),
    source,
    confidence,
  );
  draft.give(
    'employmentType',
    typesIn([stateText(object, 'employmentType', 'commitment', 'categories.commitment', 'timeType') ?? '']),
    source,
    confidence,
  );
  draft.give(
    'description',
    stateText(object, 'descriptionHtml', 'description', 'content', 'jobDescription'),
    source,
    confidence,
  );
  draft.give(
    'companyName',
    stateText(object, 'company', 'companyName', 'organization', 'hiringOrganization', 'company_name'),
    source,
    confidence,
  );
  draft.give(
    'postedAt',
    stateText(
      object,
      'publishedAt',
      'postedAt',
      'first_published',
      'published_at',
      'createdAt',
      'datePosted',
      'startDate',
    ),
    source,
    confidence,
  );
  draft.give(
    'jobId',
    stateText(object, 'requisitionId', 'requisition_id', 'jobReqId', 'internal_job_id'),
    source,
    confidence,
  );
  draft.give('applyUrl', stateText(object, 'applyUrl', 'absolute_url', 'externalUrl'), source, confidence);
  const isRemote = stateValue(object, 'isRemote', 'remote');
  if (typeof isRemote === 'boolean') draft.give('isRemote', isRemote, source, confidence);
}

function readMarkup(evidence: TypedEvidence, draft: Draft<JobFields>): void {
  const { markup } = evidence;
  draft.give('jobTitle', markup.text(markup.heading, 300) ?? headlineText(evidence), 'markup', 0.75);
  const { title } = evidence.parts.head;
  // "Engineer at Acme", "Acme - Engineer", "Job Application for Engineer at Acme".
  const job = draft.get('jobTitle');
  const fromTitle =
    /\bat\s+([^|–—-]{2,60})$/.exec(title ?? '')?.[1] ??
    (job !== null && title !== null ? besideTitle(title, job) : null);
  const logo = markup
    .tagged('img', 0, true)
    .map((node) => markup.attribute(node, 'alt'))
    .find((alt) => /logo$/i.test(alt ?? ''));
  draft.give('companyName', evidence.openGraph('site_name'), 'open-graph', 0.6);
  draft.give(
    'companyName',
    markup.textNamed(COMPANY, 80)?.replace(/^(?:at|bei|chez)\s+/i, ''),
    'markup',
    0.6,
  );
  draft.give('companyName', fromTitle ?? logo?.replace(/\s*logo$/i, ''), 'text', 0.55);
  const place = markup
    .textNamed(LOCATION, 120)
    ?.replace(/^(?:locations?|standort|lieu)\s*:?\s*/i, '')
    .replace(/\s*\/\s*$/, '');
  draft.give('location', place, 'markup', 0.65);
  draft.give('department', clean(markup.textNamed(DEPARTMENT, 80)), 'markup', 0.6);
  draft.give('employmentType', typesIn([markup.textNamed(COMMITMENT, 80) ?? '']), 'markup', 0.65);
  const pay = markup.textNamed(PAY, 200);
  draft.give(
    'salaryRange',
    pay === null ? null : readSalary(pay, evidence.context(), draft.get('location')?.country),
    'markup',
    0.6,
  );
  const texts = markup.named(TEXT).map((node) => elementText(markup.tree, node, 50_000));
  const description = texts.reduce((longest, text) => (text.length > longest.length ? text : longest), '');
  draft.give('description', description, 'markup', 0.6);
  draft.give('postedAt', postedText(evidence), 'markup', 0.5);
  draft.give('jobId', markup.textNamed(JOB_ID, 60)?.replace(/^.*(?:id|number)\s*:?\s*/i, ''), 'markup', 0.6);
  draft.give('applyUrl', applyLink(evidence), 'markup', 0.7);
  const isRemote = REMOTE.test(
    `${place ?? ''} ${job ?? ''} ${markup.textNamed(/[\s_-]workplace\w*[\s_-]/, 60) ?? ''}`,
  );
  if (isRemote) draft.give('isRemote', true, 'text', 0.6);
  const [main] = markup.tagged('main');
  const all = elementText(markup.tree, main ?? 0, 20_000);
  const shown =
    /(?:salary|compensation|pay range|gehalt)[^.]{0,60}?((?:[$€£]|USD|EUR|GBP|CHF)\s?\d[\d.,' ]{0,15}k?\s*(?:-|–|—|to|bis)\s*(?:[$€£]|USD|EUR|GBP|CHF)?\s?\d[\d.,']{0,15}k?[^.]{0,30})/i.exec(
      all,
    )?.[1];
  draft.give(
    'salaryRange',
    shown === undefined ? null : readSalary(shown, evidence.context(), draft.get('location')?.country),
    'text',
    0.5,
  );
}

/** Job boards without a main heading have a headline element whose first heading or line is the title. */
function headlineText({ markup }: TypedEvidence): string | null {
  const node = markup.firstNamed(HEADLINE);
  if (node === null) return null;
  const [inner] = [...markup.tagged('h2', node), ...markup.tagged('h3', node)];
  return markup.text(inner ?? node, 300);
}

const clean = (text: string | null): string | null =>
  text?.replace(/^(?:department|team)\s*:?\s*/i, '').replace(/\s*[/–-]\s*$/, '') ?? null;

function postedText({ markup }: TypedEvidence): string | null {
  const node = markup.named(POSTED)[0];
  if (node === undefined) return null;
  const [time] = markup.tagged('time', node);
  const text =
    (time === undefined ? null : markup.attribute(time, 'datetime')) ?? elementText(markup.tree, node, 80);
  return text.replace(/^.*posted(?: on)?:?\s*(?=\S)/i, '');
}

function besideTitle(title: string, job: string): string | null {
  const rest = title
    .split(/\s+[|–—-]\s+/)
    .filter((part) => part !== job && !/^(?:jobs?|careers?)$/i.test(part));
  return rest.length === 1 ? (rest[0] ?? null) : null;
}

function typesIn(written: readonly string[]): string[] {
  return written.flatMap((text) => {
    const known = TYPES.filter(([pattern]) => pattern.test(text)).map(([, type]) => type);
    return known.length > 0 ? known : /^[A-Z_]{4,20}$/.test(text) ? [text] : [];
  });
}

function applyNode({ markup }: TypedEvidence): number | null {
  const all = [...markup.tagged('a'), ...markup.tagged('button')];
  return all.find((node) => APPLY.test(elementText(markup.tree, node, 60))) ?? null;
}

function applyText(evidence: TypedEvidence): string | null {
  return evidence.markup.text(applyNode(evidence), 60);
}

function applyLink(evidence: TypedEvidence): string | null {
  const node = applyNode(evidence);
  return node === null ? null : (evidence.markup.attribute(node, 'href') ?? '#apply');
}

const UNITS: Readonly<Record<string, string>> = {
  hour: 'hour',
  day: 'day',
  week: 'week',
  month: 'month',
  year: 'year',
  annum: 'year',
  stunde: 'hour',
  monat: 'month',
  jahr: 'year',
  heure: 'hour',
  mois: 'month',
  an: 'year',
};
const PER =
  /(?:per|\/|an?|pro|par|a)\s*(hour|day|week|month|year|annum|stunde|monat|jahr|heure|mois|an)\b|\b(hour|dai|week|month|annual|year)ly\b|\bp\.?\s?a\.?\b/i;
/** Two amounts with something between them that makes a range. */
const RANGE = /(\d[\d.,' ]*)\s?(k)?\s*(?:-|–|—|to|bis|à|and)\s*[^\d\s]{0,5}\s?(\d[\d.,' ]*)\s?(k)?/i;

/** The salary in the structured data of a posting. */
function salaryOf(item: DataItem, context: ReadingContext): Salary | null {
  const [base] = valuesOf(item, 'baseSalary', 'estimatedSalary');
  if (base === undefined) return null;
  if (!isItem(base))
    return readSalary(String(base), {
      ...context,
      currency: textValue(item, 'salaryCurrency') ?? context.currency,
    });
  const inner = itemValue(base, 'value') ?? base;
  const single = FIELD_READERS.price(textValue(inner, 'value') ?? textValue(base, 'value'), context);
  const min = FIELD_READERS.price(textValue(inner, 'minValue'), context) ?? single;
  const max = FIELD_READERS.price(textValue(inner, 'maxValue'), context) ?? single;
  if (min === null && max === null) return null;
  const unit = textValue(inner, 'unitText') ?? textValue(base, 'unitText', 'duration');
  const currency = FIELD_READERS.currency(
    textValue(base, 'currency') ?? textValue(inner, 'currency') ?? textValue(item, 'salaryCurrency'),
    context,
  );
  return { min, max, currency, per: unit === null ? null : (UNITS[unit.toLowerCase()] ?? null) };
}

/** The salary in a text: `$120,000 – $150,000 per year`, `45–55k €`. Null without an amount. `country` is where the job is. */
function readSalary(text: string, context: ReadingContext, country?: string | null): Salary | null {
  const price = parsePrice(text, {
    locale: context.locale,
    currency: context.currency,
    country: country ?? undefined,
  });
  if (price === null) return null;
  const range = RANGE.exec(text);
  let { min, max } = price;
  if (min === null && range !== null) {
    const factor = range[2] || range[4] ? 1_000 : 1;
    const ends = [range[1], range[3]].map(
      (part) => readPrice((part ?? '').trim(), context)?.amount ?? Number.NaN,
    );
    const [low, high] = ends.map((amount) => (amount < 1_000 ? amount * factor : amount));
    if (low !== undefined && high !== undefined && low <= high) [min, max] = [low, high];
  }
  const found = PER.exec(text);
  const word = (found?.[1] ?? found?.[2] ?? (found === null ? '' : 'year')).toLowerCase();
  const per = UNITS[word] ?? (word === 'dai' ? 'day' : word === 'annual' ? 'year' : price.per);
  return {
    min: min ?? price.amount,
    max: max ?? (price.isFrom ? null : price.amount),
    currency: price.currency ?? price.ambiguity?.currencies[0] ?? null,
    per: per ?? null,
  };
}
