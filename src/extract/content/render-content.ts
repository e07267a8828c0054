import { MarkdownSink } from '../markdown/markdown-sink.ts';
import type { PageTree } from '../tree/page-tree.ts';
import { HtmlSink } from './content-html.ts';
import { TextSink } from './content-text.ts';
import { baseOf } from './content-urls.ts';
import { outlineContent } from './outline-content.ts';

export interface Rendered {
  readonly html: string;
  readonly text: string;
  /** GitHub Flavored Markdown. */
  readonly markdown: string;
}

/** The nodes of a tree that `kept` marks with 1, in the three forms content comes in. */
export function render(tree: PageTree, kept: Uint8Array, url: string): Rendered {
  const sinks = { html: new HtmlSink(), text: new TextSink(), markdown: new MarkdownSink() };
  outlineContent(tree, kept, baseOf(tree, url), [sinks.html, sinks.text, sinks.markdown]);
  return { html: sinks.html.finish(), text: sinks.text.finish(), markdown: sinks.markdown.finish() };
}
