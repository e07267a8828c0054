import { PhraseTable } from '../text.ts';

/** The meaning of a word beside a price. */
export type PriceMark =
  | 'from'
  | 'fromBehind'
  | 'upTo'
  | 'to'
  | 'between'
  | 'and'
  | 'was'
  | 'now'
  | 'save'
  | 'per'
  | 'each'
  | 'free'
  | 'tax'
  | 'shipping';

const WORDS: Readonly<Record<PriceMark, string>> = {
  from: 'from,starting at,starting from,starts at,starts from,as low as,prices from,ab,schon ab,bereits ab,ab nur,à partir de,a partir de,dès,des,partir de,desde,a partire da,partendo da,da,dal,vanaf,v.a.,va.,od,już od,již od,från,fr.o.m.,fra,fra kun,от,від,από,de la,începând de la,pornind de la,mulai,mulai dari,dari,bermula,từ,chỉ từ,เริ่มต้น,เริ่มต้นที่,ตั้งแต่,من,ابتداء من,تبدأ من,החל מ,החל מ-,from only,frá,des de,starting,kezdőár,von',
  fromBehind:
    "alkaen,起,から,부터,से शुरू,से,itibaren,'den başlayan,'dan başlayan,'den itibaren,'dan itibaren,den başlayan,dan başlayan,and up,or more,-tól,-től,tól,től,より,以上,から〜,onwards,起售,upwards",
  upTo: "up to,under,below,less than,max,max.,maximum,bis zu,höchstens,unter,jusqu'à,jusqu’à,moins de,hasta,menos de,fino a,meno di,até,menos de,oplopend tot,maximaal,aż do,maks.,maks,až do,max,upp till,op til,opp til,enintään,не более,не больше,не дороже,до,tối đa,đến,hingga,sampai,以下,まで,이하,까지",
  to: 'to,bis,à,a,al,till,til,tot,do,до,έως,până la,pana la,le,至,到,đến,ถึง,إلى,עד,hasta,fino a,até,から,au,–',
  between: 'between,zwischen,entre,tra,fra i,tussen,między,mezi,mellan,mellem,между,між,arasında',
  and: 'and,und,et,y,e,en,i,a,och,og,и,та,ve,&',
  was: 'was,were,originally,original price,original,regular price,regular,reg.,reg,list price,list,rrp,msrp,srp,retail price,compare at,compared to,instead of,before,old price,full price,typical price,statt,anstatt,vorher,früher,uvp,uvp:,unverb. preisempf.,bisher,war,alter preis,streichpreis,listenpreis,au lieu de,ancien prix,avant,prix barré,prix conseillé,était,antes,antes:,precio anterior,pvp recomendado,pvpr,precio original,prima,prezzo originale,anziché,invece di,prezzo di listino,era,preço original,preço antigo,de lista,van,was:,adviesprijs,oude prijs,i.p.v.,ipv,w miejsce,było,zamiast,cena regularna,stara cena,poprzednia cena,původně,původní cena,místo,běžná cena,ord.,ord. pris,ordinarie pris,ordinarie,tidigare pris,tidigare,før,førpris,veil.,veiledende pris,normalpris,ovh,norm.,oli,alkuperäinen hinta,было,старая цена,вместо,цена до скидки,раньше,було,стара ціна,замість,eredeti ár,régi ár,helyett,pret vechi,preț vechi,prp,în loc de,eski fiyat,yerine,αρχική τιμή,από αρχική,πριν,定价,原价,原價,定價,市场价,通常価格,定価,希望小売価格,参考価格,정가,원가,كان,السعر القديم,بدلا من,במקום,מחיר קודם,harga asli,sebelumnya,giá gốc,giá cũ,ราคาเดิม,ปกติ',
  now: 'now,now only,sale,sale price,special price,special,our price,deal,only,just,today,jetzt,jetzt nur,nur,nur noch,aktionspreis,angebot,sonderpreis,neuer preis,preis,maintenant,seulement,prix,promo,nouveau prix,ahora,solo,sólo,oferta,precio,ora,adesso,offerta,prezzo,solo ora,agora,por,apenas,preço,nu,voor,alleen,nu voor,actieprijs,teraz,tylko,cena,nyní,nyní jen,jen,akční cena,nu kun,kun,nå,nå kun,nyt,vain,hinta,сейчас,теперь,только,цена,зараз,ціна,most,csak,ár,akár,acum,doar,preț,pret,şimdi,şimdi sadece,sadece,fiyat,τώρα,μόνο,τιμή,现价,特价,現價,售价,価格,特価,販売価格,セール,할인가,판매가,الآن,السعر,עכשיו,מחיר,रुपये मात्र,कीमत,मूल्य,ราคา,เหลือ,giá,chỉ,harga,hanya,price,price:,cost,total',
  save: 'save,you save,saving,savings,discount,off,sie sparen,sparen,sparen sie,spare,ersparnis,rabatt,économisez,remise,vous économisez,réduction,ahorra,ahorre,ahorras,descuento,risparmi,risparmia,sconto,economize,poupe,desconto,bespaar,korting,u bespaart,oszczędzasz,rabat,ušetříte,sleva,spar,du sparar,spara,säästä,экономия,скидка,выгода,знижка,вигода,megtakarítás,kedvezmény,economisești,reducere,indirim,tasarruf,έκπτωση,κερδίζεις,节省,立减,省,割引,할인,وفر,خصم,חסכון,הנחה,hemat,diskon,tiết kiệm,giảm',
  per: 'per,pro,je,par,por,al,alla,a,à,pr.,pr,za,за,på,cada,ogni,na,/,chaque,per each,setiap,mỗi,ต่อ,لكل,ל-,प्रति,başına,毎',
  each: 'each,ea,ea.,apiece,per piece,pro stück,je stück,/stk,/stück,/pc,/pcs,/ea,stückpreis,pièce,la pièce,par pièce,cadauno,cad.,cadauna,c/u,cada uno,cada unidad,la unidad,por unidade,cada,per stuk,p/st,za sztukę,/szt,/szt.,za kus,/ks,styck,per st,/st,stykket,pr. stk.,pr. stk,/stk.,за шт,за шт.,/шт,/шт.,за штуку,kpl,/kpl,/db,darabonként,/buc,/adet,τεμάχιο,/τεμ.,一个,每个,/个,/個,1個,/개,개당',
  free: 'free,free of charge,complimentary,for free,gratis,kostenlos,kostenfrei,umsonst,gratuit,gratuite,gratuits,offert,gratuito,gratuita,grátis,gratis!,za darmo,darmowe,darmowy,bezpłatnie,bezpłatny,zdarma,bezplatně,zadarmo,ilmainen,ilmaiseksi,maksutta,бесплатно,безкоштовно,безплатно,ingyenes,ingyen,ücretsiz,bedava,δωρεάν,無料,免费,免費,무료,مجاني,مجانا,مجانًا,חינם,मुफ़्त,मुफ्त,निःशुल्क,ฟรี,miễn phí,percuma,besplatno,brezplačno,tasuta,nemokamai,bez maksas,ókeypis,de franc,रिक्त,رایگان',
  tax: 'unit price,price per unit,grundpreis,prix unitaire,prezzo unitario,precio unitario,preço unitário,eenheidsprijs,cena jednostkowa,jednotková cena,jämförpris,incl,incl.,including,includes,excl,excl.,excluding,vat,tax,taxes,gst,hst,inc,inc.,ex,inkl,inkl.,mwst,mwst.,ust,ust.,zzgl,zzgl.,gesetzl.,exkl,exkl.,netto,brutto,ttc,ht,hors taxes,taxes comprises,iva,iva incluido,iva inclusa,con iva,incluido,inclusa,btw,moms,dph,bez dph,s dph,vč. dph,vat incl.,z vat,ндс,с ндс,без ндс,пдв,áfa,tva,kdv,φπα,税込,税込み,税抜,税別,含税,부가세,ppn,alv,sis. alv,approx,approx.,about,ca,ca.,circa,etwa,environ,aprox.,около,約,约,약,*,ok.,asi',
  shipping:
    'shipping,delivery,returns,trial,postage,versand,versandkosten,lieferung,rückgabe,livraison,retour,retours,envío,envíos,spedizione,consegna,reso,frete,entrega,envio,verzending,bezorging,dostawa,wysyłka,doprava,frakt,leverans,levering,toimitus,доставка,szállítás,livrare,kargo,teslimat,μεταφορικά,包邮,运费,運費,送料,배송,शिपिंग,توصيل,משלוח,ongkir,vận chuyển,ส่ง,from,gluten,sugar',
};

/** For words in two lists, the first wins. */
const ORDER: readonly PriceMark[] = [
  'tax',
  'each',
  'was',
  'save',
  'from',
  'upTo',
  'fromBehind',
  'between',
  'now',
  'per',
  'free',
  'to',
  'and',
];

export const PRICE_WORDS = new PhraseTable<PriceMark>(
  ORDER.flatMap((mark) => WORDS[mark].split(',').map((word) => [word, mark] as const)),
);

const isListed = (mark: PriceMark): ReadonlySet<string> => new Set(WORDS[mark].split(','));
/** Words that join the two ends of a range, whatever else they may mean elsewhere. */
export const RANGE_WORDS = isListed('to');
export const PER_WORDS = isListed('per');
export const AND_WORDS = isListed('and');
export const SHIPPING_WORDS = isListed('shipping');

const UNITS: Readonly<Record<string, string>> = {
  kg: 'kg,kilo,kilos,kilogram,kilogramm,kilogramme,kilogramo,chilo,quilo,кг,公斤,千克,キロ,킬로,كجم,ק"ג,กก.,กก,κιλό,κιλο,kilogramm,kilogramme',
  g: 'g,gr,gram,gramm,gramme,grams,г,гр,克,グラム',
  mg: 'mg',
  t: 't,ton,tonne,tonnes,tons,тонна,тонну,т,吨',
  lb: 'lb,lbs,lb.,pound,pounds,libra',
  oz: 'oz,oz.,ounce,ounces,fl oz,fl. oz.',
  l: 'l,liter,litre,liters,litres,litro,litri,litros,litr,л,литр,升,リットル,ltr,lt,litra,λίτρο',
  ml: 'ml,milliliter,millilitre,мл',
  cl: 'cl',
  gal: 'gal,gal.,gallon,gallons',
  m: 'm,meter,metre,metro,metr,lfm,lfm.,м,метр,米,メートル',
  m2: 'm2,m^2,qm,sqm,sq m,sq. m,square meter,square metre,кв.м,кв. м,м2,平方米,平米,坪m2,㎡,mq,m²',
  ft2: 'ft2,sq ft,sqft,sq. ft.,square foot,sf',
  m3: 'm3,cbm,м3,куб.м',
  cm: 'cm,см',
  ft: 'foot,linear foot',
  km: 'km,км,公里',
  kWh: 'kwh,квт·ч,квтч',
  piece:
    'piece,pieces,pc,pcs,pcs.,pc.,stück,stk,stk.,st,st.,styck,stuk,stuks,pièce,pièces,pezzo,pz,pz.,pieza,unidad,ud,ud.,unidade,un,un.,unit,units,item,szt,szt.,sztuka,sztukę,ks,kus,kpl,db,darab,buc,buc.,bucată,adet,шт,шт.,штука,штуку,个,個,件,個入り,개,حبة,יחידה,unità,τεμ,τεμ.,τεμάχιο,ชิ้น,cái,chiếc,buah,each,ea',
  pair: 'pair,paar,paire,par,paio,pár,пара,пару,对,足',
  pack: 'pack,package,pkg,packung,pck,pck.,paquet,paquete,pacco,confezione,opakowanie,op.,balení,упаковка,упаковку,уп,уп.,包,袋,パック,팩,paket,doos,pak',
  box: 'box,karton,kiste,caja,boîte,scatola,krabice,盒,箱',
  bottle: 'bottle,flasche,bouteille,botella,bottiglia,fles,butelka,flaska,бутылка,бутылку,瓶,本,병',
  dozen: 'dozen,dutzend,douzaine,docena,dozzina,doz,doz.',
  person:
    'person,pers,pers.,people,guest,personne,persona,pessoa,persoon,osoba,osobę,osobu,hlö,человек,чел,чел.,人,位,명,kişi,pax,head,adult,erwachsener,adulte,shakhs,شخص,คน,người,orang',
  user: 'user,users,seat,seats,nutzer,benutzer,utilisateur,usuario,utente,license,licence,member,agent,editor,ユーザー',
  month:
    'month,months,mo,mo.,mth,mon,monat,mtl,mtl.,mois,mes,mese,mês,maand,mnd,miesiąc,mies.,mies,mc,měsíc,měs.,měs,månad,mån,mån.,måned,md.,md,mnd.,kk,kuukausi,месяц,мес,мес.,міс,місяць,hónap,hó,lună,luna,ay,μήνα,μήνας,月,个月,個月,ヶ月,か月,월,개월,شهر,חודש,महीना,माह,เดือน,tháng,bulan,bln',
  year: 'year,years,yr,yr.,y,annum,jahr,an,année,año,anno,ano,jaar,rok,år,vuosi,v,год,рік,év,yıl,yil,έτος,χρόνο,年,년,سنة,שנה,वर्ष,साल,ปี,năm,tahun,thn,p.a.',
  quarter: 'quarter,quartal,trimestre,kwartał,квартал',
  week: 'week,weeks,wk,wk.,woche,semaine,semana,settimana,tydzień,týden,vecka,uge,uke,viikko,vko,неделя,неделю,тиждень,hét,săptămână,hafta,εβδομάδα,周,週,星期,주,أسبوع,שבוע,सप्ताह,สัปดาห์,tuần,minggu',
  day: 'day,days,tag,jour,día,dia,giorno,dag,dzień,doba,den,dygn,døgn,päivä,vrk,pv,день,сутки,доба,nap,zi,gün,ημέρα,日,天,일,يوم,יום,दिन,วัน,ngày,hari,diem',
  night:
    'night,nights,nt,nacht,nuit,noche,notte,noite,nacht,noc,natt,nat,yö,ночь,ніч,éj,éjszaka,noapte,gece,νύχτα,διανυκτέρευση,晚,泊,夜,박,ليلة,לילה,रात,คืน,đêm,malam',
  hour: 'hour,hours,hr,hr.,h,std,std.,stunde,heure,hora,ora,uur,godzina,godz.,godz,godzinę,hod,hod.,hodina,hodinu,timme,tim,time,timen,tunti,час,годину,година,óra,oră,saat,ώρα,小时,小時,时,時間,시간,ساعة,שעה,घंटा,ชั่วโมง,giờ,jam',
  minute: 'minute,min,min.,minuto,minuut,minuta,минута,минуту,мин,мин.,хв,perc,dakika,dk,分钟,分鐘,분',
  serving: 'serving,portion,ración,porzione,porcja,porce,порция,порцию',
  sheet: 'sheet,blatt,feuille,page,seite,seite',
  ticket: 'ticket,entry',
  course: 'course,lesson,session,kurs',
  TB: 'tb',
  GB: 'gb,гб',
};

export const PRICE_UNITS = new PhraseTable<string>(
  Object.entries(UNITS).flatMap(([unit, words]) => words.split(',').map((word) => [word, unit] as const)),
);

/** Words for a period or unit that need no `per` before them. */
export const PERIOD_WORDS = new PhraseTable<string>(
  Object.entries({
    month:
      'monthly,a month,monatlich,mtl.,mensuel,mensuelle,par mois,al mes,mensual,mensile,mensili,al mese,mensal,maandelijks,miesięcznie,měsíčně,ежемесячно,aylık,月額,每月,毎月,월,p/m,p.m.,pcm,pm,mtl,im monat',
    year: "yearly,annually,annual,a year,jährlich,p.a.,par an,annuel,annuelle,al año,anual,annuale,all’anno,all'anno,jaarlijks,rocznie,ročně,ежегодно,yıllık,年額,每年,p/a,im jahr",
    week: 'weekly,a week,wöchentlich,hebdomadaire,semanal,settimanale,pw,p/w',
    day: 'daily,a day,täglich,am tag,diario,al día,日額',
    night: 'nightly,a night',
    hour: 'hourly,an hour,stündlich,时薪,時給,시급,p/h,ph',
    person: 'p.p.,pp,p/p,p. p.,p.p,pro person,per person',
  }).flatMap(([unit, words]) => words.split(',').map((word) => [word, unit] as const)),
);

/** Factors behind a number; more than one where people differ about what is meant. */
const FACTORS: ReadonlyArray<readonly [factors: readonly number[], words: string]> = [
  [
    [1e3],
    'k,tsd,tsd.,tausend,thousand,mille,mil,tys,tys.,tis.,tisíc,тыс,тыс.,тысяч,тис,тис.,bin,ribu,rb,nghìn,ngàn,हज़ार,พัน,千,천',
  ],
  [[1e6, 1], 'm'],
  [
    [1e6],
    'million,millions,mio,mio.,millionen,mln,mln.,mn,mm,millón,millones,milhão,milhões,milioni,milione,miljoen,miljoner,milionů,milionów,mil.kč,млн,млн.,миллион,миллиона,миллионов,мільйонів,milyon,juta,jt,triệu,tr,ล้าน,מיליון,مليون,εκατ.,εκατομμύρια,백만,百万',
  ],
  [
    [1e9],
    'billion,billions,bn,mrd,mrd.,milliarden,milliarde,milliard,milliards,miliardi,mld,mld.,миллиард,миллиардов,млрд,млрд.,milyar,miliar,tỷ,tỉ,מיליארד,مليار',
  ],
  [[1e5], 'lakh,lakhs,lac,lacs,लाख'],
  [[1e7], 'crore,crores,cr,cr.,करोड़'],
  [[1e4], '万,萬,만'],
  [[1e8], '億,亿,억'],
];

export const FACTOR_WORDS = new PhraseTable<readonly number[]>(
  FACTORS.flatMap(([factors, words]) => words.split(',').map((word) => [word, factors] as const)),
);
