import { TextDecoder } from 'node:util';

/**
 * How often characters outside of ASCII occur in the languages of old encodings, per thousand of them or thereabouts. Only the
 * proportions matter: they tell encodings apart in which the same bytes are other letters.
 */

/** A language as `letter weight` pairs: the weight stands behind the letters that share it. */
const ALPHABETS = {
  german: 'ä280 ü300 ö140 ß110 Ü25 Ä15 Ö15 é10',
  french: 'é480 è110 à130 ê70 ç60 ô30 î25 â25 û20 ù15 ë8 ï8 œ10 É15 À8',
  spanish: 'ó280 í200 á200 é150 ñ90 ú70 ü5 ¿15 ¡8 É4 Á3',
  portuguese: 'ã170 ç160 á140 é130 í90 ó80 ê80 õ60 ú40 â35 à40 ô15 É5',
  italian: 'à260 è300 ù120 ò140 é80 ì80 È20',
  nordic: 'å250 ä270 ö230 ø220 æ130 é20 Å15 Ä10 Ö15 Ø10',
  icelandic: 'ð220 á170 í150 þ80 é90 ó120 ö110 ú70 æ80 ý25 Þ20 Á15 Í10',
  dutch: 'é350 ë350 ï150 ö40 ü40 è40 ê20 á15 ó15',
  polish: 'ł200 ó110 ę150 ą140 ś90 ż90 ć60 ń30 ź15 Ś8 Ł5 Ż5',
  czech: 'á170 í250 é110 ě120 č80 ř90 ž80 š70 ý75 ů45 ú12 ň5 ó3 ť3 ď2 ľ10 ĺ1 ŕ1 ô5 ä5 Č8 Š6 Ž5 Ř3',
  hungarian: 'á260 é280 ö95 ó85 ő80 ü50 í55 ú25 ű20 É8 Á8 Ö3',
  romanian: 'ă240 â60 î100 ş120 ţ110 Î12 Ş6 Ţ2',
  croatian: 'š220 č230 ž190 ć150 đ60 Š15 Č10 Ž8',
  turkish: 'ı280 ü110 ş100 ğ70 ç70 ö50 İ25 Ş8 Ö6 Ç6 Ü6 â5',
  baltic: 'ā200 ī90 ē90 ū60 š110 ė130 ž80 ų70 č40 ą50 ę20 į40 ņ40 ļ40 ķ15 ģ10 ö60 ä80 õ70 ü50 Š8 Ā5 Õ5 Ä5',
  cyrillic:
    'о109 е85 а80 и74 н67 т63 с55 р47 в45 л44 к35 м32 д30 п28 у26 я20 ы17 ь17 г17 з16 б16 ч14 й12 х9 ж9 ш7 ю6 ц5 щ4 э3 ф3 ъ4 ё2 і20 ї4 є4 ґ1 ј3 љ1 њ1 ђ1 ћ1 џ1 ў2',
  greek:
    'α100 ο90 τ80 ι75 ε80 ν65 σ50 η45 ρ42 υ42 π40 κ40 μ33 λ28 ς35 ω18 δ17 γ17 ί20 ά19 ό18 έ15 θ12 ή13 χ11 φ8 ύ9 ώ7 β7 ξ4 ζ4 ψ2 ϊ1',
  hebrew:
    'י110 ו105 ה100 ל75 א65 מ55 ר55 ת50 ב48 ש45 נ30 ד28 ע30 ם30 ח25 ק22 פ20 ן17 כ25 ט13 ג13 צ12 ס14 ז10 ך5 ף3 ץ2',
  arabic:
    'ا130 ل110 ي70 م65 ن60 و60 ر50 ت45 ب40 ة30 ع35 د33 س30 ه40 ف28 ك25 ق25 ح22 أ20 ج15 ش14 ص12 ط10 خ10 ى8 ء5 إ8 ذ8 ض8 ز7 ث6 غ5 ئ5 ظ3 ؤ2 آ3 گ3 پ3 چ2 ی10 ک8 ،15',
  thai: 'า75 น70 ร65 อ55 ก55 เ45 ง42 ่50 ้42 ม38 ย35 ว32 ั45 ด30 ี30 ท30 ล28 ิ30 ส28 ต25 ะ22 ป20 บ25 ค25 ห28 แ20 จ18 พ18 ข15 ุ17 ู13 ไ17 โ12 ช14 ใ14 ์14 ื15 ถ8 ึ9 ผ8 ซ6 ศ8 ็8 ณ6 ธ6 ญ4 ฟ4 ภ5 ษ4 ฐ2 ำ12 ๆ2 ฉ2 ฝ1 ฏ1 ฎ1 ฆ1 ฬ1 ฮ1 ฤ1 ฯ1 ฌ1 ฒ1',
} as const;
type Alphabet = keyof typeof ALPHABETS;

/** Signs of every language that texts set with care have. */
const SIGNS = '\u00a0«»“”„‘’‚–—…•·©®™°€£§№×−½²';
const SIGN_SHARE = 0.12;
/** The share of capitals among letters for which the table has small ones only. */
const LARGE_SHARE = 0.06;

/** Natural logarithms of the probability of each character that the language has. */
function alphabetChances(alphabet: Alphabet): ReadonlyMap<string, number> {
  const pairs = ALPHABETS[alphabet].split(' ').map((pair): [string, number] => {
    const [, letter = '', weight = ''] = /^(\D+)(\d+)$/u.exec(pair) ?? [];
    return [letter, Number(weight)];
  });
  const total = pairs.reduce((sum, [, weight]) => sum + weight, 0);
  const chances = new Map<string, number>();
  const add = (letter: string, chance: number): void => {
    chances.set(letter, (chances.get(letter) ?? 0) + chance);
  };
  for (const [letter, weight] of pairs) {
    const share = ((1 - SIGN_SHARE) * weight) / total;
    const large = letter.toUpperCase();
    const isPair = large !== letter && large.length === 1;
    add(letter, share * (isPair ? 1 - LARGE_SHARE : 1));
    if (isPair) add(large, share * LARGE_SHARE);
  }
  for (const sign of SIGNS) add(sign, SIGN_SHARE / SIGNS.length);
  return new Map([...chances].map(([letter, chance]) => [letter, Math.log(chance)]));
}

/** Groups of the characters of a script with thousands, each with the share of a text that it makes up. */
interface ScriptGroup {
  readonly share: number;
  /** How many characters the group has. */
  readonly size: number;
  readonly has: (character: string) => boolean;
}

const FREQUENT_SIMPLIFIED =
  '的一是了我不人在他有这个上们来到时大地为子中你说生国年着就那和要她出也得里后自以会家可下而过天去能对小多然于心学么之都好看起发当没成只如事把还用第样道想作种开美总从无情己面最女但现前些所同日手又行意动方期它头经长儿回位分爱老因很给名法间斯知世什两次使身者被高已亲其进此话常与活正感见明问力理尔点文几定本公特做外孩相西果走将月十实向声车全信重三机工物气每并别真打太新比才便夫再书部水像眼等体却加电主界门利海受听表德少克代员许先口由死安写性马光白或住难望教命花结乐色更拉东神记处让母父应直字场平报友关放至张认接告入笑内英军候民岁往何度山觉路带万男边风解叫任金快原吃妈变通师立象数四失满战远格士音轻目条呢';
const FREQUENT_TRADITIONAL =
  '的一是不我有人在了他這中大來上個國到說們為子和你地出道也時年得就那要下以生會自著去之過家學對可她裡後小麼心多天而能好都然沒日於起還發成事只作當想看文無開手十用主行方又如前所本見經頭面公同三已老從動兩長知樣現分將外但身些與高意進把法此實回二理美點月明其種聲全工己話兒者向情部正名定女問力機給等幾很業最間新什打便位因重被走電四第門相次東政海口使教西再平真聽世氣信北少關並內加化由卻代軍產入先山五太水萬市眼體別處總才場師書比住員九笑性通目華報立馬命張活難神數件安表原車白應路期叫死常提感金何更反合放做系計或司利受光王果親界及今京務制解各任至清物台象記邊共風戰干接它許八特覺望直服毛林題建南度統色字請交愛讓認算論百吃義科怎元社術結六功指思非流每青管夫連遠資隊跟帶花快條院變聯言權往展該領傳近留紅治決周保達辦運武半候七必城父強步完革深區即求品士轉量空甚眾技輕程告江語英基派滿式李息寫呢識極令黃德收臉錢黨倒未持取設始版雙歷越史商千片容研像找友孩站廣改議形委早房音火際則首單據導影失拿網香似斯專石若兵弟誰校讀志飛觀爭究包組造落視濟喜離雖壞陳';
const FREQUENT_KANJI =
  '日一国人年大十二本中長出三時行見月後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電校語土木聞食車何南万毎白天母火右読友左休父雨会同事自社発者地業方新場員立開手力問代明動京目通言理体田主題意不作用度強公持野以思家世多正安院心界教文元重近考画海売知道集別物使品計死特私始朝運終台広住真有口少町料工建空急止送切転研足究楽起着店病質待試族銀早映親験英医仕去味写字答夜音注帰古歌買悪図週室歩風紙黒花春赤青館屋色走秋夏習駅洋旅服夕借曜飲肉貸堂鳥飯勉冬昼茶弟牛魚兄犬妹姉漢政議民連対部合市内相定回選米実関決全表戦経最現調化当約首法性的要制治務成期取都和機平加受続進数記初指権支産点報済活原共得解交資予向際勝面告反判認参利組信在件側任引求所次昨論官増係感情投示変打直両式確果容必演歳争談能位置流格疑過局放常状球職与供役構割身費付由説難優';
const FREQUENT_HANGUL =
  '이다는의에가을하고지로기어사들을은한그도나리자시있대수인아서해정보것라여스일마과부게장전으주제거들만원공비면구상적조우세와소성생선동저니경음안문미계당유학방려관오용내무터화신까회된했중위을때할업체행국년진모분실치연러간단트드던같바';

const between = (from: string, to: string) => {
  const [least, most] = [from.codePointAt(0) ?? 0, to.codePointAt(0) ?? 0];
  return (character: string): boolean => {
    const code = character.codePointAt(0) ?? 0;
    return code >= least && code <= most;
  };
};
const group = (share: number, size: number, has: ScriptGroup['has']): ScriptGroup => ({ share, size, has });
const among = (share: number, characters: string): ScriptGroup => {
  const set = new Set(characters);
  return group(share, set.size, (character) => set.has(character));
};
const ideograph = between('一', '\u9fff');

/** The groups of each script, the first that has a character counts. */
const SCRIPTS = {
  simplified: [
    among(0.6, FREQUENT_SIMPLIFIED),
    among(0.1, '，。、：；！？“”（）《》—…　·'),
    group(0.28, 6_500, ideograph),
    among(0.01, '０１２３４５６７８９'),
  ],
  traditional: [
    among(0.62, FREQUENT_TRADITIONAL),
    among(0.1, '，。、：；！？「」『』（）《》—…　·'),
    group(0.26, 10_000, ideograph),
    among(0.01, '０１２３４５６７８９'),
  ],
  japanese: [
    group(0.5, 83, between('ぁ', 'ん')),
    group(0.12, 88, between('ァ', 'ー')),
    among(0.1, '、。「」（）！？：・　～『』'),
    among(0.18, FREQUENT_KANJI),
    group(0.09, 6_000, ideograph),
    among(0.01, '０１２３４５６７８９'),
  ],
  korean: [
    among(0.65, FREQUENT_HANGUL),
    group(0.3, 2_200, between('가', '힣')),
    among(0.02, '“”‘’·…　、。「」'),
    group(0.005, 4_800, ideograph),
  ],
} as const satisfies Readonly<Record<string, readonly ScriptGroup[]>>;
type Script = keyof typeof SCRIPTS;

/** How much of a body is looked at, and how much text outside of ASCII is weighed: what a guess costs is bounded. */
const SEARCHED_BYTES = 2_097_152;
const SAMPLE_BYTES = 8_192;
/** How much of a word before its first byte outside of ASCII is of interest. */
const WORD_BYTES = 16;
/** Trailing bytes of two-byte encodings begin here, so anything below ends a piece of text in each of them. */
const LEAST_TRAIL = 0x40;
const SPACE = 0x20;
/** UTF-8 with one broken character in this many is still UTF-8: one that was cut, or that has a stray byte. */
const UTF8_SOUND_PER_BROKEN = 10;

/** Logarithms of the chance of characters that the language of an encoding does not have. */
const OTHER_LETTER = -9.2;
const OTHER_SIGN = -10;
const RARE_CHARACTER = -13;
const CONTROL = -16;
const NOT_IN_ENCODING = -22;
/** A letter of another script right beside a Latin one: words do not mix them. */
const MIXED_WORD = -4;

interface Candidate {
  readonly charset: string;
  readonly languages: readonly (Alphabet | Script)[];
  /** How much likelier than others before anything was read. */
  readonly head?: number;
}

const WESTERN: readonly Alphabet[] = [
  'german',
  'french',
  'spanish',
  'portuguese',
  'italian',
  'nordic',
  'icelandic',
  'dutch',
];
const CENTRAL: readonly Alphabet[] = ['polish', 'czech', 'hungarian', 'romanian', 'croatian', 'german'];

/** The first of equals wins, so the encodings that the web used most come first. */
const CANDIDATES: readonly Candidate[] = [
  { charset: 'windows-1252', languages: WESTERN, head: 3 },
  { charset: 'windows-1251', languages: ['cyrillic'] },
  { charset: 'shift_jis', languages: ['japanese'] },
  { charset: 'gbk', languages: ['simplified'] },
  { charset: 'euc-kr', languages: ['korean'] },
  { charset: 'big5', languages: ['traditional'] },
  { charset: 'euc-jp', languages: ['japanese'] },
  { charset: 'windows-1250', languages: CENTRAL },
  { charset: 'iso-8859-2', languages: CENTRAL },
  { charset: 'windows-1254', languages: ['turkish'] },
  { charset: 'windows-1253', languages: ['greek'] },
  { charset: 'iso-8859-7', languages: ['greek'] },
  { charset: 'windows-1256', languages: ['arabic'] },
  { charset: 'windows-1255', languages: ['hebrew'] },
  { charset: 'windows-874', languages: ['thai'] },
  { charset: 'windows-1257', languages: ['baltic'] },
  { charset: 'koi8-r', languages: ['cyrillic'] },
  { charset: 'koi8-u', languages: ['cyrillic'] },
  { charset: 'iso-8859-5', languages: ['cyrillic'] },
  { charset: 'ibm866', languages: ['cyrillic'] },
];

/**
 * The likeliest encoding of a text that declares none and is not valid UTF-8, by the frequency of its characters in each
 * encoding's languages. Deterministic, and its cost does not grow with the body beyond a limit.
 */
export function guessCharset(body: Uint8Array): string {
  const sample = sampleOf(body);
  if (isMostlyUtf8(sample)) return 'utf-8';
  let best = 'windows-1252';
  let most = Number.NEGATIVE_INFINITY;
  for (const { charset, languages, head = 0 } of CANDIDATES) {
    const text = decoderOf(charset).decode(sample);
    for (const language of languages) {
      const chance = chanceOf(text, charactersOf(language), most - head) + head;
      if (chance <= most) continue;
      most = chance;
      best = charset;
    }
  }
  return best;
}

/** The words with bytes outside of ASCII, separated by spaces. */
function sampleOf(body: Uint8Array): Uint8Array {
  const sample = new Uint8Array(SAMPLE_BYTES);
  const end = Math.min(body.length, SEARCHED_BYTES);
  let length = 0;
  for (let at = 0; at < end && length < SAMPLE_BYTES; at++) {
    if ((body[at] as number) < 0x80) continue;
    let start = at;
    while (start > 0 && at - start < WORD_BYTES && isAsciiLetter(body[start - 1] as number)) start--;
    let stop = at;
    while (stop < end && stop - at < SAMPLE_BYTES && (body[stop] as number) >= LEAST_TRAIL) stop++;
    const piece = body.subarray(start, Math.min(stop, start + SAMPLE_BYTES - length));
    sample.set(piece, length);
    length += piece.length;
    if (length < SAMPLE_BYTES) sample[length++] = SPACE;
    at = stop;
  }
  return sample.subarray(0, length);
}

const isAsciiLetter = (code: number): boolean => (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;

function isMostlyUtf8(sample: Uint8Array): boolean {
  let sound = 0;
  let broken = 0;
  for (const character of decoderOf('utf-8').decode(sample)) {
    if (character === '\ufffd') broken++;
    else if (character > '\x7f') sound++;
  }
  return sound >= broken * UTF8_SOUND_PER_BROKEN && sound > 0;
}

/** The logarithm of the chance of a character in a language. */
type Characters = (character: string) => number;

/** The logarithm of the chance of a whole text; any lower number once it is below `least`. */
function chanceOf(text: string, characters: Characters, least: number): number {
  let sum = 0;
  let before = '';
  for (const character of text) {
    if (character > '\x7f') {
      sum += characters(character);
      if (isLatin(before) && isOtherScript(character)) sum += MIXED_WORD;
      if (sum < least) return sum;
    } else if (isLatin(character) && isOtherScript(before)) sum += MIXED_WORD;
    before = character;
  }
  return sum;
}

const isLatin = (character: string): boolean => /^[A-Za-z]$/.test(character);
const OTHER_SCRIPT = /^(?!\p{Script=Latin})\p{L}$/u;
const isOtherScript = (character: string): boolean => character > '\x7f' && OTHER_SCRIPT.test(character);

const LETTER = /^\p{L}$/u;
const HALF_WIDTH = /^[\uff61-\uff9f]$/;
const NO_CHARACTER = /^[\p{Cc}\p{Cn}\p{Co}]$/u;

/** Filled on first use; there are as many as languages. */
const known = new Map<Alphabet | Script, Characters>();

function charactersOf(language: Alphabet | Script): Characters {
  const found = known.get(language);
  if (found !== undefined) return found;
  const made = isScript(language) ? scriptCharacters(SCRIPTS[language]) : alphabetCharacters(language);
  known.set(language, made);
  return made;
}

const isScript = (language: Alphabet | Script): language is Script => language in SCRIPTS;

function alphabetCharacters(alphabet: Alphabet): Characters {
  const chances = alphabetChances(alphabet);
  return (character) => chances.get(character) ?? unknownChance(character);
}

function scriptCharacters(groups: readonly ScriptGroup[]): Characters {
  // At most as many as there are characters in the encoding.
  const chances = new Map<string, number>();
  return (character) => {
    const chance = chances.get(character);
    if (chance !== undefined) return chance;
    const found = groups.find(({ has }) => has(character));
    const made = found === undefined ? unknownChance(character) : Math.log(found.share / found.size);
    chances.set(character, made);
    return made;
  };
}

function unknownChance(character: string): number {
  if (character === '\ufffd') return NOT_IN_ENCODING;
  if (NO_CHARACTER.test(character)) return CONTROL;
  if (HALF_WIDTH.test(character)) return OTHER_LETTER;
  if (character > '\u2fff') return RARE_CHARACTER;
  return LETTER.test(character) ? OTHER_LETTER : OTHER_SIGN;
}

const decoders = new Map<string, TextDecoder>();

function decoderOf(charset: string): TextDecoder {
  let decoder = decoders.get(charset);
  if (decoder === undefined) {
    decoder = new TextDecoder(charset);
    decoders.set(charset, decoder);
  }
  return decoder;
}
