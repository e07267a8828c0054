import { describe, expect, it } from 'vitest';
import { extractPage } from './extract-page.ts';

function linksOf(text: string, linkHeader: string | null = null, url = 'https://example.com/dir/page') {
  const input = { text, charset: null, url, contentType: 'text/html', xRobotsTag: null, formats: [] };
  return extractPage({ ...input, linkHeader }).links;
}
const urlsOf = (text: string) => linksOf(text).map((link) => link.url.replace('https://example.com', ''));
const textsOf = (text: string) => linksOf(text).map((link) => link.text);

describe('the links of a page', () => {
  it('come from everything that leads to a page, in order', () => {
    const found = linksOf(`
      <link rel="canonical" href="/c"><link rel="next" href="?p=2" title="Two"><link rel="prev" href="?p=0">
      <link rel="alternate" hreflang="de" href="/de"><link rel="amphtml" href="/amp">
      <a href="/a" rel="NoFollow ugc">A</a><map><area href="/area" alt="Area"></map>
      <frameset><frame src="/frame" title="F"></frameset><iframe src="/iframe"></iframe>
      <form action="/search"><input></form><form method=GET action="/get"></form><form method=post action="/post"></form>
      <meta http-equiv="Refresh" content="5;URL=/refresh">`);
    expect(found.map(({ url, text, rel, from }) => [from, url.slice(19), text, rel])).toEqual([
      ['canonical', '/c', '', 'canonical'],
      ['next', '/dir/page?p=2', 'Two', 'next'],
      ['prev', '/dir/page?p=0', '', 'prev'],
      ['link', '/de', '', 'alternate'],
      ['link', '/amp', '', 'amphtml'],
      ['a', '/a', 'A', 'nofollow ugc'],
      ['area', '/area', 'Area', ''],
      ['frame', '/frame', 'F', ''],
      ['iframe', '/iframe', '', ''],
      ['form', '/search', '', ''],
      ['form', '/get', '', ''],
      ['refresh', '/refresh', '', ''],
    ]);
  });

  it('do not come from what leads elsewhere or nowhere', () => {
    expect(
      urlsOf(`<a href="#x"></a><a href=""></a><a href=" "></a><a name=n></a><a href="javascript:x"></a><a href="mailto:a@b.c"></a>
        <a href="tel:1"></a><a href="data:text/html,x"></a><link rel=stylesheet href=/s><link rel="alternate stylesheet" href=/t>
        <link rel=icon href=/i><link rel=preload href=/p><link href=/n><link rel=alternate type="application/rss+xml" href=/feed>
        <link rel=alternate type="application/json" href=/wp-json><img src=/img srcset="/img2 2x"><script src=/js></script>
        <!-- <a href=/comment> --><script>"<a href=/script>"</script><template><a href=/template></a></template>
        <textarea><a href=/textarea></textarea><iframe><a href=/inside></iframe><xmp><a href=/xmp></xmp><form></form>`),
    ).toEqual([]);
  });

  it('are resolved against the base element, wherever it stands', () => {
    expect(urlsOf('<a href=x></a><base href="/b/"><base href="/c/"><a href=y></a>')).toEqual([
      '/b/x',
      '/b/y',
    ]);
    expect(urlsOf('<base target=_top><base href="sub/"><a href=x></a>')).toEqual(['/dir/sub/x']);
    expect(urlsOf('<base href="javascript:1"><a href=x></a>')).toEqual(['/dir/x']);
    expect(linksOf('<base href="//cdn.example/"><a href=x>')[0]?.url).toBe('https://cdn.example/x');
  });

  it('survive broken markup', () => {
    expect(urlsOf('<A HREF=/upper>x</A>')).toEqual(['/upper']);
    expect(urlsOf('<a href=/un/quoted?a=b&c=d>x')).toEqual(['/un/quoted?a=b&c=d']);
    expect(urlsOf("<a href='/single'class=x>")).toEqual(['/single']);
    expect(urlsOf('<a href="/first" href="/second">')).toEqual(['/first']);
    expect(urlsOf('<a\nhref\n=\n"/lines"\n>')).toEqual(['/lines']);
    expect(urlsOf('<a href=" /spaces ">')).toEqual(['/spaces']);
    expect(urlsOf('<a title="a > b" href="/after">')).toEqual(['/after']);
    expect(urlsOf('<a href="/a?x=1&amp;y=2&#38;z=3&copy=4">')).toEqual(['/a?x=1&y=2&z=3&copy=4']);
    expect(urlsOf('<div><p><a href=/1><li><a href=/2></p></div></div></b>')).toEqual(['/1', '/2']);
    expect(urlsOf('\0<a\0 href=/a></a><a href="/nul\0">x')).toEqual(['/nul']);
    expect(urlsOf('<a href="/x')).toEqual([]);
    expect(urlsOf('<script><a href=/1>')).toEqual([]);
  });

  it('count in noscript, in SVG and in declarative shadow roots', () => {
    expect(urlsOf('<noscript><a href=/n>n</a></noscript>')).toEqual(['/n']);
    expect(urlsOf('<svg><a xlink:href=/s><text>s</text></a><a href=/t /></svg><a href=/u>')).toEqual([
      '/s',
      '/t',
      '/u',
    ]);
    expect(urlsOf('<x-y><template shadowrootmode=open><a href=/d></a></template></x-y>')).toEqual(['/d']);
    expect(urlsOf('<svg><style/></svg><a href=/after-style>')).toEqual(['/after-style']);
  });

  it('have the text between their tags, or the alt text of an image', () => {
    expect(textsOf('<a href=/1> Some\n <b>bold</b>&amp; text </a>')).toEqual(['Some bold& text']);
    expect(textsOf('<a href=/1><div>Head</div><div>Line</div></a>')).toEqual(['Head Line']);
    expect(textsOf('<a href=/1><img alt=" A  picture "></a><a href=/2><img alt=no>yes</a>')).toEqual([
      'A picture',
      'yes',
    ]);
    expect(textsOf('<a href=/1>one<a href=/2>two</a>three</a>')).toEqual(['one', 'two']);
    expect(textsOf('<a href=/1>x<script>y</script><style>z</style></a>')).toEqual(['x']);
    expect(textsOf('<a href=/1>open to the end')).toEqual(['open to the end']);
    expect(textsOf('<noscript><a href=/n>seen</a></noscript>')).toEqual(['seen']);
  });

  it('include those of the Link header, relative to the page itself', () => {
    expect(
      linksOf(
        '<base href=/b/>',
        '<p2>; rel="next"; title="More, please", </s.css>; rel=stylesheet, </de>; rel=alternate',
      ),
    ).toEqual([
      { url: 'https://example.com/dir/p2', text: 'More, please', rel: 'next', from: 'next' },
      { url: 'https://example.com/de', text: '', rel: 'alternate', from: 'header' },
    ]);
  });

  it('are kept as often as they stand', () => {
    expect(urlsOf('<a href=/x>a</a><a href=/x>b</a>')).toEqual(['/x', '/x']);
  });
});
