import styles from './sandbox-frame.module.css';

/**
 * A stored page as it looks. The server sends it with a policy that allows no script and no request; the frame takes
 * away scripts, forms, navigation of this window and the origin once more, should that policy be missing.
 */
export const SandboxFrame = ({ src, title }: { readonly src: string; readonly title: string }) => (
  <iframe
    className={styles.frame}
    src={src}
    title={title}
    sandbox=""
    referrerPolicy="no-referrer"
    loading="lazy"
  />
);
