import { PLAN_REASONS } from '../../../core/model/plan-reasons.ts';
import { fillWords, type ReasonSpec, reasonWords } from '../../../core/model/reason-spec.ts';
import { readReason } from '../../../core/model/reasons.ts';

/** Why a page is fetched the way it is, or cannot be fetched at all: the reason of a step of the ladder as a sentence. */
export function planSentence(reason: string, host: string): string {
  const [code = '', ...notes] = reason.split('; ');
  const sentence = sentenceOf(code, host) ?? `The reason is ${code}.`;
  const consents = notes.flatMap((note) => /^consent-required:(.+)$/.exec(note)?.[1] ?? []);
  if (consents.length === 0) return sentence;
  return `${sentence} The operator's consent to ${quoted(consents.join(','))} for ${host} would open another way.`;
}

function sentenceOf(code: string, host: string): string | null {
  const read = readReason(code);
  const specs: Readonly<Record<string, ReasonSpec>> = PLAN_REASONS;
  const spec = read === null ? undefined : specs[read.name];
  const what = read?.what ?? '';
  const words = spec === undefined ? null : reasonWords(spec, what);
  return words === null
    ? null
    : fillWords(words, { host: () => host, what: () => what, quoted: () => quoted(what) });
}

const quoted = (names: string) =>
  names
    .split(',')
    .map((name) => `\`${name}\``)
    .join(', ');
