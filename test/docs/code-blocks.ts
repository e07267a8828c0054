import { readFileSync } from 'node:fs';

const ROOT = new URL('../../', import.meta.url);

/** A code block of a page, with what the comments before it say to the tests. Readers do not see these comments. */
export interface CodeBlock {
  readonly file: string;
  /** From 1, as editors count. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** `<!-- not run: REASON -->`: why no test runs the block; null when one does. */
  readonly notRun: string | null;
  /** `<!-- exits with N -->`: 0 unless said. */
  readonly exitCode: number;
  /** `<!-- meanwhile: NAME -->`: what happens on the site before the block is run. */
  readonly meanwhile: string | null;
  /** `<!-- output -->`: the block shows what the block before it prints. */
  readonly isOutput: boolean;
}

/** The code blocks of a Markdown file, in order. */
export function codeBlocks(file: string): readonly CodeBlock[] {
  const lines = readFileSync(new URL(file, ROOT), 'utf8').split('\n');
  const blocks: CodeBlock[] = [];
  let comments = '';
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const [, indent = '', language] = /^( *)```(\S*)/.exec(line) ?? [];
    if (language === undefined) {
      if (line.trim() !== '') comments = /^ *<!--.*-->$/.test(line) ? comments + line : '';
      continue;
    }
    const end = lines.findIndex((each, place) => place > at && each.trim() === '```');
    const text = lines
      .slice(at + 1, end)
      .map((each) => each.slice(indent.length))
      .join('\n');
    blocks.push({ file, line: at + 1, language, text, ...directives(comments) });
    comments = '';
    at = end;
  }
  return blocks;
}

function directives(comments: string): Pick<CodeBlock, 'notRun' | 'exitCode' | 'meanwhile' | 'isOutput'> {
  const value = (pattern: RegExp): string | null => pattern.exec(comments)?.[1] ?? null;
  return {
    notRun: value(/<!-- not run: (.+?) -->/),
    exitCode: Number(value(/<!-- exits with (\d+) -->/) ?? 0),
    meanwhile: value(/<!-- meanwhile: (\S+) -->/),
    isOutput: comments.includes('<!-- output -->'),
  };
}
