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

const MASKS = new Map<string, number>();
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
