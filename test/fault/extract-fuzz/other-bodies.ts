/** Small bodies that are no web pages, of every kind that is read. */
export const OTHER_BODIES: readonly { readonly body: string; readonly type: string | null }[] = [
  {
    type: 'application/json',
    body: '{"title":"A thing","items":[{"id":1,"url":"/a","at":"2025-03-04"},{"id":2,"tags":["x","\\u00e9"]}],"n":1e400,"deep":[[[[[]]]]]}',
  },
  {
    type: 'application/feed+json',
    body: '{"version":"https://jsonfeed.org/version/1.1","title":"Feed","items":[{"id":"1","url":"https://a.example/1","content_html":"<p>Text</p>","date_published":"2025-03-04T05:06:07Z"}]}',
  },
  { type: 'application/x-ndjson', body: '{"a":1}\n{"a":2}\n{"a":"three"}\n' },
  {
    type: 'application/rss+xml',
    body: '<?xml version="1.0"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>Feed</title><link>https://a.example/</link><item><title>One &amp; only</title><link>/1</link><pubDate>Tue, 04 Mar 2025 05:06:07 GMT</pubDate><dc:creator>Ann</dc:creator><description><![CDATA[<p>Text]]></description><enclosure url="/a.mp3" length="7"/></item></channel></rss>',
  },
  {
    type: 'application/atom+xml',
    body: '<feed xmlns="http://www.w3.org/2005/Atom"><title type="html">&lt;b&gt;Feed</title><entry><id>urn:x</id><title>One</title><link rel="alternate" href="/1"/><updated>2025-03-04T05:06:07+01:00</updated><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Text</p></div></content></entry></feed>',
  },
  {
    type: 'text/xml',
    body: '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE a [<!ENTITY b "c">]><a x="1"><b>&b;</b><!-- c --><c/></a>',
  },
  {
    type: 'text/csv; header=present',
    body: 'name;price;when\n"A ""thing""";1.234,56;04.03.2025\nB;7;\n;;\n"open',
  },
  { type: 'text/tab-separated-values', body: 'a\tb\tc\n1\t2\t3\n4\t5\t6\n' },
  {
    type: 'text/plain',
    body: 'Title\n=====\n\nSome text with https://a.example/x and more.\r\n\tIndented.\n',
  },
  { type: null, body: 'a,b,c\n1,2,3\n4,5,6\n' },
  { type: 'application/octet-stream', body: '\u0001\u0002GIF89a\u0000\u0000' },
  {
    type: 'image/svg+xml',
    body: '<svg xmlns="http://www.w3.org/2000/svg"><title>Picture</title><text>Words</text></svg>',
  },
];
