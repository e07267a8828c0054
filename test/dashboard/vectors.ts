/** Where a site can put text that a page about the site shows. */
export type VectorPlace =
  | 'html'
  | 'markdown'
  | 'svg'
  | 'url'
  | 'path'
  | 'header'
  | 'file'
  | 'title'
  | 'csv'
  | 'json'
  | 'robots'
  | 'redirect';

/** Code that a careless page would run: `alert` is what the tests listen to. */
const HTML = [
  '<script>alert(1)</script>',
  '<ScRiPt>alert(2)</sCrIpT>',
  '<script src="data:text/javascript,alert(3)"></script>',
  '<script type="module">alert(4)</script>',
  '<img src="x" onerror="alert(5)">',
  '<img src=x onerror=alert(6)//',
  '<IMG """><SCRIPT>alert(7)</SCRIPT>">',
  '<img/src=`x`/onerror=alert(8)>',
  '<svg onload=alert(9)></svg>',
  '<svg><script>alert(10)</script></svg>',
  '<svg><animate onbegin=alert(11) attributeName=x dur=1s></svg>',
  '<svg><a xlink:href="javascript:alert(12)"><text y="1em">Run</text></a></svg>',
  '<math><maction actiontype="statusline" xlink:href="javascript:alert(13)">Run</maction></math>',
  '<body onload=alert(14)>',
  '<body onpageshow=alert(15)>',
  '<iframe src="javascript:alert(16)"></iframe>',
  '<iframe srcdoc="<script>alert(17)</script>"></iframe>',
  '<iframe srcdoc="&lt;img src=x onerror=parent.alert(18)&gt;"></iframe>',
  '<object data="javascript:alert(19)"></object>',
  '<object data="data:text/html,<script>alert(20)</script>"></object>',
  '<embed src="javascript:alert(21)">',
  '<details open ontoggle=alert(22)><summary>More</summary></details>',
  '<video><source onerror=alert(23)></video>',
  '<audio src=x onerror=alert(24)></audio>',
  '<input autofocus onfocus=alert(25)>',
  '<select autofocus onfocus=alert(26)></select>',
  '<textarea autofocus onfocus=alert(27)></textarea>',
  '<marquee onstart=alert(28)>Run</marquee>',
  '<meta http-equiv="refresh" content="300;url=javascript:alert(29)">',
  '<base href="javascript:alert(30)//">',
  '<link rel="stylesheet" href="javascript:alert(31)">',
  '<style>@import "javascript:alert(32)";</style>',
  '<div style="background:url(javascript:alert(33))">Box</div>',
  '<div style="width:expression(alert(34))">Box</div>',
  '<a href="javascript:alert(35)">A link</a>',
  '<a href="java&#x09;script:alert(36)">A link with a tab</a>',
  '<a href=" &#14; javascript:alert(37)">A link with a control character</a>',
  '<a href="data:text/html;base64,PHNjcmlwdD5hbGVydCgzOCk8L3NjcmlwdD4=">A link to data</a>',
  '<a href="vbscript:alert(39)">A link of old</a>',
  '<form action="javascript:alert(40)"><button>Send</button></form>',
  '<form><button formaction="javascript:alert(41)">Send</button></form>',
  '<isindex action="javascript:alert(42)" type=submit value=Go>',
  '<noscript><p title="</noscript><img src=x onerror=alert(43)>"></noscript>',
  '<template><script>alert(44)</script></template>',
  '<xmp><img title="</xmp><img src=x onerror=alert(45)>"></xmp>',
  '<p title="&quot;><script>alert(46)</script>">A title</p>',
  '<!--><img src=x onerror=alert(47)>-->',
  '<![CDATA[<img src=x onerror=alert(48)>]]>',
  '<svg><style><img src=x onerror=alert(49)></style></svg>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(50)&gt;">',
  '<form><math><mtext></form><form><mglyph><svg><mtext><style><path id="</style><img onerror=alert(51) src>">',
  '<div contenteditable autofocus onfocus=alert(52) tabindex=1>Box</div>',
  '<p onmouseover=alert(53) onpointerenter=alert(53)>Point here</p>',
  '<style>@keyframes x{}</style><p style="animation-name:x" onanimationstart=alert(54)>Moving</p>',
  '<table background="javascript:alert(55)"><tr><td>Cell</td></tr></table>',
  '<frameset onload=alert(56)></frameset>',
  '<img srcset="x 1x" src="y" onerror=alert(57) loading=eager>',
  '<object type="image/svg+xml" data="/vector.svg"></object>',
  '<img src="/vector.svg" alt="&lt;img src=x onerror=alert(59)&gt;">',
  '<p id="location"></p><a id="config" href="javascript:alert(60)">Names of the page</a>',
];

const MARKDOWN = [
  '[run](javascript:alert(101))',
  '[run](JaVaScRiPt:alert(102))',
  '[run](java\u0000script:alert(103))',
  '[run](<javascript:alert(104)>)',
  '[run](data:text/html,<script>alert(105)</script>)',
  '![run](javascript:alert(106))',
  '![x" onerror="alert(107)](x)',
  '![x](x "a" onerror="alert(108)")',
  '<javascript:alert(109)>',
  '[ref]\n\n[ref]: javascript:alert(110)',
  '`<script>alert(111)</script>`',
  '```html"><img src=x onerror=alert(112)>\ncode\n```',
  '| a | <img src=x onerror=alert(113)> |\n|---|---|\n| b | [c](javascript:alert(113)) |',
  '# <img src=x onerror=alert(114)>',
  '- [x] <svg onload=alert(115)>',
  '[a](vbscript:alert(116)) &colon; [b](javascript&colon;alert(116))',
  '[x](https://a.example/"onmouseover="alert(117))',
  '<details open ontoggle=alert(118)>\n\ntext\n\n</details>',
];

const SVG = [
  '<script>alert(201)</script>',
  '<script href="data:text/javascript,alert(202)"/>',
  '<image href="x" onerror="alert(203)"/>',
  '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><img src="x" onerror="alert(204)"/></body></foreignObject>',
  '<set attributeName="onmouseover" to="alert(205)"/>',
  '<a href="javascript:alert(206)"><rect width="9" height="9"/></a>',
  '<use href="data:image/svg+xml,&lt;svg id=&quot;x&quot; onload=&quot;alert(207)&quot;/&gt;#x"/>',
];

/** As they stand behind `href`, where a page links to them. */
const URLS = [
  'javascript:alert(301)',
  'JAVASCRIPT:alert(302)',
  'javascript://example.com/%0aalert(303)',
  'data:text/html,<script>alert(304)</script>',
  'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" onload="alert(305)"/>',
  'blob:null/alert(306)',
  'view-source:javascript:alert(307)',
  '//[::1]"onclick="alert(308)',
];

/** Ends of addresses of the site itself, which are crawled. */
const PATHS = [
  '/q?x="><script>alert(401)</script>',
  "/q?x='onmouseover='alert(402)",
  '/q?x=javascript:alert(403)',
  '/q/<img src=x onerror=alert(404)>',
  '/q/%22%3E%3Csvg%20onload%3Dalert(405)%3E',
  '/q?{{constructor.constructor("alert(406)")()}}',
  '/q?x=#{alert(407)}',
  '/q?x=%0d%0aSet-Cookie:alert=408',
];

const HEADERS = [
  '<script>alert(501)</script>',
  '"><img src=x onerror=alert(502)>',
  'javascript:alert(503)',
  "'-alert(504)-'",
  '</pre><svg onload=alert(505)>',
];

const FILES = [
  '"><img src=x onerror=alert(601)>.csv',
  '<svg onload=alert(602)>.pdf',
  "';alert(603);'.html",
  '../../<script>alert(604)</script>.zip',
];

const TITLES = [
  '</title><script>alert(701)</script>',
  '<img src=x onerror=alert(702)>',
  '"><svg/onload=alert(703)>',
  '{{7*7}}<b onmouseover=alert(704)>bold</b>',
  '\u202egnp.<script>alert(705)</script>',
  '&lt;script&gt;alert(706)&lt;/script&gt;',
];

const CSV = [
  '=HYPERLINK("javascript:alert(801)","Run")',
  "=cmd|' /C calc'!A0",
  '@SUM(1+1)*cmd|alert(803)',
  '+<script>alert(804)</script>',
  '-2+3+"><img src=x onerror=alert(805)>',
];

/** Keys and values of objects. */
const JSON_TEXTS = [
  '<img src=x onerror=alert(901)>',
  '</script><script>alert(902)</script>',
  'constructor"><script>alert(903)</script>',
  'toString',
  '<!--<script>alert(905)',
];

const ROBOTS = [
  '/<script>alert(1001)</script>',
  '/"><img src=x onerror=alert(1002)>',
  '/*<svg onload=alert(1003)>$',
];

const REDIRECTS = [
  'javascript:alert(1101)',
  'data:text/html,<script>alert(1102)</script>',
  '/q?to="><script>alert(1103)</script>',
  'http://"><svg onload=alert(1104)>/',
];

export const VECTORS: Readonly<Record<VectorPlace, readonly string[]>> = {
  html: HTML,
  markdown: MARKDOWN,
  svg: SVG,
  url: URLS,
  path: PATHS,
  header: HEADERS,
  file: FILES,
  title: TITLES,
  csv: CSV,
  json: JSON_TEXTS,
  robots: ROBOTS,
  redirect: REDIRECTS,
};
