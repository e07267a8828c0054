/** The first article of the Universal Declaration of Human Rights, and encodings in which old pages wrote the language. */
export const SAMPLES: readonly (readonly [language: string, charsets: readonly string[], text: string])[] = [
  [
    'Japanese',
    ['shift_jis', 'euc-jp'],
    'すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。',
  ],
  [
    'Simplified Chinese',
    ['gbk'],
    '人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。',
  ],
  [
    'Traditional Chinese',
    ['big5'],
    '人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心，並應以兄弟關係的精神相對待。',
  ],
  [
    'Korean',
    ['euc-kr'],
    '모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다.',
  ],
  [
    'Russian',
    ['windows-1251', 'koi8-r', 'iso-8859-5', 'ibm866'],
    'Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и должны поступать в отношении друг друга в духе братства.',
  ],
  [
    'Ukrainian',
    ['windows-1251', 'koi8-u'],
    'Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділені розумом і совістю і повинні діяти у відношенні один до одного в дусі братерства.',
  ],
  [
    'Bulgarian',
    ['windows-1251'],
    'Всички хора се раждат свободни и равни по достойнство и права. Те са надарени с разум и съвест и следва да се отнасят помежду си в дух на братство.',
  ],
  [
    'German',
    ['windows-1252'],
    'Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und sollen einander im Geiste der Brüderlichkeit begegnen.',
  ],
  [
    'French',
    ['windows-1252'],
    'Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de conscience et doivent agir les uns envers les autres dans un esprit de fraternité.',
  ],
  [
    'Spanish',
    ['windows-1252'],
    'Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón y conciencia, deben comportarse fraternalmente los unos con los otros.',
  ],
  [
    'Portuguese',
    ['windows-1252'],
    'Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotados de razão e de consciência, devem agir uns para com os outros em espírito de fraternidade.',
  ],
  [
    'Swedish',
    ['windows-1252'],
    'Alla människor är födda fria och lika i värde och rättigheter. De har utrustats med förnuft och samvete och bör handla gentemot varandra i en anda av gemenskap.',
  ],
  [
    'Danish',
    ['windows-1252'],
    'Alle mennesker er født frie og lige i værdighed og rettigheder. De er udstyret med fornuft og samvittighed, og de bør handle mod hverandre i en broderskabets ånd.',
  ],
  [
    'English',
    ['windows-1252'],
    'It’s “the same” for everyone – prices from £5 to £10, naïve cafés included.',
  ],
  [
    'Polish',
    ['iso-8859-2', 'windows-1250'],
    'Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa.',
  ],
  [
    'Czech',
    ['iso-8859-2', 'windows-1250'],
    'Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a svědomím a mají spolu jednat v duchu bratrství.',
  ],
  [
    'Hungarian',
    ['iso-8859-2'],
    'Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, ésszel és lelkiismerettel bírván, egymással szemben testvéri szellemben kell hogy viseltessenek.',
  ],
  [
    'Croatian',
    ['windows-1250'],
    'Što znači? Sva ljudska bića rađaju se slobodna i jednaka u dostojanstvu i pravima. Ona su obdarena razumom i sviješću i trebaju jedna prema drugima postupati u duhu bratstva.',
  ],
  [
    'Turkish',
    ['windows-1254'],
    'Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler.',
  ],
  [
    'Greek',
    ['windows-1253', 'iso-8859-7'],
    'Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με λογική και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης.',
  ],
  [
    'Hebrew',
    ['windows-1255'],
    'כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם לנהוג איש ברעהו ברוח של אחווה.',
  ],
  [
    'Arabic',
    ['windows-1256'],
    'يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا بروح الإخاء.',
  ],
  [
    'Thai',
    ['windows-874'],
    'มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ',
  ],
  [
    'Lithuanian',
    ['windows-1257'],
    'Visi žmonės gimsta laisvi ir lygūs savo orumu ir teisėmis. Jiems suteiktas protas ir sąžinė ir jie turi elgtis vienas kito atžvilgiu kaip broliai.',
  ],
];
