import { Code } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { CodeSamples } from '../../kit/code-samples.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import type { SampleRequest } from '../../kit/sample-forms.ts';

/** A button that shows a request of the API as code. */
export function CodeSamplesDialog({
  title,
  request,
}: {
  readonly title: string;
  readonly request: SampleRequest;
}) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button icon={Code} onClick={() => setIsOpen(true)}>
        Code
      </Button>
      <Dialog isOpen={isOpen} onClose={() => setIsOpen(false)} title={title} shape="wide">
        <CodeSamples request={request} />
      </Dialog>
    </>
  );
}
