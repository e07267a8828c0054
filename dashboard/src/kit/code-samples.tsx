import { useState } from 'react';
import { CodeBlock } from './code-block.tsx';
import { Segmented } from './field.tsx';
import { Stack } from './layout.tsx';
import { type SampleRequest, sampleForms } from './sample-forms.ts';

/** A request of the API in five forms: curl, TypeScript, Python, Go and a call of an MCP tool. */
export function CodeSamples({ request }: { readonly request: SampleRequest }) {
  const forms = sampleForms(request, location.origin);
  const [chosen, setChosen] = useState('curl');
  const shown = forms.find(({ name }) => name === chosen) ?? forms[0];
  return (
    <Stack gap="small">
      <Segmented
        label="Language"
        value={shown?.name ?? 'curl'}
        options={forms.map(({ name }) => ({ value: name, label: name }))}
        onChange={setChosen}
      />
      <CodeBlock text={shown?.text ?? ''} label={`${shown?.name} code`} />
    </Stack>
  );
}
