import { useMemo, useState } from 'react';
import { Notice } from '../../../kit/states.tsx';
import { FormatView } from '../result/format-view.tsx';
import type { Run } from '../result/run.ts';
import { ElementList } from './element-list.tsx';
import { type OutlineEntry, outlineOf } from './outline.ts';
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
      <ElementList outline={outline} picked={picked} onPick={setPicked} />
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
