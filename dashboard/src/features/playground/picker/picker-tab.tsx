import { Maximize2 } from 'lucide-react';
import { useMemo, useState } from 'react';
import { Button } from '../../../kit/button.tsx';
import { Segmented } from '../../../kit/field.tsx';
import { Row, Stack } from '../../../kit/layout.tsx';
import { Notice } from '../../../kit/states.tsx';
import { FormatView } from '../result/format-view.tsx';
import type { Run } from '../result/run.ts';
import { ElementList } from './element-list.tsx';
import { type OutlineEntry, outlineOf } from './outline.ts';
import { PagePicture } from './page-picture.tsx';
import styles from './picker.module.css';
import { type Rules, rulesOf, rulesText } from './rule-draft.ts';
import { RuleForm } from './rule-form.tsx';
import { RulesPreview } from './rules-preview.tsx';

interface PickerTabProps {
  readonly run: Run;
  /** The rules of the form, as JSON. */
  readonly rules: string;
  readonly onRules: (rules: string) => void;
}

/** Picks elements of the stored page and writes rules for them, with what these yield over several pages. */
export const PickerTab = (props: PickerTabProps) => (
  <FormatView run={props.run} format="html">
    {(html) => <Picker html={html} {...props} />}
  </FormatView>
);

function Picker({ html, run, rules: text, onRules }: PickerTabProps & { readonly html: string }) {
  const outline = useMemo(() => outlineOf(html), [html]);
  const [picked, setPicked] = useState<OutlineEntry | null>(null);
  const [look, setLook] = useState<'page' | 'list'>('page');
  const around = picked === null ? null : outline.parentOf(picked.key);
  const rules = rulesOf(text);
  const change = (next: Rules) => onRules(rulesText(next));
  if (rules === null) {
    return (
      <Notice tone="bad">
        The rules in the form are no JSON object. Correct or empty them to use the picker.
      </Notice>
    );
  }
  return (
    <div className={styles.picker}>
      <Stack gap="small">
        <Row align="between">
          <Segmented
            label="How elements are shown"
            value={look}
            onChange={setLook}
            options={[
              { value: 'page', label: 'Page' },
              { value: 'list', label: 'List' },
            ]}
          />
          <Button
            size="small"
            icon={Maximize2}
            disabled={around === null}
            onClick={() => around !== null && setPicked(around)}
          >
            Pick the element around it
          </Button>
        </Row>
        {look === 'page' ? (
          <PagePicture outline={outline} picked={picked} onPick={setPicked} />
        ) : (
          <ElementList outline={outline} picked={picked} onPick={setPicked} />
        )}
      </Stack>
      <RuleForm
        key={picked?.key}
        outline={outline}
        picked={picked}
        taken={Object.keys(rules)}
        onAdd={(name, rule) => change({ ...rules, [name]: rule })}
      />
      <div className={styles.whole}>
        <RulesPreview
          run={run}
          rules={rules}
          onRemove={(name) => {
            const { [name]: _, ...rest } = rules;
            change(rest);
          }}
        />
      </div>
    </div>
  );
}
