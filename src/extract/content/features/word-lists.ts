import { ownString } from '../../../lib/own-memory.ts';

/**
 * Words that authors of pages use in class names, ids, roles and item properties, by their meaning.
 * Generic words only: nothing here names a site.
 */
const HINTS = {
  nav: 'nav navigation navbar navi menu menus submenu megamenu topnav sidenav subnav mainnav navlist navmenu menuitem dropdown tablist hamburger sitemap menubar quicklinks skiplinks',
  header:
    'header masthead topbar top banner hero heading-bar siteheader pageheader globalheader logo branding',
  footer: 'footer foot bottom colophon copyright legal disclaimer siteinfo sitefooter contentinfo pie fuss',
  sidebar:
    'sidebar side aside rail secondary complementary widget widgets sidecolumn leftcol rightcol rightcolumn leftcolumn barra lateral seitenleiste',
  comment:
    'comment comments commentlist commentform commentarea commentthread disqus respond kommentar kommentare comentario comentarios commentaires commentaire commenti livefyre trackback trackbacks pingback pingbacks',
  reply: 'reply replies responses response replied answered quotelink',
  share:
    'share sharing social socials sharebar addthis sharedaddy follow facebook twitter linkedin pinterest whatsapp instagram teilen compartir partager socialmedia sns',
  related:
    'related recommended recommendation recommendations recommend similar suggestion suggestions suggested popular trending more readmore upsell upsells crosssell alsolike recirc recirculation mostread latest recent recently viewed seealso relatedposts relatedproducts verwandte relacionados',
  promo:
    'ad ads adv advert advertisement advertising sponsor sponsored sponsors promo promos promotion promotional cta offer offers teaser teasers werbung anzeige publicidad marketing campaign upgrade',
  overlay:
    'cookie cookies consent gdpr ccpa modal modals popup popups dialog overlay lightbox drawer toast notification notifications offcanvas flyout backdrop tooltip snackbar interstitial',
  path: 'breadcrumb breadcrumbs crumb crumbs pagination pager paging pagenav pagenumbers prev previous next paginator wayfinding migas',
  meta: 'meta metadata byline author authors date time timestamp published posted pubdate postmeta entrymeta dateline info credit credits readtime autor auteur datum fecha updated',
  tags: 'tag tags tagcloud taglist category categories cat cats label labels keyword keywords topics taxonomy',
  form: 'newsletter subscribe subscription signup form forms login signin register registration search searchform searchbox field input email optin contact kontakt suche buscar inscription',
  hidden:
    'hidden sr screenreader visuallyhidden only invisible skip offscreen hide a11y noprint printonly sronly assistive placeholder skeleton loading loader spinner',
  content:
    'content contents body main text copy prose richtext rte wysiwyg paragraph contentbody maincontent pagecontent bodytext contenttext textcontent richcontent inhalt contenido contenu conteudo texto texte htmlcontent wysiwyg usercontent',
  article:
    'article articles story post entry blog blogpost news single articlebody entrycontent postcontent postbody storybody articletext articlecontent hentry artikel articulo noticia beitrag recipe newsarticle blogposting',
  product:
    'product products price prices pricing sku buy purchase pdp cart basket addtocart checkout shipping stock availability shop merch producto produkt produit warenkorb offersprice amount money',
  details:
    'description desc spec specs specification specifications details detail features feature attributes ingredients overview summary accordion tab tabs tabpanel panel faq faqs collapsible toggle info-block beschreibung descripcion características additional technical',
  forum:
    'thread threads topic forum forums message messages posts discussion question questions answer answers qa bbcode postbit topicpost conversation usertext markdownbody discussionforumposting acceptedanswer suggestedanswer',
  list: 'list lists item items grid card cards tile tiles listing listings results result collection collections catalog catalogue archive loop feed gridview itemlist listitem directory rows entries archives products-grid',
  toc: 'toc tableofcontents onthispage outline index contentsnav inpage anchors jumplinks tocwrapper localtoc',
  docs: 'doc docs document documentation markdown highlight code api admonition section rst reference guide tutorial manual codeblock syntax snippet sourcecode chapter help kb wiki mw',
  review:
    'review reviews rating ratings testimonial testimonials stars aggregaterating customerreviews feedback bewertung bewertungen avis opiniones quote quotes',
  media:
    'image images img figure caption gallery video videos slider carousel swiper slide slides thumb thumbnail thumbnails media photo photos player audio slick picture',
  action:
    'button buttons btn btns action actions link links icon icons toolbar tools tool print edit vote votes voting like likes copy-button controls control report bookmark save wishlist favorite compare',
  title:
    'title heading headline subtitle tagline intro introduction lead lede dek standfirst excerpt subheading subhead kicker eyebrow pagetitle entrytitle posttitle name titel titre titulo',
  user: 'user username users avatar member members profile signature badge karma poster userinfo authorbox authorbio bio about aboutauthor creator rank handle',
  filter:
    'filter filters facet facets sort sorting refine refinement swatch swatches option options quantity qty variant variants select selector size sizes color colors sortby orderby toolbar-sorter',
  notice:
    'alert warning notice note error errors message-box announcement ticker important callout infobox deprecated paywall premium',
} as const;

type Hint = keyof typeof HINTS;
export const HINT_NAMES = Object.keys(HINTS) as readonly Hint[];
/** Bits by name. There are fewer than 31, so that those of an element fit into one number. */
export const HINT_BITS = Object.fromEntries(HINT_NAMES.map((name, bit) => [name, 1 << bit])) as Readonly<
  Record<Hint, number>
>;

const MASKS = new Map<string, number>();
for (const name of HINT_NAMES) {
  for (const word of HINTS[name].split(' ')) MASKS.set(word, (MASKS.get(word) ?? 0) | HINT_BITS[name]);
}

const PARTS = /[A-Z]?[a-z]{2,}|[A-Z]{2,}/g;
const RUNS = /[a-zA-Z]{4,}/g;
const MOST_CHARS = 400;
const MOST_KEPT = 4_096;
const kept = new Map<string, number>();

/** The hints in a class, an id or the like, as bits. Cached by value, because pages repeat them. */
export function hintsOf(value: string): number {
  const text = value.length > MOST_CHARS ? value.slice(0, MOST_CHARS) : value;
  const known = kept.get(text);
  if (known !== undefined) return known;
  let mask = 0;
  for (const part of text.match(PARTS) ?? []) mask |= MASKS.get(part.toLowerCase()) ?? 0;
  // `maincontent`, `relatedPosts`: the parts may be known only together.
  for (const run of text.match(RUNS) ?? []) mask |= MASKS.get(run.toLowerCase()) ?? 0;
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(ownString(text), mask);
  return mask;
}

/** Words in visible text that reveal the purpose of a block, in the most common languages of the web. */
const TOPICS = {
  consent:
    'cookie cookies consent gdpr privacy datenschutz confidentialité privacidad privacidade privacybeleid конфиденциальности プライバシー 隐私 terms conditions disclaimer impressum agb',
  rights: 'copyright © ®  reserved rights rechte derechos réservés droits powered',
  share:
    'share tweet facebook twitter linkedin pinterest whatsapp instagram youtube tiktok reddit teilen compartir partager condividi compartilhar delen dela поделиться follow email print copy clipboard',
  account:
    'login log sign signin signup register account password logout anmelden registrieren connexion iniciar sesión entrar accedi inloggen logga войти ログイン 登录 wishlist profile',
  subscribe:
    'subscribe newsletter inbox unsubscribe subscribed abonnieren suscríbete abonnez iscriviti assine inscreva nieuwsbrief nyhetsbrev подписаться 订阅 rss feed updates',
  related:
    'related similar recommended recommendations popular trending latest recent also featured viewed recently discover explore ähnliche weitere relacionados articles posts stories similaires aussi correlati aanbevolen похожие 関連 相关',
  comments:
    'comment comments reply replies respond leave kommentar kommentare comentario comentarios commentaire commentaires commenti reageren комментарии コメント 评论 responses quote report flag',
  more: 'read more view see show load learn click here all less back top next previous prev mehr weiter leer más lire suite leggi altro meer läs далее 続きを読む continue',
  cart: 'cart basket bag checkout buy add shop order stock sold warenkorb kaufen panier acheter ajouter carrito comprar añadir carrello acquista winkelwagen корзину カート quantity qty',
  nav: 'home menu search skip navigation contact about sitemap careers help faq support blog startseite kontakt suche über accueil recherche inicio buscar contacto chi siamo toggle close open language',
  byline:
    'by author written posted published updated edited reviewed min minutes ago von par por autor auteur auteurs veröffentlicht publié publicado geschrieben door av read views likes upvote votes share',
  tags: 'tags tagged category categories filed under topics kategorie kategorien catégorie categoría etiquetas schlagwörter categorie archives archive',
  filter:
    'filter filters sort by price size color colour brand items results showing per page sortieren trier ordenar relevance featured low high newest clear apply reset select choose option',
  ad: 'advertisement advertising sponsored ad ads anzeige werbung publicité publicidad promoted offer deal deals off save discount sale free shipping coupon',
} as const;

export type TextTopic = keyof typeof TOPICS;
export const TOPIC_NAMES = Object.keys(TOPICS) as readonly TextTopic[];

for (const [bit, name] of TOPIC_NAMES.entries()) {
  for (const word of TOPICS[name].split(' ')) {
    if (word !== '') MASKS.set(word, (MASKS.get(word) ?? 0) | (1 << bit));
  }
}

/** Function words, which sentences have and lists of names do not. */
const SMALL = new Set(
  (
    'the a an of to in is are was were and or but that this with for on as it be by from at have has had not you we they he she ' +
    'his her their its will can if which what when would there been ' +
    'der die das und ist von zu mit den dem ein eine nicht auf für sich als auch es im wird sind ' +
    'le la les des et est un une du dans que qui pour pas sur au avec ce sont il elle ' +
    'el los las y es en un una por con para que del se no su al lo como más ' +
    'il di che e è per una non sono della con si da ' +
    'o os do da em um uma não com se para mais ' +
    'de het een van en dat niet op te zijn voor met ' +
    'och att det som på är av för ' +
    'и в не на что с по это как для из от'
  ).split(' '),
);

/** The topics of a word in lower case, as bits. */
export function topicsOf(word: string): number {
  return MASKS.get(word) ?? 0;
}

export function isSmallWord(word: string): boolean {
  return SMALL.has(word);
}
