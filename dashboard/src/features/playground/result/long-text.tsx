import { Download } from 'lucide-react';
import { useState } from 'react';
import { formatBytes } from '../../../format/format.ts';
import { Button } from '../../../kit/button.tsx';
import { CopyButton } from '../../../kit/copy-button.tsx';
import { Row, Stack } from '../../../kit/layout.tsx';
import styles from './result.module.css';

/** Characters shown at once: a browser takes seconds to lay out lines of some megabytes. */
const STEP = 100_000;

/** Text of any length that a site has written, as text. */
export function LongText({
  text,
  label,
  fileName,
}: {
  readonly text: string;
  readonly label: string;
  readonly fileName: string;
}) {
  const [length, setLength] = useState(STEP);
  const download = () => {
    const url = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }));
    const link = document.createElement('a');
    link.href = url;
    link.download = fileName;
    link.click();
    URL.revokeObjectURL(url);
  };
  return (
    <Stack gap="small">
      <Row align="between">
        <span className={styles.faint}>{formatBytes(new Blob([text]).size)}</span>
        <Row>
          <CopyButton text={text} label="Copy all" />
          <Button size="small" icon={Download} onClick={download}>
            Download
          </Button>
        </Row>
      </Row>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre className={styles.longText} role="region" aria-label={label} tabIndex={0}>
        {text.slice(0, length)}
      </pre>
      {text.length > length && (
        <Button onClick={() => setLength(length + STEP * 2)}>
          {`Show more (${formatBytes(text.length - length)} left)`}
        </Button>
      )}
    </Stack>
  );
}
