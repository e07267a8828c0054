import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CURRENCIES, currencyOf } from './currencies.ts';
import { type Price, parseCurrency, parsePrice } from './price.ts';

interface PriceCase {
  readonly section: string;
  readonly text: string;
  readonly hints: Readonly<Record<string, string>>;
  readonly expected: string;
}

/** One case a line: text, hints, and what it says in the words of `inShort`. */
function readCases(): readonly PriceCase[] {
  let section = '';
  return readFileSync(new URL('price-cases.txt', import.meta.url), 'utf8')
    .split('\n')
    .flatMap((line): PriceCase[] => {
      if (line.startsWith('# ')) section = line.slice(2);
      if (line === '' || line.startsWith('# ')) return [];
      const [text = '', hints = '', expected = ''] = line.split('::').map((part) => part.trim());
      const written = text.replace(/\\u([0-9a-f]{4})/g, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      );
      const pairs = hints.split(' ').filter((pair) => pair !== '');
      return [
        { section, text: written, hints: Object.fromEntries(pairs.map((pair) => pair.split('='))), expected },
      ];
    });
}

/** `10..20 EUR from per=kg list=30 ?10|20 EUR,USD`; the last two are the readings of what is ambiguous. */
function inShort(price: Price | null): string {
  if (price === null) return 'null';
  const { amount, currency, min, max, isFrom, isUpTo, per, listPrice, ambiguity } = price;
  return [
    min === null ? String(amount) : `${min}..${max}`,
    currency ?? '-',
    ...(isFrom ? ['from'] : []),
    ...(isUpTo ? ['upTo'] : []),
    ...(per === null ? [] : [`per=${per}`]),
    ...(listPrice === null ? [] : [`list=${listPrice}`]),
    ...(ambiguity === null ? [] : [`?${ambiguity.amounts.join('|')}`]),
    ...(ambiguity === null || ambiguity.currencies.length < 2
      ? []
      : [ambiguity.currencies.slice(0, 4).join(',')]),
  ].join(' ');
}

const cases = readCases();

describe('prices of the world', () => {
  it('are at least three hundred', () => {
    expect(cases.length).toBeGreaterThanOrEqual(300);
  });

  it.each(Object.entries(Object.groupBy(cases, ({ section }) => section)))('%s', (_, group = []) => {
    const read = group.map(({ text, hints }) => `${text} → ${inShort(parsePrice(text, hints))}`);
    expect(read).toEqual(group.map(({ text, expected }) => `${text} → ${expected}`));
  });

  it('what is truly ambiguous says so, and nothing else does', () => {
    const isNamedSo = ({ section }: PriceCase): boolean => section === 'Truly ambiguous';
    const wrong = cases.filter(
      (each) => (parsePrice(each.text, each.hints)?.isAmbiguous ?? false) !== isNamedSo(each),
    );
    expect(wrong.map(({ text }) => text)).toEqual([]);
  });
});

it('numbers of a list are not joined to one price', () => {
  expect(parsePrice('35€ 99€')?.amount).toBe(35);
  expect(parsePrice('Sizes 5, 10, 15')?.amount ?? null).not.toBe(5.1);
  expect(parsePrice('35€ 20 pieces')?.amount).toBe(35);
});

describe('the currency of a text', () => {
  it.each([
    ['EUR', 'EUR'],
    [' usd ', 'USD'],
    ['€', 'EUR'],
    ['£5', 'GBP'],
    ['$19.99', 'USD'],
    ['R$ 10,00', 'BRL'],
    ['19,90 zł', 'PLN'],
    ['19.90', null],
    ['sold out', null],
  ])('%s is %s', (text, currency) => {
    expect(parseCurrency(text)).toBe(currency);
  });

  it('is what the language of the page says where a sign has several', () => {
    expect(parseCurrency('$19.99', { locale: 'en-CA' })).toBe('CAD');
  });
});

describe('the table of currencies', () => {
  it('has the minor digits of ISO 4217, which Intl drops only where custom has none left', () => {
    const differing = [...CURRENCIES.values()]
      .filter(({ countries }) => countries.length > 0)
      .map(({ code, minorDigits }) => {
        const format = new Intl.NumberFormat('en', { style: 'currency', currency: code });
        return { code, minorDigits, known: format.resolvedOptions().maximumFractionDigits };
      })
      .filter(({ minorDigits, known }) => minorDigits !== known && known !== 0);
    expect(differing).toEqual([]);
  });

  it('knows what is paid with wherever people live', () => {
    const countries =
      'US GB DE FR CH SE DK NO PL CZ RU TR IL AE SA EG ZA NG IN PK CN JP KR TW TH VN ID AU BR AR'.split(' ');
    for (const country of countries) expect(CURRENCIES.has(currencyOf(country) ?? '')).toBe(true);
    expect(currencyOf('XX')).toBeNull();
  });
});
