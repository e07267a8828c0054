import { CodeBlock } from './code-block.tsx';
import { Stack } from './layout.tsx';
import { Notice } from './states.tsx';

/** A secret right after it was made: the only time that it is shown. */
export const SecretOnce = ({ secret, label }: { readonly secret: string; readonly label: string }) => (
  <Stack gap="small">
    <Notice tone="warn">Copy it now and keep it safe: it is shown only this once.</Notice>
    <CodeBlock text={secret} label={label} />
  </Stack>
);
