import { describe, expect, it } from 'vitest';
import { crawlDelayMs, isAllowed, parseRobots, ROBOTS_LIMIT_BYTES } from './robots-rules.ts';

const BOT = 'ScrapifieBot';
type Case = readonly [claim: string, file: string, path: string, allowed: boolean];

/** For `*`, unless the file names agents itself. */
const forAll = (lines: string) => `User-agent: *\n${lines}`;

const paths: readonly Case[] = [
  ['an empty file allows', '', '/a', true],
  ['an empty disallow allows', forAll('Disallow:'), '/a', true],
  ['an empty allow changes nothing', forAll('Allow:\nDisallow: /a'), '/a', false],
  ['a slash disallows everything', forAll('Disallow: /'), '/a/b?c', false],
  ['a slash disallows the root', forAll('Disallow: /'), '/', false],
  ['an empty path is the root', forAll('Disallow: /$'), '', false],
  ['a rule is a prefix', forAll('Disallow: /fish'), '/fish.html', false],
  ['a rule matches itself', forAll('Disallow: /fish'), '/fish', false],
  ['a rule matches from the start only', forAll('Disallow: /fish'), '/catfish', true],
  ['a rule does not match a deeper place', forAll('Disallow: /fish'), '/sea/fish', true],
  ['paths keep their case', forAll('Disallow: /fish'), '/Fish', true],
  ['a final slash is part of the rule', forAll('Disallow: /fish/'), '/fish', true],
  ['a final slash covers the folder', forAll('Disallow: /fish/'), '/fish/?id=1', false],
  ['the query belongs to the path', forAll('Disallow: /find?q='), '/find?q=x', false],
  ['a rule without a query covers every query', forAll('Disallow: /find'), '/find?q=x', false],
  ['a fragment is not sent, so not matched', forAll('Disallow: /a#b'), '/a', false],
  ['a fragment on the path is dropped', forAll('Disallow: /a$'), '/a#b', false],
  ['a rule that begins with neither slash nor star matches nothing', forAll('Disallow: a'), '/a', true],
];

const wildcards: readonly Case[] = [
  ['a star stands for nothing', forAll('Disallow: /a*b'), '/ab', false],
  ['a star stands for much', forAll('Disallow: /a*b'), '/a/x/y/b/z', false],
  ['a star at the end adds nothing', forAll('Disallow: /a*'), '/abc', false],
  ['a star at the beginning may stand without a slash', forAll('Disallow: *.pdf'), '/x/y.pdf', false],
  ['a star spans the query', forAll('Disallow: /*/private'), '/x?p=/private', false],
  ['the text after a star must be there', forAll('Disallow: /a*b'), '/acd', true],
  ['several stars match in order', forAll('Disallow: /*a*b*c'), '/xaybzc', false],
  ['several stars do not match out of order', forAll('Disallow: /*a*b*c'), '/xcybza', true],
  ['two pieces do not share characters', forAll('Disallow: /*aa*aa'), '/aaa', true],
  ['stars in a row are one', forAll('Disallow: /a***b'), '/axb', false],
  ['a dollar ends the path', forAll('Disallow: /*.php$'), '/x.php', false],
  ['a dollar refuses more path', forAll('Disallow: /*.php$'), '/x.php5', true],
  ['a dollar refuses a query', forAll('Disallow: /*.php$'), '/x.php?y', true],
  ['the last occurrence satisfies the dollar', forAll('Disallow: /*.php$'), '/x.php/y.php', false],
  ['a dollar after a star changes nothing', forAll('Disallow: /a*$'), '/abc', false],
  ['an anchored piece may not overlap the one before', forAll('Disallow: /ab*b$'), '/ab', true],
  ['a dollar in the middle is a dollar', forAll('Disallow: /a$b'), '/a$bc', false],
  ['a dollar in the middle is no anchor', forAll('Disallow: /a$b'), '/a', true],
  ['an encoded star is a star of the path', forAll('Disallow: /a-%2A.html'), '/a-*.html', false],
  ['an encoded star is no wildcard', forAll('Disallow: /a-%2A.html'), '/a-b.html', true],
  ['an encoded dollar is a dollar of the path', forAll('Disallow: /a%24'), '/a$b', false],
];

const precedence: readonly Case[] = [
  ['the longer allow wins', forAll('Disallow: /a\nAllow: /a/b'), '/a/b/c', true],
  ['the longer disallow wins', forAll('Allow: /a\nDisallow: /a/b'), '/a/b/c', false],
  ['order does not matter', forAll('Allow: /a/b\nDisallow: /a'), '/a/b', true],
  ['allow wins a tie', forAll('Disallow: /a\nAllow: /a'), '/a', true],
  ['allow wins a tie written first', forAll('Allow: /a\nDisallow: /a'), '/a', true],
  ['stars count towards the length', forAll('Allow: /page\nDisallow: /*.htm'), '/page.htm', false],
  ['a tie of length with a star is a tie', forAll('Allow: /page\nDisallow: /*.ph'), '/page.php5', true],
  ['an anchor counts towards the length', forAll('Allow: /$\nDisallow: /'), '/', true],
  ['an anchored allow opens only its path', forAll('Allow: /$\nDisallow: /'), '/a', false],
  ['length counts octets, not characters', forAll('Disallow: /ä\nAllow: /*a*b*'), '/%C3%A4ab', false],
  ['robots.txt itself is always allowed', forAll('Disallow: /'), '/robots.txt', true],
  ['only robots.txt itself is', forAll('Disallow: /'), '/robots.txt.bak', false],
];

const encodings: readonly Case[] = [
  ['text beyond ASCII matches its encoding', forAll('Disallow: /ツ'), '/%E3%83%84', false],
  ['the encoding matches text beyond ASCII', forAll('Disallow: /%E3%83%84'), '/ツ', false],
  ['hex digits have no case', forAll('Disallow: /%e3%83%84'), '/%E3%83%84', false],
  ['characters beyond the base plane are encoded whole', forAll('Disallow: /😀'), '/%F0%9F%98%80', false],
  ['unreserved characters match their encoding', forAll('Disallow: /%62%61%7A'), '/baz', false],
  ['an encoded unreserved path is decoded', forAll('Disallow: /baz'), '/%62a%7a', false],
  ['an encoded slash is not a slash of the path', forAll('Disallow: /a/b'), '/a%2Fb', true],
  ['an encoded slash matches itself', forAll('Disallow: /a%2fb'), '/a%2Fb', false],
  [
    'a query may hold a URL as it is or encoded',
    forAll('Disallow: /f?u=http://x'),
    '/f?u=http%3A%2F%2Fx',
    false,
  ],
  ['and the other way round', forAll('Disallow: /f?u=http%3A%2F%2Fx'), '/f?u=http://x', false],
  ['and behind a star', forAll('Disallow: /*?u=*%2Fx'), '/f?u=a/x', false],
  ['an encoded ampersand stays apart from a plain one', forAll('Disallow: /f?a&b'), '/f?a%26b', true],
  ['a blank in a rule matches its encoding', forAll('Disallow: /a b'), '/a%20b', false],
  ['a percent sign that encodes nothing stands for itself', forAll('Disallow: /100%'), '/100%25', false],
  ['a lone surrogate does no harm', forAll('Disallow: /\ud800x'), '/%EF%BF%BDx', false],
];

const groups: readonly Case[] = [
  [
    'a group of its own replaces the one for all',
    `${forAll('Disallow: /')}\nUser-agent: ${BOT}\nDisallow: /x`,
    '/a',
    true,
  ],
  ['a group of its own without rules allows', `${forAll('Disallow: /')}\nUser-agent: ${BOT}\n`, '/a', true],
  ['tokens have no case', 'User-agent: SCRAPIFIEBOT\nDisallow: /', '/a', false],
  ['a version behind the token is no part of it', `User-agent: ${BOT}/1.0\nDisallow: /`, '/a', false],
  ['words behind the token are no part of it', `User-agent: ${BOT} beta\nDisallow: /`, '/a', false],
  ['a longer token is another bot', `User-agent: ${BOT}-News\nDisallow: /`, '/a', true],
  ['a shorter token is another bot', 'User-agent: Scrapifie\nDisallow: /', '/a', true],
  ['a star with words behind it is for all', 'User-agent: * # everyone\nDisallow: /', '/a', false],
  ['a star glued to a name is for nobody', 'User-agent: *bot\nDisallow: /', '/a', true],
  [
    'agents in a row share the rules',
    `User-agent: A\nUser-agent: ${BOT}\nUser-agent: B\nDisallow: /`,
    '/a',
    false,
  ],
  ['a rule ends the row', `User-agent: A\nDisallow: /\nUser-agent: ${BOT}\nDisallow: /x`, '/a', true],
  ['an empty rule ends the row too', `User-agent: ${BOT}\nDisallow:\nUser-agent: A\nDisallow: /`, '/a', true],
  ['an empty line ends nothing', `User-agent: ${BOT}\n\n\nDisallow: /`, '/a', false],
  [
    'groups of the same agent are one: first part',
    `User-agent: ${BOT}\nDisallow: /a\nUser-agent: A\nDisallow: /c\nUser-agent: ${BOT}\nDisallow: /b`,
    '/a',
    false,
  ],
  [
    'groups of the same agent are one: second part',
    `User-agent: ${BOT}\nDisallow: /a\nUser-agent: A\nDisallow: /c\nUser-agent: ${BOT}\nDisallow: /b`,
    '/b',
    false,
  ],
  ['groups for all are one as well', `${forAll('Disallow: /a')}\n${forAll('Disallow: /b')}`, '/a', false],
  [
    'rules before the first agent are for nobody',
    `Disallow: /\nUser-agent: ${BOT}\nDisallow: /x`,
    '/a',
    true,
  ],
  [
    'a sitemap does not end the row',
    `User-agent: A\nSitemap: https://x/s.xml\nUser-agent: ${BOT}\nDisallow: /`,
    '/a',
    false,
  ],
  [
    'a crawl-delay does not end the row',
    `User-agent: ${BOT}\nCrawl-delay: 1\nUser-agent: A\nDisallow: /`,
    '/a',
    false,
  ],
  [
    'an unknown field does not end the row',
    `User-agent: A\nHost: x\nUser-agent: ${BOT}\nDisallow: /`,
    '/a',
    false,
  ],
  ['other agents do not matter', 'User-agent: A\nDisallow: /', '/a', true],
];

const spelling: readonly Case[] = [
  ['a byte order mark is skipped', `\ufeff${forAll('Disallow: /')}`, '/a', false],
  ['half a byte order mark is skipped', `\ufffd${forAll('Disallow: /')}`, '/a', false],
  ['a byte order mark inside spoils its line only', forAll('\ufeffDisallow: /a\nDisallow: /b'), '/a', true],
  ['lines may end with CR LF', 'User-agent: *\r\nDisallow: /a\r\nDisallow: /b', '/b', false],
  ['lines may end with CR', 'User-agent: *\rDisallow: /a\rDisallow: /b', '/a', false],
  ['line ends may be mixed', 'User-agent: *\r\nDisallow: /a\n\rDisallow: /b', '/b', false],
  ['field names have no case', 'uSER-aGENT: *\nDISALLOW: /', '/a', false],
  ['blanks around the colon do not count', 'User-agent  :\t*  \n  Disallow : /a  ', '/a', false],
  ['no blank is needed behind the colon', 'User-agent:*\nDisallow:/a', '/a', false],
  ['a comment ends the line', forAll('Disallow: /a # all of it'), '/a', false],
  ['a comment line is nothing', forAll('# Disallow: /'), '/a', true],
  [
    'a comment does not end the row of agents',
    `User-agent: A\n# and\nUser-agent: ${BOT}\nDisallow: /`,
    '/a',
    false,
  ],
  ['a forgotten colon is added', 'User-agent *\nDisallow /a', '/a', false],
  ['prose without a colon is nothing', forAll('Disallow all of it\nDisallow'), '/a', true],
  ['a common misspelling is understood', forAll('Disalow: /a\nDissallow: /b'), '/b', false],
  ['useragent without its hyphen is understood', 'Useragent: *\nDisallow: /', '/a', false],
  ['a longer field name is another field', forAll('Disallow-all: /'), '/a', true],
  ['an HTML page has no rules', '<!doctype html><p>User-agent: *<p>Disallow: /', '/a', true],
  ['binary rubbish has no rules', '\u0000\u0001\u0002:\u0000\n\u0003', '/a', true],
];

describe.each([
  ['paths', paths],
  ['wildcards', wildcards],
  ['precedence', precedence],
  ['encodings', encodings],
  ['groups', groups],
  ['spelling', spelling],
] as const)('robots rules: %s', (_name, cases) => {
  it.each(cases)('%s', (_claim, file, path, allowed) => {
    expect(isAllowed(parseRobots(file), BOT, path).allowed).toBe(allowed);
  });
});

describe('a decision', () => {
  it('names the line that made it, as it was written', () => {
    const rules = parseRobots(forAll('Allow: /\nDisallow: /a*ä$ # why'));
    expect(isAllowed(rules, BOT, '/a/%C3%A4')).toEqual({ allowed: false, rule: 'disallow: /a*ä$ (line 3)' });
    expect(isAllowed(rules, BOT, '/b')).toEqual({ allowed: true, rule: 'allow: / (line 2)' });
  });

  it('names no line when none matched', () => {
    expect(isAllowed(parseRobots(forAll('Disallow: /a')), BOT, '/b').rule).toBeNull();
  });

  it('is made for the agent that asks, also when several ask in turn', () => {
    const rules = parseRobots('User-agent: a\nDisallow: /a\nUser-agent: b\nDisallow: /b');
    for (let turn = 0; turn < 2; turn++) {
      expect(isAllowed(rules, 'a', '/a').allowed).toBe(false);
      expect(isAllowed(rules, 'b', '/a').allowed).toBe(true);
    }
  });
});

describe('crawl-delay', () => {
  it.each([
    ['10', 10_000],
    ['0.5', 500],
    ['.25', 250],
    ['1.', 1_000],
    ['0', 0],
    ['-1', null],
    ['soon', null],
    ['', null],
    ['1e3', null],
  ])('of "%s" is %s ms', (value, delayMs) => {
    expect(crawlDelayMs(parseRobots(forAll(`Crawl-delay: ${value}`)), BOT)).toBe(delayMs);
  });

  it('is that of the own group, and none when the own group has none', () => {
    const file = `${forAll('Crawl-delay: 5\nDisallow:')}\nUser-agent: ${BOT}\nDisallow: /x`;
    expect(crawlDelayMs(parseRobots(file), BOT)).toBeNull();
    expect(crawlDelayMs(parseRobots(file), 'other')).toBe(5_000);
  });

  it('is the longest one when a group has several', () => {
    const file = `${forAll('Crawl-delay: 2\nDisallow:')}\n${forAll('Crawl-delay: 7')}`;
    expect(crawlDelayMs(parseRobots(file), BOT)).toBe(7_000);
  });
});

describe('sitemaps', () => {
  it('are absolute URLs from anywhere in the file, once each, in order', () => {
    const file = [
      'Sitemap: https://x.example/b.xml',
      'User-agent: A',
      'SITEMAP:https://x.example/a.xml',
      'Disallow: /',
      'Sitemap: /relative.xml',
      'Sitemap: ftp://x.example/c.xml',
      'Sitemap: https://x.example/b.xml # again',
      'Site-map: http://y.example/d.xml',
    ].join('\n');
    expect(parseRobots(file).sitemaps).toEqual([
      'https://x.example/b.xml',
      'https://x.example/a.xml',
      'http://y.example/d.xml',
    ]);
  });
});

describe('a file that is too large', () => {
  const head = forAll('Disallow: /a\n');
  const filler = (bytes: number) => `#${'x'.repeat(bytes - 2)}\n`;

  it('is read up to 500 KiB and not beyond', () => {
    const file = `${head}${filler(ROBOTS_LIMIT_BYTES)}Disallow: /b\n`;
    expect(isAllowed(parseRobots(file), BOT, '/a').allowed).toBe(false);
    expect(isAllowed(parseRobots(file), BOT, '/b').allowed).toBe(true);
  });

  it('loses a line that the limit cuts, rather than have it mean something else', () => {
    const rule = 'Disallow: /private';
    const file = `${head}${filler(ROBOTS_LIMIT_BYTES - head.length - 'Disallow: /p'.length)}${rule}\n`;
    expect(isAllowed(parseRobots(file), BOT, '/photos').allowed).toBe(true);
  });

  it('keeps a line that ends exactly at the limit', () => {
    const rule = 'Disallow: /b';
    const file = `${head}${filler(ROBOTS_LIMIT_BYTES - head.length - rule.length)}${rule}\nDisallow: /c\n`;
    expect(isAllowed(parseRobots(file), BOT, '/b').allowed).toBe(false);
    expect(isAllowed(parseRobots(file), BOT, '/c').allowed).toBe(true);
  });

  it('is measured in bytes', () => {
    const file = `${head}#${'ツ'.repeat(ROBOTS_LIMIT_BYTES / 3)}\nDisallow: /b\n`;
    expect(file.length).toBeLessThan(ROBOTS_LIMIT_BYTES);
    expect(isAllowed(parseRobots(file), BOT, '/b').allowed).toBe(true);
  });
});

describe('a file that is written to cost time', () => {
  it('is decided against without working through it', () => {
    const rules = parseRobots(
      forAll(Array.from({ length: 6_000 }, (_, n) => `Disallow: /*${'a'.repeat(40)}${n}`).join('\n')),
    );
    expect(isAllowed(rules, BOT, `/${'a'.repeat(8_000)}`)).toEqual({
      allowed: false,
      rule: 'too many wildcard rules for so long a path',
    });
    expect(isAllowed(rules, BOT, '/b').allowed).toBe(true);
  });

  it('is decided against when its rules resemble the path all along', () => {
    const near = Array.from({ length: 1_200 }, (_, n) => `Disallow: /*${'ab'.repeat(190)}${n}`);
    const rules = parseRobots(forAll(near.join('\n')));
    expect(isAllowed(rules, BOT, `/${'ab'.repeat(4_000)}`)).toEqual({
      allowed: false,
      rule: 'too many wildcard rules for so long a path',
    });
    expect(isAllowed(rules, BOT, `/${'ab'.repeat(100)}`).allowed).toBe(true);
  });

  it('does not look like a long list of honest wildcard rules', () => {
    const rules = parseRobots(
      forAll(Array.from({ length: 1_200 }, (_, n) => `Disallow: /*/print/${n}/*.html$`).join('\n')),
    );
    expect(isAllowed(rules, BOT, `/shop/print/7/${'a'.repeat(1_500)}.html`).allowed).toBe(false);
    expect(isAllowed(rules, BOT, `/shop/${'a'.repeat(1_500)}`).allowed).toBe(true);
  });
});
