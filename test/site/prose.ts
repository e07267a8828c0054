import { randomFrom } from './random.ts';

const WORDS = (
  'amber anchor apple arch autumn bakery balcony barley basket beacon birch bread bridge bronze candle canal ' +
  'carpet cedar chapel cherry clay clock cloud coast copper corner cotton crane creek dawn delta desert dune ' +
  'echo elm engine falcon farm feather fence ferry field flint forest fountain gallery garden gate glacier glass ' +
  'grain granite grove gull harbour hazel heather hill hollow honey horizon inlet iron island ivory jasmine juniper ' +
  'kettle lagoon lantern laurel lemon library lighthouse linen lodge maple marble market meadow mill mirror mist ' +
  'monsoon moss mountain museum nectar nest north oak oasis ocean olive orchard paper path pearl pebble pepper pine ' +
  'plain pond poplar prairie quarry quartz rain reed reef ridge river road rope rose saffron sail salt sand ' +
  'school sea shore silver sky slate snow south spring square station stone storm stream street summer summit swan ' +
  'temple thistle thunder tide timber tower trail valley velvet village vine violet walnut water wharf wheat willow ' +
  'wind window winter wool workshop'
).split(' ');
const LINKING =
  'the of and to in a is that for with as on by at from this over under between after before near without'.split(
    ' ',
  );

export function wordAt(random: () => number): string {
  return WORDS[Math.floor(random() * WORDS.length)] ?? 'stone';
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** Two words and the number: short, different for every page, the same every time. */
export function titleOf(seed: number): string {
  const random = randomFrom(seed ^ 0x5eed);
  return `${capital(wordAt(random))} ${wordAt(random)} ${seed}`;
}

export function sentence(random: () => number): string {
  const length = 9 + Math.floor(random() * 12);
  const words: string[] = [];
  for (let at = 0; at < length; at++) {
    words.push(at % 2 === 0 ? wordAt(random) : (LINKING[Math.floor(random() * LINKING.length)] ?? 'the'));
  }
  return `${capital(words.join(' '))}.`;
}

/** Whole sentences, at least this many characters. */
export function paragraph(random: () => number, leastChars: number): string {
  let made = sentence(random);
  while (made.length < leastChars) made += ` ${sentence(random)}`;
  return made;
}
