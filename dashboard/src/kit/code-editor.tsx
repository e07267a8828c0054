import styles from './code-editor.module.css';
import type { CodeEditorProps } from './code-editor-view.tsx';
import { lazyPart, PartPlace } from './lazy-part.tsx';

const CodeEditorView = lazyPart(() => import('./code-editor-view.tsx'), 'CodeEditorView');

/** An editor for JSON, SQL or plain text. The library behind it is loaded with the first editor. */
export const CodeEditor = (props: CodeEditorProps) => (
  <div className={styles.editor} style={{ minHeight: props.minHeight ?? 140 }}>
    <PartPlace>
      <CodeEditorView {...props} />
    </PartPlace>
  </div>
);
