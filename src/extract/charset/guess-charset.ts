import { TextDecoder } from 'node:util';
import {
  type Alphabet,
  alphabetChances,
  SCRIPTS,
  type Script,
  type ScriptGroup,
} from './charset-languages.ts';

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
