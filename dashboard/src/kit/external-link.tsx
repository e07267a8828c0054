import { ExternalLink as Icon } from 'lucide-react';
import styles from './external-link.module.css';

/** Schemes that may be opened from a page of a site; `javascript:` and the like are shown as text. */
const isSafe = (url: string): boolean => /^https?:\/\//i.test(url);

/** A URL that a site has written: opens in a new tab that knows nothing of this one. */
export function ExternalLink({ url, text }: { readonly url: string; readonly text?: string }) {
  if (!isSafe(url)) return <span className={styles.text}>{text ?? url}</span>;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer nofollow" className={styles.link} title={url}>
      <span className={styles.text}>{text ?? url}</span>
      <Icon size={13} aria-label="(opens in a new tab)" />
    </a>
  );
}
