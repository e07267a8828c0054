import styles from './code-block.module.css';
import { CopyButton } from './copy-button.tsx';

/** Text of fixed width as it is, with a button that copies it. Safe for whatever a site has written. */
export function CodeBlock({
  text,
  label,
  isTall = false,
}: {
  readonly text: string;
  readonly label: string;
  /** As high as its text, without a limit. */
  readonly isTall?: boolean;
}) {
  return (
    <div className={styles.block}>
      <div className={styles.copy}>
        <CopyButton text={text} label={`Copy ${label}`} isIcon />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre className={isTall ? styles.tall : styles.text} aria-label={label} role="region" tabIndex={0}>
        <code>{text}</code>
      </pre>
    </div>
  );
}
