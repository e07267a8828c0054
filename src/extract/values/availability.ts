import { fold, lowerInPlace } from './text.ts';

/** The values of ItemAvailability in schema.org. */
export type Availability = (typeof AVAILABILITIES)[number];

const AVAILABILITIES = [
  'InStock',
  'OutOfStock',
  'PreOrder',
  'BackOrder',
  'Discontinued',
  'LimitedAvailability',
  'OnlineOnly',
  'InStoreOnly',
  'SoldOut',
  'PreSale',
  'MadeToOrder',
  'Reserved',
] as const;

const NAMES: ReadonlyMap<string, Availability> = new Map([
  ...AVAILABILITIES.map((name) => [name.toLowerCase(), name] as const),
  ['instoreonly', 'InStoreOnly'],
  ['instock', 'InStock'],
  ['available', 'InStock'],
  ['oos', 'OutOfStock'],
  ['true', 'InStock'],
  ['false', 'OutOfStock'],
  ['preorder', 'PreOrder'],
]);

/**
 * Words by what they say. The order is the one they are looked for: “not in stock” holds “in stock”, and “only 3 left in
 * stock” is first of all in short supply.
 */
const PHRASES: ReadonlyArray<readonly [Availability, string]> = [
  [
    'Discontinued',
    "discontinued,no longer available,no longer sold,end of life,nicht mehr lieferbar,nicht mehr verfügbar,nicht mehr erhältlich,n'est plus disponible,plus disponible,produit arrêté,descatalogado,ya no está disponible,discontinuado,descontinuado,non più disponibile,fuori produzione,niet meer leverbaar,uit assortiment,wycofany,wycofane,niedostępny na stałe,prodej ukončen,ukončen prodej,utgått,utgår,udgået,utgått fra sortimentet,poistunut valikoimasta,снят с производства,снято с производства,знято з виробництва,megszűnt,kifutott,scos din producție,üretimi durdu,販売終了,生産終了,已停产,已下架,停售,단종,판매 종료",
  ],
  [
    'SoldOut',
    'sold out,ausverkauft,vergriffen,restlos ausverkauft,agotado,esaurito,esgotado,uitverkocht,wyprzedane,wyprzedany,vyprodáno,vyprodaný,vypredané,slutsåld,slutsålt,udsolgt,utsolgt,loppuunmyyty,распродано,розпродано,elfogyott,stoc epuizat,epuizat,tükendi,εξαντλήθηκε,εξαντλημένο,売り切れ,完売,sold-out,售罄,已售完,售完,품절,매진,نفدت الكمية,נגמר,बिक गया,สินค้าหมด,hết hàng,habis,épuisé',
  ],
  [
    'OutOfStock',
    'out of stock,out-of-stock,not in stock,not available,currently unavailable,temporarily unavailable,unavailable,no stock,nicht auf lager,nicht vorrätig,nicht lieferbar,nicht verfügbar,derzeit nicht verfügbar,momentan nicht lieferbar,zur zeit nicht,en rupture,rupture de stock,indisponible,non disponible,pas disponible,sin existencias,sin stock,no disponible,fuera de stock,non disponibile,non in magazzino,fora de estoque,sem estoque,sem stock,indisponível,niet op voorraad,niet beschikbaar,niet leverbaar,niedostępny,niedostępne,brak w magazynie,brak towaru,není skladem,nedostupné,nie je na sklade,ej i lager,slut i lager,ikke på lager,ikke tilgjengelig,ei varastossa,ei saatavilla,нет в наличии,нет на складе,немає в наявності,не в наявності,nincs raktáron,nincs készleten,nem elérhető,nu este in stoc,nu este în stoc,indisponibil,stokta yok,mevcut değil,μη διαθέσιμο,δεν υπάρχει απόθεμα,在庫なし,在庫切れ,入荷待ち,缺货,缺貨,无货,無貨,暂时缺货,재고 없음,일시품절,غير متوفر,אזל מהמלאי,לא במלאי,स्टॉक में नहीं,ไม่มีสินค้า,ไม่มีในสต็อก,tạm hết hàng,stok kosong,tidak tersedia',
  ],
  [
    'PreOrder',
    'pre-order,preorder,pre order,coming soon,vorbestellen,vorbestellung,vorbestellbar,erscheint am,demnächst,précommande,pré-commande,precommande,à paraître,preventa,reserva,próximamente,prenota,preordine,in arrivo,pré-venda,pré-encomenda,em breve,binnenkort,pre-orderen,przedsprzedaż,zapowiedź,předobjednávka,předobjednat,förbeställ,förhandsboka,forudbestil,forhåndsbestill,ennakkotilaus,предзаказ,передзамовлення,előrendelés,előrendelhető,precomandă,ön sipariş,yakında,προπαραγγελία,予約,予約受付中,発売予定,预售,預購,预订,예약,예약판매,طلب مسبق,הזמנה מוקדמת,प्री-ऑर्डर,สั่งจองล่วงหน้า,đặt trước,pra-pesan',
  ],
  [
    'BackOrder',
    'backorder,back-order,back order,on order,nachbestellt,nachlieferung,rückstand,réapprovisionnement,en cours de réappro,bajo pedido,in riassortimento,riordinabile,sob encomenda,in backorder,nabestelling,na zamówienie,na objednávku,beställningsvara,bestillingsvare,restordre,restnotert,tilaustuote,под заказ,на заказ,під замовлення,rendelésre,la comandă,κατόπιν παραγγελίας,お取り寄せ,取り寄せ,可订购,入荷予定',
  ],
  [
    'MadeToOrder',
    'made to order,made-to-order,custom made,auftragsfertigung,auf bestellung gefertigt,sur commande,sur mesure,受注生産,주문 제작',
  ],
  [
    'InStoreOnly',
    'in store only,in-store only,only in store,nur im laden,nur in der filiale,uniquement en magasin,solo en tienda,solo in negozio,alleen in de winkel,店舗限定',
  ],
  [
    'OnlineOnly',
    'online only,online-only,web exclusive,nur online,uniquement en ligne,solo online,sólo online,alleen online,tylko online,オンライン限定',
  ],
  [
    'LimitedAvailability',
    'limited availability,limited stock,low stock,low in stock,few left,almost gone,nearly sold out,while supplies last,last items,last one,selling fast,nur noch,wenige verfügbar,geringe stückzahl,begrenzt verfügbar,solange der vorrat reicht,plus que,stock limité,dernières pièces,derniers articles,últimas unidades,pocas unidades,quedan pocas,ultimi pezzi,ultimi disponibili,solo pochi,disponibilità limitata,poucas unidades,beperkte voorraad,laatste stuks,nog maar,ostatnie sztuki,poslední kusy,få i lager,få kvar,få på lager,nur wenige,vähän jäljellä,заканчивается,мало,последний,закінчується,utolsó darabok,ultimele bucăți,son ürünler,son stok,τελευταία κομμάτια,残りわずか,残り,在庫わずか,仅剩,僅剩,库存紧张,재고 소량,마감임박',
  ],
  [
    'InStock',
    'in stock,available,ready to ship,ships today,add to cart,add to basket,buy now,auf lager,lieferbar,sofort lieferbar,verfügbar,vorrätig,lagernd,in den warenkorb,en stock,disponible,expédié sous,ajouter au panier,en existencia,añadir al carrito,disponibile,in magazzino,aggiungi al carrello,em estoque,em stock,disponível,op voorraad,leverbaar,beschikbaar,in winkelwagen,dostępny,dostępne,dostępna,w magazynie,na stanie,do koszyka,skladem,na skladě,dostupné,na sklade,i lager,finns i lager,på lager,tilgængelig,tilgjengelig,varastossa,saatavilla,в наличии,есть в наличии,на складе,есть на складе,в наявності,є в наявності,raktáron,készleten,elérhető,în stoc,in stoc,disponibil,stokta,mevcut,stokta var,διαθέσιμο,σε απόθεμα,在庫あり,即納,カートに入れる,有货,有貨,现货,現貨,有库存,재고 있음,구매 가능,متوفر,متاح,במלאי,זמין,स्टॉक में,उपलब्ध,มีสินค้า,มีในสต็อก,พร้อมส่ง,còn hàng,tersedia,ready stock',
  ],
];

const LEFT =
  /(?:only|just)\s+\d+\s+(?:left|remaining|available|in stock)|\b\d{1,2} (?:left|remaining)\b|残り ?\d+|仅剩 ?\d+/;
const MANY_LEFT = 10;

/** Parses availability from schema.org's URLs and names or words in two dozen languages; null for any other text. */
export function parseAvailability(text: string): Availability | null {
  const lower = lowerInPlace(fold(text, 300));
  const name = lower
    .replace(/^https?:\/\/(?:www\.)?schema\.org\/(?:itemavailability\/)?/, '')
    .replace(/^schema:/, '');
  const named = NAMES.get(name.replace(/[\s_-]+/g, ''));
  if (named !== undefined) return named;
  const left = LEFT.exec(lower)?.[0];
  if (left !== undefined) {
    const count = Number(/\d+/.exec(left)?.[0]);
    return count === 0 ? 'OutOfStock' : count <= MANY_LEFT ? 'LimitedAvailability' : 'InStock';
  }
  for (const [availability, phrases] of LISTS) {
    if (phrases.some((phrase) => holds(lower, phrase))) return availability;
  }
  return null;
}

const LISTS = PHRASES.map(([availability, phrases]) => [availability, phrases.split(',')] as const);
const WORD_CHAR = /[\p{L}\p{M}\p{N}]/u;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

function holds(lower: string, phrase: string): boolean {
  for (let at = lower.indexOf(phrase); at !== -1; at = lower.indexOf(phrase, at + 1)) {
    if (UNSPACED.test(phrase)) return true;
    const [before, after] = [lower[at - 1] ?? ' ', lower[at + phrase.length] ?? ' '];
    if (!WORD_CHAR.test(before) && !WORD_CHAR.test(after)) return true;
  }
  return false;
}
