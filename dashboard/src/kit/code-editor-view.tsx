import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { PostgreSQL, sql } from '@codemirror/lang-sql';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  keymap,
  lineNumbers,
  placeholder as placeholderText,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { getNonce } from 'get-nonce';
import { useEffect, useRef } from 'react';

export interface CodeEditorProps {
  readonly label: string;
  readonly value: string;
  readonly onChange?: (value: string) => void;
  readonly language?: 'json' | 'sql' | 'text';
  /** Tables and their columns, offered while SQL is typed. */
  readonly schema?: Readonly<Record<string, readonly string[]>>;
  readonly placeholder?: string;
  readonly isReadOnly?: boolean;
  readonly minHeight?: number;
  /** On Ctrl+Enter or Cmd+Enter. */
  readonly onRun?: () => void;
}

const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: 'var(--series-5)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--info)' },
  { tag: [tags.propertyName, tags.typeName], color: 'var(--accent-text)' },
  { tag: tags.comment, color: 'var(--text-3)', fontStyle: 'italic' },
]);

const look = EditorView.theme({
  '&': { fontSize: '13px', backgroundColor: 'transparent' },
  '&.cm-focused': { outline: '2px solid var(--focus)' },
  '.cm-content': { fontFamily: 'var(--mono)', caretColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--surface-2)', color: 'var(--text-3)', border: 'none' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': {
    backgroundColor: 'var(--info-soft) !important',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--border)',
    color: 'var(--text)',
  },
  '.cm-placeholder': { color: 'var(--text-3)' },
});

function languageOf({ language, schema }: CodeEditorProps) {
  if (language === 'sql') {
    const tables = Object.fromEntries(
      Object.entries(schema ?? {}).map(([name, columns]) => [name, [...columns]]),
    );
    return sql({ dialect: PostgreSQL, schema: tables });
  }
  return language === 'json' ? json() : [];
}

export function CodeEditorView(props: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const language = useRef(new Compartment());

  useEffect(() => {
    if (host.current === null) return;
    const initial = latest.current;
    const run = () => {
      latest.current.onRun?.();
      return latest.current.onRun !== undefined;
    };
    const made = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: initial.value,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          autocompletion(),
          syntaxHighlighting(colors),
          look,
          // The policy of the page admits style elements that have its nonce.
          EditorView.cspNonce.of(getNonce() ?? ''),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': initial.label }),
          EditorState.readOnly.of(initial.isReadOnly ?? false),
          placeholderText(initial.placeholder ?? ''),
          // Tab is left to the browser: it leads to the next control, as everywhere.
          keymap.of([{ key: 'Mod-Enter', run }, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
          language.current.of(languageOf(initial)),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange?.(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: languageOf reads both from the latest props
  useEffect(() => {
    view.current?.dispatch({ effects: language.current.reconfigure(languageOf(latest.current)) });
  }, [props.language, props.schema]);

  useEffect(() => {
    const made = view.current;
    if (made === null || made.state.doc.toString() === props.value) return;
    made.dispatch({ changes: { from: 0, to: made.state.doc.length, insert: props.value } });
  }, [props.value]);

  return <div ref={host} />;
}
