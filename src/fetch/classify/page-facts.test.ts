import { expect, test } from 'vitest';
import { renderedFacts } from './page-facts.ts';

test('frames are read with the size that their markup names', () => {
  const html = [
    '<iframe src="https://a.example/?x=1&amp;y=2" width="304" height="78"></iframe>',
    '<iframe style="width: 1px; height:1px" src=https://b.example/></iframe>',
    '<iframe src="https://c.example/" width="100%"></iframe>',
    '<iframe src="https://d.example/" style="display: none"></iframe>',
    '<iframe srcdoc="x"></iframe>',
  ].join('');
  expect(renderedFacts(html, 12)).toEqual({
    textLength: 12,
    fieldCount: 0,
    frames: [
      { url: 'https://a.example/?x=1&y=2', width: 304, height: 78 },
      { url: 'https://b.example/', width: 1, height: 1 },
      { url: 'https://c.example/', width: 300, height: 150 },
    ],
  });
});

test('fields for the visitor are counted; hidden fields, buttons and answers of captcha widgets are not', () => {
  const html =
    '<input name=q><textarea name=t></textarea><select></select>' +
    '<input type="hidden" name=a><input type=submit><textarea name="g-recaptcha-response"></textarea>';
  expect(renderedFacts(html, 0).fieldCount).toBe(3);
});
