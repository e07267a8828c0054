import fc from 'fast-check';
import { Tokenizer } from 'htmlparser2';
import { describe, expect, it } from 'vitest';
import { HtmlScanner, type ScanHandler } from './scanner.ts';

type Token =
  | { open: string; attributes: [name: string, value: string][] }
  | { close: string }
  | { text: string };

function addText(tokens: Token[], text: string): void {
  const last = tokens.at(-1);
  if (last !== undefined && 'text' in last) last.text += text;
  else tokens.push({ text });
}

function scanTokens(html: string, isForeign = false): Token[] {
  const tokens: Token[] = [];
  const scanner = new HtmlScanner();
  const name = () => html.slice(scanner.nameStart, scanner.nameEnd).toLowerCase();
  const handler: ScanHandler = {
    isForeign,
    text: (start, end) => addText(tokens, html.slice(start, end)),
    rawText: (_tag, start, end) => addText(tokens, html.slice(start, end)),
    open: () => {
      const attributes: [string, string][] = [];
      for (let i = 0; i < scanner.attributeCount * 4; i += 4) {
        const [from, to, valueFrom, valueTo] = scanner.ranges.subarray(i, i + 4);
        attributes.push([html.slice(from, to), html.slice(valueFrom, valueTo)]);
      }
      tokens.push({ open: name(), attributes });
    },
    close: () => tokens.push({ close: name() }),
  };
  scanner.scan(html, handler);
  return tokens;
}

function referenceTokens(html: string): Token[] {
  const tokens: Token[] = [];
  let open: Extract<Token, { open: string }> = { open: '', attributes: [] };
  const nothing = () => undefined;
  const tokenizer = new Tokenizer(
    { decodeEntities: false },
    {
      onopentagname: (start, end) => {
        open = { open: html.slice(start, end).toLowerCase(), attributes: [] };
      },
      onattribname: (start, end) => open.attributes.push([html.slice(start, end), '']),
      onattribdata: (start, end) => {
        const last = open.attributes.at(-1);
        if (last !== undefined) last[1] += html.slice(start, end);
      },
      onattribend: nothing,
      onattribentity: nothing,
      onopentagend: () => tokens.push(open),
      onselfclosingtag: () => tokens.push(open),
      onclosetag: (start, end) => tokens.push({ close: html.slice(start, end).toLowerCase() }),
      ontext: (start, end) => addText(tokens, html.slice(start, end)),
      ontextentity: nothing,
      oncdata: nothing,
      oncomment: nothing,
      ondeclaration: nothing,
      onprocessinginstruction: nothing,
      onend: nothing,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  return tokens;
}

/** Ends whatever a page left open, because at the end of a page the reference shows broken tags as text. */
const ENDING = `"'-->${['script', 'style', 'title', 'textarea', 'iframe', 'xmp', 'noembed', 'noframes'].map((name) => `</${name}>`).join('')}`;

const piece = fc.oneof(
  fc.constantFrom(
    ...[
      '<',
      '>',
      '/',
      '=',
      '"',
      "'",
      ' ',
      '\n',
      '\t',
      '\f',
      '\r',
      '!',
      '-',
      '--',
      '?',
      '&',
      ';',
      '\0',
      '<!',
      '<?',
      '</',
    ],
    ...[
      '<a',
      '<a href=',
      '<A HREF="x">',
      '</a>',
      '<b>',
      '</b >',
      '<br/>',
      '<br / >',
      '<p class=x/>',
      '<x-y z>',
      '</ p>',
    ],
    ...[
      '<!-->',
      '<!--->',
      '<!---->',
      '<!--',
      '-->',
      '--!>',
      '--!-->',
      '<!doctype html>',
      '<!DOCTYPE',
      '<!d>',
      '<?php ?>',
    ],
    ...[
      '<script>',
      '</script',
      '</SCRIPT >',
      '<script/>',
      '<style a="b>">',
      '</style>',
      '<title>',
      '</title/>',
      '</titles>',
    ],
    ...[
      '<textarea>',
      '</textarea>',
      '<iframe src=x>',
      '</iframe>',
      '<xmp>',
      '</xmp>',
      '<scripts>',
      '<noembed>',
      '</noembed>',
    ],
    ...[
      'a',
      'href',
      'é',
      '漢',
      '😀',
      '&amp;',
      '&#38;',
      "='a>b'",
      '="a>b"',
      '= c',
      'a=b=c',
      '==',
      '="">',
      '\'"',
      '</>',
      '</1>',
    ],
  ),
  fc.string({ maxLength: 6 }),
);
const nastyHtml = fc
  .array(piece, { maxLength: 40 })
  .map((pieces) => pieces.join(''))
  .filter((html) => !/<!\[CDATA\[/i.test(html));

describe('HtmlScanner', () => {
  it('finds the same tags, attributes and text as htmlparser2 in nasty markup', () => {
    fc.assert(
      fc.property(nastyHtml, (html) => {
        expect(scanTokens(html + ENDING)).toEqual(referenceTokens(html + ENDING));
      }),
      { numRuns: 3_000 },
    );
  });

  it('reads every kind of attribute', () => {
    const [tag] = scanTokens(`<a  x Y=1 z = 'q"' w="a>b"c=d/e f/g =h "i"=j>`);
    expect(tag).toEqual({
      open: 'a',
      attributes: [
        ['x', ''],
        ['Y', '1'],
        ['z', 'q"'],
        ['w', 'a>b'],
        ['c', 'd/e'],
        ['f', ''],
        ['g', 'h'],
        ['"i"', 'j'],
      ],
    });
  });

  it('drops a tag that the page ends in, as browsers do', () => {
    for (const rest of [
      '<a',
      '<a href',
      '<a href=',
      '<a href="x',
      "<a href='x",
      '<a href=x',
      '<a /',
      '</a',
      '<!--',
      '<!x',
      '<?',
    ]) {
      expect(scanTokens(`text${rest}`), rest).toEqual([{ text: 'text' }]);
    }
  });

  it('keeps a lone < as text', () => {
    for (const html of ['a < b', 'a <', 'a </', '1<2', '<<', '< a>'])
      expect(scanTokens(html)).toEqual([{ text: html }]);
    expect(scanTokens('<<b>')).toEqual([{ text: '<' }, { open: 'b', attributes: [] }]);
  });

  it('takes an unclosed raw element to the end of the page', () => {
    expect(scanTokens('<script>a<b></scrip><a href=x>')).toEqual([
      { open: 'script', attributes: [] },
      { text: 'a<b></scrip><a href=x>' },
    ]);
    expect(scanTokens('<plaintext></plaintext><a>').at(-1)).toEqual({ text: '</plaintext><a>' });
  });

  it('knows CDATA and markup inside of scripts only in foreign content', () => {
    expect(scanTokens('<![CDATA[a<b>]]>c', true)).toEqual([{ text: 'a<b>c' }]);
    expect(scanTokens('<![CDATA[a<b>c')).toEqual([{ text: 'c' }]);
    expect(scanTokens('<script><b>', true)).toHaveLength(2);
  });

  it('reports the first of repeated attributes, decoded', () => {
    const values: (string | null)[] = [];
    const scanner = new HtmlScanner();
    const nothing = () => undefined;
    const open = () => values.push(scanner.attribute(0), scanner.attribute(1));
    scanner.scan('<a HREF="/a?b=1&amp;c=2&copy=3" href=second>', {
      isForeign: false,
      text: nothing,
      rawText: nothing,
      close: nothing,
      open,
    });
    expect(values).toEqual(['/a?b=1&c=2&copy=3', null]);
  });

  it('keeps the first 256 attributes of a tag and says so', () => {
    const scanner = new HtmlScanner();
    let count = 0;
    scanner.scan(`<a ${Array.from({ length: 1_000 }, (_, i) => `x${i}`).join(' ')} href=late>`, {
      isForeign: false,
      text: () => undefined,
      rawText: () => undefined,
      close: () => undefined,
      open: () => {
        count = scanner.attributeCount;
        expect(scanner.attribute(0)).toBe('late');
      },
    });
    expect(count).toBe(256);
    expect(scanner.isTruncated).toBe(true);
  });
});
