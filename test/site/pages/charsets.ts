import iconv from 'iconv-lite';
import type { Family } from '../exchange.ts';
import { html, pageIn, reply, segmentsOf } from '../exchange.ts';
import { documentOf, linkList } from '../layout.ts';

const PREFIX = '/charsets/';

export interface CharsetCase {
  /** The title as a reader should see it. */
  readonly title: string;
  readonly contentType: string;
  readonly bytes: Buffer;
  readonly note: string;
}

const document = (meta: string, title: string): string =>
  `<!doctype html>\n<html><head>${meta}<title>${title}</title></head><body><h1>${title}</h1><p>${title}</p></body></html>\n`;

/** A page in `encoding`, said by header, by meta tag, by both, or by neither. */
function made(
  title: string,
  encoding: string,
  said: { readonly header?: string; readonly meta?: string },
  note: string,
): CharsetCase {
  return {
    title,
    contentType: said.header === undefined ? 'text/html' : `text/html; charset=${said.header}`,
    bytes: iconv.encode(document(said.meta ?? '', title), encoding),
    note,
  };
}

const meta = (label: string): string => `<meta charset="${label}">`;
const equiv = (label: string): string =>
  `<meta http-equiv="Content-Type" content="text/html; charset=${label}">`;
const withBom = (bytes: Buffer, bom: readonly number[]): Buffer => Buffer.concat([Buffer.from(bom), bytes]);

const RUSSIAN = 'Привет, мир';
const JAPANESE = '日本語のページ';
const CHINESE = '中文网页𠮷';
const GERMAN = 'Grüße aus Köln';

export const CHARSETS: Readonly<Record<string, CharsetCase>> = {
  'utf-8': made(GERMAN, 'utf8', { header: 'utf-8' }, 'UTF-8 by header'),
  'utf-8-meta': made(GERMAN, 'utf8', { meta: meta('utf-8') }, 'UTF-8 by meta tag'),
  'utf-8-silent': made(GERMAN, 'utf8', {}, 'UTF-8 that nobody declares'),
  latin1: made(
    'Café “Ångström”',
    'win1252',
    { header: 'ISO-8859-1' },
    'called Latin-1, is windows-1252 as on the web',
  ),
  'windows-1251': made(RUSSIAN, 'win1251', { header: 'windows-1251' }, 'Cyrillic by header'),
  'windows-1251-meta': made(RUSSIAN, 'win1251', { meta: equiv('windows-1251') }, 'Cyrillic by http-equiv'),
  'koi8-r': made(RUSSIAN, 'koi8-r', { header: 'koi8-r' }, 'older Cyrillic'),
  shift_jis: made(JAPANESE, 'shift_jis', { header: 'Shift_JIS' }, 'Japanese by header'),
  'shift_jis-meta': made(JAPANESE, 'shift_jis', { meta: meta('shift_jis') }, 'Japanese by meta tag'),
  'euc-jp': made(JAPANESE, 'euc-jp', { header: 'euc-jp' }, 'Japanese, the other way'),
  gb18030: made(CHINESE, 'gb18030', { header: 'gb18030' }, 'Chinese with a four-byte sign'),
  'gb2312-meta': made('中文网页', 'gbk', { meta: meta('gb2312') }, 'called GB2312, decoded as GBK'),
  big5: made('繁體中文', 'big5', { header: 'big5' }, 'traditional Chinese'),
  'euc-kr': made('한국어 페이지', 'euc-kr', { header: 'euc-kr' }, 'Korean'),
  'utf-16le-bom': {
    ...made(RUSSIAN, 'utf-16le', {}, 'UTF-16 little endian by byte order mark'),
    bytes: withBom(iconv.encode(document('', RUSSIAN), 'utf-16le'), [0xff, 0xfe]),
  },
  'utf-16be-bom': {
    ...made(JAPANESE, 'utf-16be', {}, 'UTF-16 big endian by byte order mark'),
    bytes: withBom(iconv.encode(document('', JAPANESE), 'utf-16be'), [0xfe, 0xff]),
  },
  'utf-16-header': made(GERMAN, 'utf-16le', { header: 'utf-16le' }, 'UTF-16 by header, no mark'),
  'bom-over-header': {
    ...made(GERMAN, 'utf8', { header: 'windows-1251' }, 'the byte order mark says UTF-8, the header lies'),
    bytes: withBom(Buffer.from(document('', GERMAN)), [0xef, 0xbb, 0xbf]),
  },
  'header-over-meta': made(
    GERMAN,
    'utf8',
    { header: 'utf-8', meta: meta('windows-1251') },
    'the meta tag lies',
  ),
  'unknown-header': made(
    RUSSIAN,
    'win1251',
    { header: 'x-no-such', meta: meta('windows-1251') },
    'unknown label in the header, the meta tag is right',
  ),
  'quoted-header': made(RUSSIAN, 'win1251', { header: '"windows-1251"' }, 'label in quotes'),
  'late-meta': made(
    RUSSIAN,
    'win1251',
    { meta: `<!-- ${'x'.repeat(700)} -->${meta('windows-1251')}` },
    'meta tag after 700 bytes',
  ),
  'utf-16-in-meta': made(
    GERMAN,
    'utf8',
    { meta: meta('utf-16le') },
    'a meta tag that says UTF-16 means UTF-8',
  ),
  'invalid-utf-8': {
    title: 'Broken \uFFFD byte',
    contentType: 'text/html; charset=utf-8',
    bytes: Buffer.from(document('', 'Broken \xff byte'), 'latin1'),
    note: 'a byte that UTF-8 does not have becomes U+FFFD',
  },
  'cut-utf-8': {
    title: 'Fin',
    contentType: 'text/html; charset=utf-8',
    bytes: Buffer.concat([Buffer.from(document('', 'Fin')), Buffer.from([0xe2, 0x82])]),
    note: 'ends in the middle of a character',
  },
};

export const charsets: Family = {
  prefix: PREFIX,
  about: 'characters in many encodings, with right and wrong labels',
  starts: [PREFIX],
  answer(request) {
    const [first = ''] = segmentsOf(request, PREFIX);
    if (first === '') {
      return html(
        documentOf({ title: 'Charsets', body: linkList(Object.keys(CHARSETS).map((name) => PREFIX + name)) }),
      );
    }
    const found = pageIn(CHARSETS, first);
    return found === undefined ? null : reply(200, found.contentType, found.bytes);
  },
};
