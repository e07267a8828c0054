import { Bug } from 'lucide-react';
import { Button } from '../kit/button.tsx';
import { CodeBlock } from '../kit/code-block.tsx';
import { EmptyState } from '../kit/states.tsx';

/** Shown in place of a page whose code has failed. A page of another version of the server is the usual cause. */
export const CrashPage = ({ error }: { readonly error: unknown }) => (
  <EmptyState
    isPage
    icon={Bug}
    title="This page has failed"
    actions={
      <Button kind="primary" onClick={() => location.reload()}>
        Load it again
      </Button>
    }
  >
    Your data is safe: only the display has failed. If it happens again after loading, please report this
    text.
    <CodeBlock text={error instanceof Error ? (error.stack ?? error.message) : String(error)} label="error" />
  </EmptyState>
);
