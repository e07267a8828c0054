import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAvailability } from '../../src/extract/values/availability.ts';
import { parseEmail, parsePhone } from '../../src/extract/values/contact.ts';
import { parseDate } from '../../src/extract/values/date/date.ts';
import { parseDuration } from '../../src/extract/values/duration.ts';
import { parseLocation } from '../../src/extract/values/location.ts';
import { parseNumber } from '../../src/extract/values/number.ts';
import { normalizeUrl, parseBoolean, parseGtin } from '../../src/extract/values/plain-values.ts';
import { CURRENCIES } from '../../src/extract/values/price/currencies.ts';
import { parsePrice } from '../../src/extract/values/price/price.ts';
import { normalizeText } from '../../src/extract/values/text.ts';

const FETCHED_AT = Date.UTC(2026, 8, 1, 12);

const PRICE_LOCALES =
  'en-US en-GB en-IN de-DE de-CH de-AT fr-FR fr-CA fr-CH es-ES es-MX es-AR it-IT pt-BR pt-PT nl-NL pl-PL cs-CZ sk-SK sv-SE da-DK nb-NO fi-FI ru-RU uk-UA tr-TR el-GR hu-HU ro-RO bg-BG hr-HR ja-JP zh-CN zh-TW ko-KR ar-EG ar-AE fa-IR he-IL hi-IN bn-BD th-TH vi-VN id-ID'.split(
    ' ',
  );
const DATE_LOCALES =
  'en-US en-GB de fr es it pt nl pl cs sk sl hr sr bg ru uk tr el hu ro ar-EG he hi bn th vi id ms fi et lv lt sv da nb is ca ja zh ko ka'.split(
    ' ',
  );

/** Pieces that values are made of and break at. */
const piece = fc.oneof(
  fc.constantFrom('1', '12', '1.234', '1,234,567', '99', '2026', '31', '0', '٣', '१', '５', '⁹⁹', '½', '1e9'),
  fc.constantFrom(
    '€',
    '$',
    'kr',
    'USD',
    'EUR ',
    '円',
    '万',
    '₹',
    'Rs.',
    '¢',
    'M',
    ' Mio. ',
    'd.',
    'د.إ',
    'ש"ח',
  ),
  fc.constantFrom(
    ' ',
    '\u00a0',
    '\u202f',
    '-',
    '–',
    ',-',
    '/',
    '.',
    ',',
    "'",
    ':',
    '+',
    '(',
    ')',
    '%',
    '~',
    '\n',
    '\0',
  ),
  fc.constantFrom(
    'from ',
    'bis ',
    ' statt ',
    'per ',
    'kg',
    'was ',
    'now ',
    'save ',
    'free',
    'ago',
    'vor ',
    ' Tagen',
  ),
  fc.constantFrom(
    'Nov',
    'ноября',
    'พ.ย.',
    '年',
    '月',
    '日',
    'am',
    'pm',
    'UTC',
    'T',
    'Z',
    'W',
    'İ',
    'ß',
    'ﷺ',
    '\ud800',
  ),
  fc.constantFrom(
    '@',
    '[at]',
    ' dot ',
    'com',
    '<b>',
    '&amp;',
    '&#38;',
    '<',
    '&',
    '★',
    'http://',
    '?utm_a=1',
    '#',
  ),
  fc.string({ unit: 'binary', maxLength: 6 }),
);
const anyText = fc.oneof(
  fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join('')),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
);
const anyHint = fc.option(
  fc.oneof(fc.constantFrom('de', 'en-US', 'US', 'DE', 'EUR', 'th', 'x'), fc.string()),
  {
    nil: undefined,
  },
);

const READERS: Readonly<Record<string, (text: string, hint: string | undefined) => unknown>> = {
  price: (text, hint) => parsePrice(text, { currency: hint, locale: hint, country: hint }),
  date: (text, hint) => parseDate(text, { fetchedAt: FETCHED_AT, locale: hint, timeZone: hint }),
  number: (text, hint) => parseNumber(text, { locale: hint, country: hint }),
  phone: (text, hint) => parsePhone(text, { country: hint, locale: hint }),
  email: (text) => parseEmail(text),
  location: (text, hint) => parseLocation(text, { country: hint }),
  url: (text, hint) => normalizeUrl(text, { base: hint }),
  text: (text) => normalizeText(text),
  boolean: (text) => parseBoolean(text),
  availability: (text) => parseAvailability(text),
  gtin: (text) => parseGtin(text),
  duration: (text) => parseDuration(text),
};

describe('every reader', () => {
  it.each(Object.entries(READERS))('of %s values throws at nothing and survives JSON', (_, read) => {
    fc.assert(
      fc.property(anyText, anyHint, (text, hint) => {
        const value = read(text, hint) ?? null;
        expect(JSON.parse(JSON.stringify(value))).toEqual(value);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(Object.entries(READERS))(
    'of %s values is not slowed down by what repeats without end',
    (_, read) => {
      // Were any of them quadratic in a megabyte, this would not come to an end.
      const parts = [
        '1',
        '1 ',
        '1,',
        '1.1',
        ' ',
        '-',
        '<',
        '&',
        '&amp;',
        '<b ',
        'a@',
        'a.',
        'ab ',
        '(',
        'at ',
        '1:',
        '日',
      ];
      for (const part of parts) read(part.repeat(1_000_000 / part.length), undefined);
    },
  );
});

describe('prices', () => {
  const codes = [...CURRENCIES.values()]
    .filter(({ countries }) => countries.length > 0)
    .map(({ code }) => code);

  it('written by Intl with their code read back to the same amount and currency, in every locale', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...PRICE_LOCALES),
        fc.constantFrom(...codes),
        fc.integer({ min: 0, max: 999_999_999 }),
        (locale, currency, units) => {
          const digits = CURRENCIES.get(currency)?.minorDigits ?? 2;
          const amount = Number((units / 10 ** digits).toFixed(digits));
          const format = new Intl.NumberFormat(locale, {
            style: 'currency',
            currency,
            currencyDisplay: 'code',
            minimumFractionDigits: digits,
            maximumFractionDigits: digits,
          });
          const price = parsePrice(format.format(amount), { locale });
          expect([price?.amount, price?.currency, price?.isAmbiguous]).toEqual([amount, currency, false]);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('written by Intl with the sign of their own country read back with that country as the hint', () => {
    const homes = PRICE_LOCALES.flatMap((locale) => {
      const country = new Intl.Locale(locale).region ?? '';
      const own = [...CURRENCIES.values()].find(({ countries }) => countries.includes(country));
      return own === undefined ? [] : [{ locale, country, own }];
    });
    fc.assert(
      fc.property(
        fc.constantFrom(...homes),
        fc.integer({ min: 1, max: 99_999_999 }),
        ({ locale, country, own }, units) => {
          const format = new Intl.NumberFormat(locale, { style: 'currency', currency: own.code });
          const { maximumFractionDigits: digits = 2 } = format.resolvedOptions();
          const amount = Number((units / 10 ** digits).toFixed(digits));
          const price = parsePrice(format.format(amount), { locale, country });
          expect([format.format(amount), price?.amount, price?.currency]).toEqual([
            format.format(amount),
            amount,
            own.code,
          ]);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('an ambiguous one names more than one reading, and its own is among them', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const price = parsePrice(text);
        if (price === null) return;
        expect(price.isAmbiguous).toBe(price.ambiguity !== null);
        if (price.ambiguity === null) return;
        expect(price.ambiguity.amounts.length > 1 || price.ambiguity.currencies.length > 1).toBe(true);
        if (price.currency !== null) expect(price.ambiguity.currencies.length).toBeLessThan(2);
      }),
    );
  });

  it('a range is in order and begins at the amount', () => {
    fc.assert(
      fc.property(fc.nat(100_000), fc.nat(100_000), (a, b) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)];
        expect(parsePrice(`${low} – ${high} EUR`)).toMatchObject(
          low === high
            ? { amount: low, currency: 'EUR' }
            : { amount: low, min: low, max: high, currency: 'EUR' },
        );
      }),
    );
  });
});

describe('numbers', () => {
  it('written by Intl read back to the same number, in every locale', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...PRICE_LOCALES),
        fc.double({ min: -1e9, max: 1e9, noNaN: true }),
        fc.integer({ min: 0, max: 4 }),
        (locale, value, digits) => {
          const rounded = Number(value.toFixed(digits)) || 0;
          const text = new Intl.NumberFormat(locale, { maximumFractionDigits: digits }).format(rounded);
          expect([text, parseNumber(text, { locale })?.value]).toEqual([text, rounded]);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe('dates', () => {
  const anyDay = fc.date({ min: new Date('1950-01-01'), max: new Date('2045-12-31'), noInvalidDate: true });

  it.each(['full', 'long', 'medium', 'short'] as const)(
    'written by Intl in the %s style read back to the same day',
    (dateStyle) => {
      fc.assert(
        fc.property(fc.constantFrom(...DATE_LOCALES), anyDay, (locale, date) => {
          const text = new Intl.DateTimeFormat(locale, { dateStyle, timeZone: 'UTC' }).format(date);
          // Two digits of a year reach no further than a century, in Thai from 1957.
          fc.pre(dateStyle !== 'short' || date.getUTCFullYear() > 1957);
          const read = parseDate(text, { fetchedAt: FETCHED_AT, locale });
          expect([locale, text, read?.iso]).toEqual([locale, text, date.toISOString().slice(0, 10)]);
        }),
        { numRuns: 1_000 },
      );
    },
  );

  it('written by Intl with the name of the month need no locale', () => {
    // Croatian and Polish share names for different months; that is shown among the cases.
    const locales = DATE_LOCALES.filter((locale) => !['hr', 'pl', 'cs'].includes(locale));
    fc.assert(
      fc.property(fc.constantFrom(...locales), anyDay, (locale, date) => {
        const text = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(date);
        const read = parseDate(text, { fetchedAt: FETCHED_AT });
        expect([locale, text, read?.iso]).toEqual([locale, text, date.toISOString().slice(0, 10)]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('read twice are read once', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const first = parseDate(text, { fetchedAt: FETCHED_AT });
        if (first === null) return;
        const again = parseDate(first.iso, { fetchedAt: FETCHED_AT });
        expect([again?.iso, again?.precision, again?.hasZone]).toEqual([
          first.iso,
          first.precision,
          first.hasZone,
        ]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('counted from now by Intl are read back, in every language', () => {
    const unit = fc.constantFrom('minute', 'hour', 'day', 'week', 'month', 'year');
    const languages = DATE_LOCALES.filter((locale) => locale !== 'he');
    fc.assert(
      fc.property(
        fc.constantFrom(...languages),
        unit,
        fc.integer({ min: 2, max: 30 }),
        (locale, of, count) => {
          const text = new Intl.RelativeTimeFormat(locale).format(-count, of as Intl.RelativeTimeFormatUnit);
          const plain = new Intl.RelativeTimeFormat('en').format(-count, of as Intl.RelativeTimeFormatUnit);
          const read = (each: string) => parseDate(each, { fetchedAt: FETCHED_AT })?.iso;
          expect([text, read(text)]).toEqual([text, read(plain)]);
          expect(read(plain)).toBeDefined();
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe('text', () => {
  it('normalized twice is normalized once, trimmed, single-spaced, composed, without tags', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const once = normalizeText(text);
        expect(normalizeText(once)).toBe(once);
        expect(once).toBe(once.trim().normalize('NFC'));
        expect(once).not.toMatch(/\s\s|\p{Cc}|<\/?[a-z][^<>]*>/iu);
      }),
      { numRuns: 2_000 },
    );
  });
});

/** Property 33 of the plan. */
describe('URLs', () => {
  const name = fc.stringMatching(/^[a-z]{1,8}$/);

  it('get https, lose tracking parameters, keep the others, and normalizing twice is normalizing once', () => {
    const tracking = fc.constantFrom('utm_source=x', 'utm_medium=y', 'fbclid=1', 'gclid=2');
    const scheme = fc.constantFrom('http://', 'https://', '//', '');
    fc.assert(
      fc.property(
        scheme,
        name,
        name,
        fc.array(tracking),
        fc.uniqueArray(name),
        (start, host, path, noise, kept) => {
          const query = [...noise, ...kept.map((key) => `${key}=1`)].join('&');
          const url = normalizeUrl(`${start}${host}.com/${path}?${query}`) ?? '';
          expect(url).toMatch(/^https:\/\//);
          expect(url).not.toMatch(/utm_|fbclid|gclid/);
          for (const key of kept) expect(new URL(url).searchParams.has(key)).toBe(true);
          expect(normalizeUrl(url)).toBe(url);
        },
      ),
    );
  });

  it('of any text are https or could not be, and stay as they are', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const url = normalizeUrl(text);
        if (url !== null) expect(normalizeUrl(url)).toBe(url);
      }),
      { numRuns: 2_000 },
    );
  });
});

/** Property 34 of the plan. */
describe('locations', () => {
  it('always have city, region, country and what was written', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const location = parseLocation(text);
        if (location === null) return;
        expect(Object.keys(location)).toEqual(expect.arrayContaining(['city', 'region', 'country', 'raw']));
        expect(location.raw).not.toBe('');
        if (location.country !== null) expect(location.country).toMatch(/^[A-Z]{2}$/);
        for (const field of [location.city, location.region])
          expect(field === null || field.trim() !== '').toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
