import { hash } from 'node:crypto';
import { estimateTokens } from '../../../crawl/llm/token-budget.ts';
import type { PageSource, PageWriterOptions, PageWriters } from '../table.ts';
import { markdownOf } from './markdown-zip.ts';

/** A chunk ends where the next paragraph would bring it beyond this. */
const MOST_TOKENS = 800;

/** A piece of a page's text that can be embedded or retrieved by itself. */
export interface Chunk {
  readonly text: string;
  /** The headings that it stands under, from the top. */
  readonly headings: readonly string[];
  readonly tokens: number;
}

/**
 * One line for each piece of each page: `url title chunk chunks headings text tokens`. Pieces end between paragraphs where
 * they can. `tokens` is the estimate of `estimateTokens`, which errs on the high side for the usual models.
 */
export async function* writeChunks(
  pages: PageSource,
  { onRows }: PageWriterOptions,
): AsyncGenerator<Uint8Array> {
  for await (const each of pages()) {
    const { page, record } = each;
    const markdown = await markdownOf(each);
    const found = markdown === null ? [] : chunksOf(markdown);
    const urlHash = hash('sha256', page.url, 'hex').slice(0, 24);
    const lines = found.map(({ headings, text, tokens }, at) =>
      JSON.stringify({
        id: `${urlHash}-${at}`,
        url: page.url,
        title: page.title,
        language: record.metadata?.language ?? null,
        fetched_at: new Date(page.fetchedAt).toISOString(),
        chunk: at,
        chunks: found.length,
        headings,
        text,
        tokens,
      }),
    );
    if (lines.length > 0) yield Buffer.from(`${lines.join('\n')}\n`);
    onRows(lines.length);
  }
}

/** Cuts a text into chunks. Nothing of it is lost but the blank lines between them. */
export function chunksOf(markdown: string, mostTokens = MOST_TOKENS): Chunk[] {
  const chunks: Chunk[] = [];
  let trail: string[] = [];
  let held = null as { text: string; headings: readonly string[]; tokens: number } | null;
  const flush = () => {
    if (held !== null)
      chunks.push({ text: held.text, headings: held.headings, tokens: estimateTokens(held.text) });
    held = null;
  };
  for (const block of blocksOf(markdown)) {
    const heading = /^(#{1,6})\s+(.*)$/.exec(block.split('\n', 1)[0] ?? '');
    if (heading !== null) {
      flush();
      const level = heading[1]?.length ?? 1;
      trail = [...trail.slice(0, level - 1), (heading[2] ?? '').trim()];
    }
    for (const piece of piecesOf(block, mostTokens)) {
      const tokens = estimateTokens(piece);
      if (held !== null && held.tokens + tokens > mostTokens) flush();
      held =
        held === null
          ? { text: piece, headings: trail, tokens }
          : { ...held, text: `${held.text}\n\n${piece}`, tokens: held.tokens + tokens };
    }
  }
  flush();
  return chunks;
}

/** Paragraphs, and blocks of code as a whole. */
function blocksOf(markdown: string): string[] {
  const blocks: string[] = [];
  let lines: string[] = [];
  let fence: string | null = null;
  const flush = () => {
    const text = lines.join('\n').trim();
    if (text !== '') blocks.push(text);
    lines = [];
  };
  for (const line of markdown.split('\n')) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? null;
    if (fence === null && line.trim() === '') flush();
    else lines.push(line);
    if (mark !== null) fence = fence === null ? mark : mark.startsWith(fence) ? null : fence;
  }
  flush();
  return blocks;
}

/** A block that is too long by itself is cut between sentences, else between words, else anywhere. */
function piecesOf(block: string, mostTokens: number): string[] {
  if (estimateTokens(block) <= mostTokens) return [block];
  const mostChars = Math.max(1, Math.floor((block.length * mostTokens) / estimateTokens(block) / 1.25));
  const pieces: string[] = [];
  for (let at = 0; at < block.length; ) {
    const end = at + mostChars;
    if (end >= block.length) {
      pieces.push(block.slice(at));
      break;
    }
    const part = block.slice(at, end);
    const sentence = Math.max(part.lastIndexOf('. '), part.lastIndexOf('\n'), part.lastIndexOf('。'));
    const word = part.lastIndexOf(' ');
    const cut = sentence > mostChars / 2 ? sentence + 1 : word > mostChars / 2 ? word + 1 : safeCut(part);
    pieces.push(block.slice(at, at + cut));
    at += cut;
  }
  return pieces.map((piece) => piece.trim()).filter((piece) => piece !== '');
}

/** Not between the halves of one character. */
const safeCut = (part: string): number =>
  part.length > 1 && /[\ud800-\udbff]$/.test(part) ? part.length - 1 : part.length;

export const writers = { chunks: writeChunks } satisfies PageWriters;
