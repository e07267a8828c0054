import { type DataItem, isItem, itemValue, textValue, valuesOf } from '../structured/item.ts';
import { parsePrice } from '../values/price/price.ts';
import type { Salary } from './field.ts';
import { FIELD_READERS, type ReadingContext, readPrice } from './read-kind.ts';

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
export function salaryOf(item: DataItem, context: ReadingContext): Salary | null {
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
export function readSalary(text: string, context: ReadingContext, country?: string | null): Salary | null {
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
