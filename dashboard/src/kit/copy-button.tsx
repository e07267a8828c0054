import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from './button.tsx';
import { toast } from './toasts.tsx';

/** Copies `text`; without children it is an icon. */
export function CopyButton({
  text,
  label = 'Copy',
  isIcon = false,
}: {
  readonly text: string | (() => string);
  readonly label?: string;
  readonly isIcon?: boolean;
}) {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
      setIsCopied(true);
      setTimeout(() => setIsCopied(false), 1_500);
    } catch {
      toast.failed(new Error('The browser did not allow to copy. Select the text and copy it by keyboard.'));
    }
  };
  if (isIcon) {
    return (
      <IconButton
        icon={isCopied ? Check : Copy}
        label={isCopied ? 'Copied' : label}
        size="small"
        onClick={copy}
      />
    );
  }
  return (
    <Button icon={isCopied ? Check : Copy} size="small" onClick={copy}>
      {isCopied ? 'Copied' : label}
    </Button>
  );
}
