import { lazy, Suspense } from 'react';
import styles from './code-editor.module.css';
import type { CodeEditorProps } from './code-editor-view.tsx';

const CodeEditorView = lazy(() => import('./code-editor-view.tsx'));

/** An editor for JSON, SQL or plain text. The library behind it is loaded with the first editor. */
export const CodeEditor = (props: CodeEditorProps) => (
  <div className={styles.editor} style={{ minHeight: props.minHeight ?? 140 }}>
    <Suspense fallback={null}>
      <CodeEditorView {...props} />
    </Suspense>
  </div>
);
