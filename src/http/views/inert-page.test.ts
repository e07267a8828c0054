import { parseDocument } from 'htmlparser2';
import { describe, expect, it } from 'vitest';
import { inertPage } from './inert-page.ts';

interface Found {
  readonly name?: string;
  readonly attribs?: Readonly<Record<string, string>>;
  readonly children?: readonly Found[];
}

function* elementsOf(node: Found): Generator<Found & { name: string; attribs: Record<string, string> }> {
  if (node.name !== undefined && node.attribs !== undefined) yield node as never;
  for (const child of node.children ?? []) yield* elementsOf(child);
}

const MADE_HARMLESS = [
  '<script>alert(1)</script>',
  '<SCRIPT SRC=//x.example/a.js></SCRIPT>',
  '<scr<script>ipt>alert(1)</scr</script>ipt>',
  '<<x>script>alert(1)<</x>/script>',
  '<img src=x onerror=alert(1)>',
  '<img src="x`"onerror="alert(1)" alt=`><script>alert(1)</script>`>',
  '<img/src=x/onerror=alert(1)//',
  '<svg onload=alert(1)><script>alert(1)</script><a xlink:href="javascript:alert(1)">x</a></svg>',
  '<svg><style><img src=x onerror=alert(1)></style></svg>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<title><img title="</title><img src=x onerror=alert(1)>"></title>',
  '<textarea><img title="</textarea><img src=x onerror=alert(1)>"></textarea>',
  '<xmp><p id="</xmp><img src=x onerror=alert(1)>"></xmp>',
  '<iframe srcdoc="<script>alert(1)</script>" src="javascript:alert(1)"></iframe>',
  '<object data="data:text/html,<script>alert(1)</script>"></object><embed src=x.swf>',
  '<frameset><frame src="https://x.example/"></frameset>',
  '<form action="https://x.example/"><input name=a><button formaction="javascript:alert(1)">go</button></form>',
  '<a href="javascript:alert(1)" ping="https://x.example/" target=_top>x</a>',
  '<a href="&#106;avascript:alert(1)">x</a><area href="https://x.example/">',
  '<base href="https://x.example/"><meta http-equiv="refresh" content="0;url=https://x.example/">',
  '<link rel=stylesheet href="https://x.example/a.css"><link rel=prefetch href="https://x.example/">',
  '<style>@import "https://x.example/a.css"; p { background: url(https://x.example/b.png) }</style>',
  '<style>a{}</st@importyle><img src=x onerror=alert(1)></style>',
  '<p style="background:url(//x.example/)">x</p>',
  '<video src=x poster=y autoplay onplay=alert(1)><source src=x></video><audio src=x></audio>',
  '<img srcset="https://x.example/a.png 2x" src="https://x.example/a.png" lowsrc=x dynsrc=x>',
  '<img src="data:image/svg+xml,<svg onload=alert(1)>">',
  '<body onload=alert(1) background="https://x.example/">',
  '<p aria-label="x" aria-onclick="y" onclick=alert(1) data-x="y">x</p>',
  '<template><script>alert(1)</script></template>',
  '<x-y is=script onclick=alert(1)>text</x-y>',
  '<!--[if IE]><script>alert(1)</script><![endif]--><?xml-stylesheet href="javascript:alert(1)"?>',
  '<details open ontoggle=alert(1)>x</details><dialog open>x</dialog><portal src=x></portal>',
  '<plaintext><script>alert(1)</script>',
  '<p id="<script>alert(1)</script>">x',
  '\u0000<scr\u0000ipt>alert(1)</scr\u0000ipt>',
];
const FORBIDDEN_NAMES =
  /^(?:script|iframe|frame|frameset|object|embed|applet|form|base|meta|link|svg|math|video|audio|source|portal|dialog|area|map|x-y|noscript|title)$/;
/** Every attribute that a browser would ask for or go to, and every handler. */
const FORBIDDEN_ATTRIBUTES =
  /^(?:on.*|href|xlink:href|srcset|action|formaction|data.*|ping|poster|background|srcdoc|target|is)$/;

describe('a preview', () => {
  it.each(MADE_HARMLESS)('can do nothing: %s', (html) => {
    const page = inertPage(html);
    const [, ...ownStart] = page.split('\n');
    for (const { name, attribs } of elementsOf(parseDocument(ownStart.join('\n')) as Found)) {
      expect(name).not.toMatch(FORBIDDEN_NAMES);
      for (const [attribute, value] of Object.entries(attribs)) {
        expect(attribute).not.toMatch(FORBIDDEN_ATTRIBUTES);
        if (attribute === 'src') expect(value).toMatch(/^data:image\/(?!svg)/);
      }
    }
    expect(page).not.toMatch(/url\(\s*["']?(?!data:)\S|@import/i);
  });

  it('shows text, structure, styles and inline pictures, and where links lead', () => {
    const page = inertPage(
      '<html lang=de><head><title>T</title><style>h1 { color: red }</style></head><body class="a b"><h1>5 &lt; 6 & 7</h1>' +
        '<a href="https://site.example/?a=1&amp;b=2">on</a><img src="data:image/png;base64,AA==" alt="dot" width=1>' +
        '<input value=\'say "hi"\'><noscript>no scripts</noscript><svg><path d="M0"/></svg></body></html>',
    );
    expect(page).toContain('<h1>5 &lt; 6 & 7</h1>');
    expect(page).toContain('<style>h1 { color: red }</style>');
    expect(page).toContain('<body class="a b">');
    expect(page).toContain('<a title="https://site.example/?a=1&amp;b=2">on</a>');
    expect(page).toContain('<img src="data:image/png;base64,AA==" alt="dot" width="1">');
    expect(page).toContain('<input value="say &quot;hi&quot;" disabled="">');
    expect(page).toContain('<template>no scripts</template>');
    expect(page).not.toContain('path');
  });

  it('is written in linear time, whatever the styles of the page are', () => {
    const gap = ' '.repeat(400_000);
    // Anything quadratic would take minutes and meet the time limit of the test.
    expect(inertPage(`<style>p{background:url(${gap}data:,x)}</style>`)).toContain(`url(${gap}data:,x)`);
    expect(inertPage(`<p style="background:url(${gap}//x.example/)">`)).toContain('url(data:,)');
  });

  it('nests no deeper than a browser can show, and keeps the text', () => {
    const depthOf = (html: string) => {
      let [depth, deepest] = [0, 0];
      for (const [, end] of inertPage(html).matchAll(/<(\/?)(?:div|b|i|p|span|li|ul|table|tr|td)\b/g)) {
        depth += end === '' ? 1 : -1;
        deepest = Math.max(deepest, depth);
      }
      return deepest;
    };
    for (const tags of ['<div>', '<p><b>', '<ul><li>', '<table><tr><td>', '<span><i>']) {
      expect(depthOf(`${tags.repeat(240_000 / tags.length)}deep`)).toBeLessThanOrEqual(256);
    }
    const deep = inertPage(`${'<div>'.repeat(1_000)}deep${'</div>'.repeat(1_000)}<p>behind</p>`);
    expect(deep).toContain('deep');
    expect(deep.endsWith('</div><p>behind</p>')).toBe(true);
    // Unclosed formatting would be repeated in every paragraph that follows.
    expect(inertPage('<p><b>x<p><b>y<li>1<li>2')).toContain('<p><b>x</b></p><p><b>y<li>1</li><li>2');
  });

  it('of a long page is cut', () => {
    expect(inertPage('<b>x</b>'.repeat(200_000)).length).toBeLessThan(1_100_000);
  });
});
