import { PAGE_TYPES } from '../model/model.ts';
import { ELEMENT_FLAG_NAMES } from './element-flags.ts';
import { HINT_NAMES, TOPIC_NAMES } from './word-lists.ts';

const OWN = [
  'words',
  'linkShare',
  'wordChars',
  'smallShare',
  'commaShare',
  'stopShare',
  'endsWithStop',
  'startsCapital',
  'capitalShare',
  'digitShare',
  'links',
  'lineBreaks',
  'hasCurrency',
  'hasYear',
  'hasMark',
  'isRepeatedText',
  'isTitle',
  'isInDescription',
  'isInBody',
  'tagKind',
  'headingLevel',
] as const;
const PLACE = [
  'place',
  'wordPlace',
  'wordsBefore',
  'afterH1',
  'sinceHeading',
  'lastHeadingLevel',
  'depth',
  'proseBefore',
  'proseAfter',
  'proseGap',
  'proseAhead',
] as const;
const NEIGHBOUR = ['words', 'linkShare', 'smallShare', 'endsWithStop', 'tagKind'] as const;
export const NEIGHBOURS = [-2, -1, 1, 2] as const;
const WINDOWS = ['nearWords', 'nearLinkShare', 'nearSmallShare', 'wideWords', 'wideLinkShare'] as const;
const LEVEL = ['words', 'linkShare', 'proseShare', 'pageShare', 'blocks', 'start', 'alike'] as const;
export const LEVELS = ['container', 'wider', 'wide', 'widest'] as const;
const UNITS = [
  'innerAlike',
  'innerWords',
  'innerLinkShare',
  'innerGroupShare',
  'outerAlike',
  'outerWords',
  'outerLinkShare',
  'outerGroupShare',
  'sameUnit',
] as const;
const MEETS = [
  'candidateUp',
  'candidateDown',
  'candidateSide',
  'holderUp',
  'holderDown',
  'holderSide',
  'candidateShare',
  'isInMain',
  'isInArticle',
  'mainShare',
  'articleShare',
  'commentLead',
  'commentShare',
  'commentLinkShare',
] as const;

const WHOLE = [
  'page:words',
  'page:blocks',
  'page:linkShare',
  'page:proseShare',
  'page:holderShare',
  'page:unitShare',
] as const;
const TOKENS = ['tokens:text', 'tokens:names'] as const;

export const BLOCK_FEATURE_NAMES: readonly string[] = [
  ...OWN,
  ...TOPIC_NAMES.map((name) => `topic:${name}`),
  ...TOPIC_NAMES.map((name) => `headingTopic:${name}`),
  ...PLACE,
  ...NEIGHBOURS.flatMap((offset) => NEIGHBOUR.map((name) => `${name}@${offset}`)),
  ...WINDOWS,
  ...LEVELS.flatMap((level) => LEVEL.map((name) => `${level}:${name}`)),
  ...UNITS,
  ...MEETS,
  ...ELEMENT_FLAG_NAMES.map((name) => `mark:${name}`),
  ...HINT_NAMES.map((name) => `hint:${name}`),
  ...TOKENS,
  ...WHOLE,
  ...PAGE_TYPES.map((name) => `type:${name}`),
];
export const BLOCK_FEATURES = BLOCK_FEATURE_NAMES.length;
