import type { Evidence } from './block-features.ts';
import type { Block } from './blocks.ts';

/** Longer texts may speak of such things as well. */
const MOST_WORDS = 70;
const PENALTY = 5;

/** What templates say about the page itself, in the words that nearly all of them use. */
const NOTES: readonly RegExp[] = [
  // Whether it helped.
  /\b(?:did|was|is|were) (?:this|these) (?:page|article|information|answer|topic|content|section|post|doc(?:ument(?:ation)?)?|guide)s? (?:help(?:ful)?|useful|answer)/i,
  /^(?:was|is) this (?:helpful|useful)\b/i,
  /^(?:war (?:diese|dieser|dieses) .{0,20}hilfreich|cet(?:te)? .{0,20}vous a-t-(?:il|elle) (?:été utile|aidé)|¿?te (?:ha sido|fue|ha resultado) útil)/i,
  /\bthanks? (?:you )?for (?:letting us know|your feedback)\b|\btell us (?:what we did right|how we can)\b/i,
  // When it was changed, and how to change it.
  /^(?:this (?:page|article|document) was |page )?last (?:updated|modified|edited|revised|reviewed)\b/i,
  /^(?:zuletzt (?:aktualisiert|geändert|bearbeitet)|dernière (?:mise à jour|modification)|última (?:actualización|modificación|atualização))\b/i,
  /^(?:edit|improve|view|suggest an? edits? (?:to|for)) (?:this|the) (?:page|article|source|doc)/i,
  /^help (?:us )?improve (?:this|these|our)\b|\bedit (?:this page )?on github\b|\bview (?:this )?(?:page|source) on github\b/i,
  // Whose it is.
  /\bexcept (?:as|where) otherwise (?:noted|stated)\b|\bcontent .{0,40}licensed under (?:the |a )?(?:creative|cc)\b/i,
  /\ball rights reserved\b|^(?:copyright|©|\(c\))\s/i,
  // What it takes to see it.
  /^.{0,60}\b(?:please|need to|must|have to) (?:enable|activate|turn on) java ?script\b.{0,60}$/i,
  /^.{0,30}\bthis (?:page|site|website|app|application) (?:requires|needs) java ?script\b.{0,60}$/i,
  /^.{0,30}\bjava ?script (?:is|seems to be|appears to be) (?:disabled|required|not enabled|turned off)\b.{0,60}$/i,
  // Where else to go on it.
  /^(?:on this page|in this article|table of contents|page contents|in this section|auf dieser seite|sur cette page|en esta página)$/i,
  /^(?:skip to|jump to|back to top|go to top|return to top)\b.{0,30}$/i,
];

/** Takes what a page says about itself out of the running. Changes `sums`. */
export function withoutNotes({ blocks }: Evidence, sums: Float64Array): void {
  for (let index = 0; index < blocks.length; index++) {
    const { words, text } = blocks[index] as Block;
    if (words === 0 || words > MOST_WORDS || (sums[index] as number) < -PENALTY) continue;
    if (NOTES.some((note) => note.test(text))) sums[index] = (sums[index] as number) - PENALTY;
  }
}
