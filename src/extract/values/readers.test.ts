import { describe, expect, it } from 'vitest';
import { parseAvailability } from './availability.ts';
import { parseEmail, parsePhone } from './contact.ts';
import { parseDuration } from './duration.ts';
import { parseLocation } from './location.ts';
import { parseNumber } from './number.ts';
import { normalizeUrl, parseBoolean, parseGtin } from './plain-values.ts';
import { normalizeParagraphs, normalizeText } from './text.ts';

describe('phones', () => {
  it.each([
    ['+49 (0)89 123456', undefined, '+4989123456'],
    ['089 / 12 34 56', 'DE', '+4989123456'],
    ['0049 89 123456', undefined, '+4989123456'],
    ['(555) 123-4567', 'US', '+15551234567'],
    ['1-555-123-4567', 'US', '+15551234567'],
    ['011 49 89 123456', 'US', '+4989123456'],
    ['tel:+44-20-7946-0958', undefined, '+442079460958'],
    ['020 7946 0958', 'GB', '+442079460958'],
    ['06 12345678', 'IT', '+390612345678'],
    ['8 (495) 123-45-67', 'RU', '+74951234567'],
    ['06 1 234 5678', 'HU', '+3612345678'],
    ['０３-１２３４-５６７８', 'JP', '+81312345678'],
    ['01 23 45 67 89', 'FR', '+33123456789'],
    ['Tel.: 030 1234567', 'DE', '+49301234567'],
  ])('%s in %s is %s', (text, country, expected) => {
    expect(parsePhone(text, { country })).toMatchObject({ value: expected, isComplete: true });
  });

  it('without a country stay as dialled, and say that they are not complete', () => {
    expect(parsePhone('089 123456')).toMatchObject({ value: '089123456', isComplete: false, country: null });
    expect(parsePhone('555-1234', { country: 'US' })).toMatchObject({ value: '5551234', isComplete: false });
  });

  it('keep their extension apart', () => {
    expect(parsePhone('030 1234567 ext. 12', { country: 'DE' })).toMatchObject({ extension: '12' });
  });

  it.each(['', 'call us', '12', '2026-11-12', '+999 123456', '+49 1', '12345678901234567890'])(
    '%s is none',
    (text) => {
      expect(parsePhone(text)).toBeNull();
    },
  );
});

describe('e-mail addresses', () => {
  it.each([
    ['a@b.com', 'a@b.com', false],
    ['mailto:Foo.Bar@Example.COM?subject=x', 'Foo.Bar@example.com', false],
    ['John <john@x.co.uk>', 'john@x.co.uk', false],
    ['info&#64;x.de', 'info@x.de', false],
    ['x@münchen.de', 'x@xn--mnchen-3ya.de', false],
    ['name [at] host dot com', 'name@host.com', true],
    ['name (at) host (punkt) de', 'name@host.de', true],
    ['name at host dot com', 'name@host.com', true],
    ['name{at}host{dot}org', 'name@host.org', true],
    ['/cdn-cgi/l/email-protection#543931142127353a7a373b39', 'me@usan.com', true],
  ])('%s is %s', (text, value, wasObfuscated) => {
    expect(parseEmail(text)).toEqual({ value, wasObfuscated });
  });

  it.each(['meet at noon', 'a@b', '@x.com', 'a@.com', 'a..b', ''])('%s is none', (text) => {
    expect(parseEmail(text)).toBeNull();
  });
});

describe('locations', () => {
  it.each([
    ['Munich, Bavaria, Germany', undefined, ['Munich', 'Bavaria', 'DE']],
    ['Berlin', undefined, ['Berlin', null, null]],
    ['Germany', undefined, [null, null, 'DE']],
    ['San Francisco, CA', 'US', ['San Francisco', 'California', 'US']],
    ['Austin, TX', undefined, ['Austin', 'Texas', 'US']],
    ['Austin, TX, US', undefined, ['Austin', 'Texas', 'US']],
    ['Toronto, ON, Canada', undefined, ['Toronto', 'Ontario', 'CA']],
    ['80331 München, Deutschland', undefined, ['München', null, 'DE']],
    ['New York, NY 10001', undefined, ['New York', 'New York', 'US']],
    ['London SW1A 1AA, UK', undefined, ['London', null, 'GB']],
    ['Berlin, DE', 'DE', ['Berlin', null, 'DE']],
    ['Remote (US)', undefined, [null, null, 'US']],
    ['Singapore', undefined, ['Singapore', null, 'SG']],
    ['Sydney NSW, Australia', undefined, ['Sydney', 'New South Wales', 'AU']],
    ['東京, 日本', undefined, ['東京', null, 'JP']],
    ['Москва, Россия', undefined, ['Москва', null, 'RU']],
    [
      '1600 Amphitheatre Parkway, Mountain View, CA 94043, USA',
      undefined,
      ['Mountain View', 'California', 'US'],
    ],
    ['California, USA', undefined, [null, 'California', 'US']],
    ['Greater Boston Area', undefined, ['Boston', null, null]],
    ['Remote', undefined, [null, null, null]],
    ['Leeds', undefined, ['Leeds', null, null]],
    ['Leeds UK', undefined, ['Leeds', null, 'GB']],
    ['8 Canal Street, Leeds, United Kingdom', undefined, ['Leeds', null, 'GB']],
    ['Canal Street, Leeds, United Kingdom', undefined, ['Leeds', null, 'GB']],
    ['Hauptstraße, 80331 München, Deutschland', undefined, ['München', null, 'DE']],
    ['8 Canal Street, Leeds, West Yorkshire, UK', undefined, ['Leeds', 'West Yorkshire', 'GB']],
    ['Bilbao, Biscay, Spain', undefined, ['Bilbao', 'Biscay', 'ES']],
    ['12 Rue de Rivoli, 75001 Paris, France', undefined, ['Paris', null, 'FR']],
  ])('%s', (text, country, [city, region, code]) => {
    expect(parseLocation(text, { country })).toMatchObject({
      city,
      region,
      country: code,
      raw: text,
      isAmbiguous: false,
    });
  });

  it.each([
    ['San Francisco, CA', ['US', 'CA']],
    ['Berlin, DE', ['DE', 'US']],
    ['Georgia', ['GE', 'US']],
    ['Atlanta, Georgia', ['US', 'GE']],
  ])('%s may lie in %s', (text, countries) => {
    expect(parseLocation(text)).toMatchObject({ isAmbiguous: true, countries, country: countries[0] });
  });
});

describe('availability', () => {
  it.each([
    ['http://schema.org/InStock', 'InStock'],
    ['https://schema.org/PreOrder', 'PreOrder'],
    ['schema:OutOfStock', 'OutOfStock'],
    ['in_stock', 'InStock'],
    ['In stock', 'InStock'],
    ['Not in stock', 'OutOfStock'],
    ['Auf Lager', 'InStock'],
    ['nicht auf Lager', 'OutOfStock'],
    ['Only 3 left in stock', 'LimitedAvailability'],
    ['ausverkauft', 'SoldOut'],
    ['Rupture de stock', 'OutOfStock'],
    ['Agotado', 'SoldOut'],
    ['Non disponibile', 'OutOfStock'],
    ['Niet op voorraad', 'OutOfStock'],
    ['Dostępny', 'InStock'],
    ['není skladem', 'OutOfStock'],
    ['нет в наличии', 'OutOfStock'],
    ['В наличии', 'InStock'],
    ['在庫あり', 'InStock'],
    ['缺货', 'OutOfStock'],
    ['품절', 'SoldOut'],
    ['Vorbestellen', 'PreOrder'],
    ['Nicht mehr lieferbar', 'Discontinued'],
    ['On backorder', 'BackOrder'],
    ['hello', null],
  ])('%s is %s', (text, expected) => {
    expect(parseAvailability(text)).toBe(expected);
  });
});

describe('article numbers', () => {
  it('are right to the check digit', () => {
    expect(parseGtin('4006381333931')).toMatchObject({ kind: 'GTIN-13', gtin14: '04006381333931' });
    expect(parseGtin('EAN: 4006381 333931')?.value).toBe('4006381333931');
    expect(parseGtin('ISBN 0-306-40615-2')?.value).toBe('9780306406157');
    expect(parseGtin('036000291452')?.kind).toBe('GTIN-12');
    expect(parseGtin('96385074')?.kind).toBe('GTIN-8');
    for (const wrong of ['4006381333932', '123', '', '00000000', 'abcdefgh'])
      expect(parseGtin(wrong)).toBeNull();
  });
});

describe('durations, numbers, booleans', () => {
  it.each([
    ['PT1H30M', 'PT1H30M', 5_400],
    ['P1DT2H', 'P1DT2H', 93_600],
    ['1 Std. 30 Min.', 'PT1H30M', 5_400],
    ['1h30', 'PT1H30M', 5_400],
    ['90 minutes', 'PT90M', 5_400],
    ['1:30:00', 'PT1H30M', 5_400],
    ['1時間30分', 'PT1H30M', 5_400],
    ['2 часа 15 минут', 'PT2H15M', 8_100],
    ['1,5 Stunden', 'PT1.5H', 5_400],
  ])('the duration %s is %s', (text, iso, seconds) => {
    expect(parseDuration(text)).toEqual({ iso, seconds });
  });

  it('what is no duration is none', () => {
    for (const text of ['', 'P', 'PT', 'hello', '12']) expect(parseDuration(text)).toBeNull();
  });

  it.each([
    ['1.5', undefined, 1.5],
    ['1.234,5', undefined, 1234.5],
    ['1.234', 'de', 1234],
    ['1.234', 'en', 1.234],
    ['-3', undefined, -3],
    ['1e5', undefined, 100_000],
    ['1.5 million', undefined, 1_500_000],
    ['٣٫٥', undefined, 3.5],
    ['12k followers', undefined, 12_000],
  ])('the number %s in %s is %s', (text, locale, value) => {
    expect(parseNumber(text, { locale })).toEqual({ value, isAmbiguous: false, readings: [] });
  });

  it('a point or comma before three digits is ambiguous', () => {
    expect(parseNumber('1.234')?.readings).toEqual([1.234, 1234]);
    expect(parseNumber('1,234')?.readings).toEqual([1234, 1.234]);
  });

  it('yes and no have many names', () => {
    for (const text of ['true', 'Yes', 'ja', 'да', 'はい', '1', '✓']) expect(parseBoolean(text)).toBe(true);
    for (const text of ['false', 'No', 'nein', 'нет', 'いいえ', '0', '✗'])
      expect(parseBoolean(text)).toBe(false);
    for (const text of ['', 'maybe', '2']) expect(parseBoolean(text)).toBeNull();
  });
});

describe('text and URLs', () => {
  it('text loses tags, entities, control characters and uneven space', () => {
    expect(normalizeText(' <p>Tom &amp;amp; Jerry</p>\u200b <br>x\u0000y &lt;b&gt;z&lt;/b&gt; a < b ')).toBe(
      'Tom & Jerry xy z a < b',
    );
    expect(normalizeText('e\u0301')).toBe('\u00e9');
    expect(normalizeText('<script>alert(1)</script>a')).toBe('a');
  });

  it.each([
    ['a\nb\n\n\n c  d ', 'a\nb\n\nc d'],
    ['<p>a\nb</p>\n<ul><li>c</li><li>d</li></ul>e<br/>f', 'a b\n\nc\nd\n\ne\nf'],
    ['&lt;p&gt;a&lt;/p&gt;&lt;p&gt;b &amp;amp; c&lt;/p&gt;', 'a\n\nb & c'],
    ['a < b\r\nc <b>d</b>', 'a < b\nc d'],
    ['<p>\u200b</p>\n', ''],
  ])('the paragraphs of %j stay paragraphs', (text, expected) => {
    expect(normalizeParagraphs(text)).toBe(expected);
    expect(normalizeParagraphs(expected)).toBe(expected);
  });

  it.each([
    ['http://example.com/?utm_source=x&a=1#f', 'https://example.com/?a=1'],
    ['example.com', 'https://example.com/'],
    ['//cdn.x.com/a', 'https://cdn.x.com/a'],
    ['page.html', 'https://base.org/d/page.html'],
    ['http://127.0.0.1/x', 'http://127.0.0.1/x'],
    ['http://x.com:8080/', 'http://x.com:8080/'],
    ['https://user:pw@x.com/', 'https://x.com/'],
    ['mailto:a@b.c', null],
    ['javascript:alert(1)', null],
  ])('%s is %s', (raw, expected) => {
    expect(normalizeUrl(raw, { base: 'https://base.org/d/' })).toBe(expected);
  });

  it('a host that is known not to speak https keeps http', () => {
    expect(normalizeUrl('http://old.org/', { speaksHttps: (host) => host !== 'old.org' })).toBe(
      'http://old.org/',
    );
  });
});
