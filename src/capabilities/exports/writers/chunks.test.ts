import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../../crawl/llm/token-budget.ts';
import { chunksOf } from './chunks.ts';
import { fileName } from './markdown-zip.ts';

describe('chunks of a text', () => {
  it('end between paragraphs, begin anew with each heading, and name the headings above', () => {
    const chunks = chunksOf(
      '# Shop\n\nWelcome.\n\n## Hats\n\nRed hat.\n\nBlue hat.\n\n```\n# no heading\n\nx\n```',
    );
    expect(chunks.map(({ headings, text }) => [headings, text])).toEqual([
      [['Shop'], '# Shop\n\nWelcome.'],
      [['Shop', 'Hats'], '## Hats\n\nRed hat.\n\nBlue hat.\n\n```\n# no heading\n\nx\n```'],
    ]);
  });

  it('none has more tokens than allowed, and no word is lost', () => {
    const word = fc.string({
      minLength: 1,
      maxLength: 12,
      unit: fc.constantFrom('a', 'b', '7', 'ß', '語', '😀'),
    });
    const text = fc
      .array(fc.array(word, { maxLength: 60 }), { maxLength: 8 })
      .map((paragraphs) => paragraphs.map((words) => words.join(' ')).join('\n\n'));
    const plain = (value: string) => value.replace(/\s+/g, '');
    fc.assert(
      fc.property(text, (markdown) => {
        const chunks = chunksOf(markdown, 40);
        for (const chunk of chunks) {
          expect(chunk.tokens).toBe(estimateTokens(chunk.text));
          expect(chunk.tokens).toBeLessThanOrEqual(44);
        }
        expect(plain(chunks.map((chunk) => chunk.text).join(''))).toBe(plain(markdown));
      }),
    );
  });
});

describe('the name of a page in an archive', () => {
  it('stays in its folder, whatever the URL says', () => {
    const urls = [
      'https://a.test/../../etc/passwd',
      'https://a.test/%2e%2e/%2e%2e/x',
      'https://a.test/C:\\windows\\con',
      'https://a.test/CON',
      `https://a.test/${'long'.repeat(500)}`,
      'https://a.test/\u202Egnp.exe',
      'not a url',
    ];
    for (const url of urls) expect(fileName(url)).toMatch(/^pages\/[a-z0-9-]{1,80}\/[a-z0-9-]{1,100}\.md$/);
    expect(new Set(urls.map(fileName)).size).toBe(urls.length);
    expect(fileName('https://Shop.test:8080/Hats/Red.html')).toMatch(
      /^pages\/shop-test-8080\/hats-red-[0-9a-f]{12}\.md$/,
    );
  });
});
