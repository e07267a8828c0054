import { MousePointerClick, Plus } from 'lucide-react';
import { useMemo, useState } from 'react';
import { plural } from '../../../format/format.ts';
import { Button } from '../../../kit/button.tsx';
import { CodeBlock } from '../../../kit/code-block.tsx';
import { Checkbox, Field, Select, TextInput } from '../../../kit/field.tsx';
import { Stack } from '../../../kit/layout.tsx';
import { EmptyState } from '../../../kit/states.tsx';
import type { Outline, OutlineEntry } from './outline.ts';
import styles from './picker.module.css';
import { likelyName, likelyType, RULE_TYPES, ruleOf } from './rule-draft.ts';
import { selectorsFor } from './selectors.ts';

interface RuleFormProps {
  readonly outline: Outline;
  readonly picked: OutlineEntry | null;
  /** Names of fields that exist. */
  readonly taken: readonly string[];
  readonly onAdd: (name: string, rule: unknown) => void;
}

export function RuleForm({ picked, ...rest }: RuleFormProps) {
  if (picked === null) {
    return (
      <EmptyState icon={MousePointerClick} title="Pick an element">
        Choose the price, the title or one entry of a list. The rule that finds it is written for you, and you
        see at once what it yields on this page and on others.
      </EmptyState>
    );
  }
  return <PickedRule picked={picked} {...rest} />;
}

function PickedRule({ outline, picked, taken, onAdd }: RuleFormProps & { readonly picked: OutlineEntry }) {
  const { single, list } = useMemo(
    () => selectorsFor(outline.stepsOf(picked.key), outline.countOf),
    [outline, picked.key],
  );
  const [isList, setIsList] = useState(false);
  const choices = isList && list.length > 0 ? list : single;
  const [chosen, setChosen] = useState<string | null>(null);
  const [own, setOwn] = useState<string | null>(null);
  const selector =
    own ?? choices.find((choice) => choice.selector === chosen)?.selector ?? choices[0]?.selector ?? '';
  const [take, setTake] = useState(picked.text === '' ? (picked.attributes[0]?.[0] ?? 'text') : 'text');
  const value =
    take === 'text' ? picked.text : (picked.attributes.find(([name]) => name === take)?.[1] ?? '');
  const [type, setType] = useState<string | null>(null);
  const [name, setName] = useState<string | null>(null);
  const draft = {
    name: (name ?? likelyName(selector, taken)).trim(),
    selector,
    take,
    type: type ?? likelyType(take, value),
    isList,
  };
  const rule = ruleOf(draft);
  const count = outline.countOf(selector);
  return (
    <Stack gap="small">
      <h3>
        Rule for <code>{picked.name}</code>
      </h3>
      <Field
        label="Selector"
        hint={
          own === null
            ? 'Sorted by how well it survives changes of the page.'
            : `Matches ${plural(count, 'element')} of this page.`
        }
      >
        <Select
          value={own === null ? selector : ''}
          onChange={(event) => {
            if (event.target.value === '') setOwn(selector);
            else {
              setOwn(null);
              setChosen(event.target.value);
            }
          }}
        >
          {choices.map((choice) => (
            <option key={choice.selector} value={choice.selector}>
              {`${choice.selector}  (${plural(choice.count, 'match', 'matches')})`}
            </option>
          ))}
          <option value="">Write my own…</option>
        </Select>
      </Field>
      {own !== null && (
        <Field
          label="Own selector"
          isLabelHidden
          error={count === 0 ? 'Matches nothing on this page.' : undefined}
        >
          <TextInput value={own} onChange={(event) => setOwn(event.target.value)} />
        </Field>
      )}
      <Checkbox
        label="All elements like this one, as a list"
        checked={isList}
        disabled={list.length === 0 && own === null}
        onChange={(event) => setIsList(event.target.checked)}
      />
      <div className={styles.pair}>
        <Field label="Take">
          <Select value={take} onChange={(event) => setTake(event.target.value)}>
            <option value="text">text</option>
            {picked.attributes.map(([attribute]) => (
              <option key={attribute} value={attribute}>
                {attribute}
              </option>
            ))}
            <option value="html">html</option>
          </Select>
        </Field>
        <Field label="Read as">
          <Select value={draft.type} onChange={(event) => setType(event.target.value)}>
            {RULE_TYPES.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </Select>
        </Field>
      </div>
      <Field label="Field" error={draft.name === '' ? 'Give the field a name.' : undefined}>
        <TextInput value={name ?? draft.name} onChange={(event) => setName(event.target.value)} />
      </Field>
      <CodeBlock text={JSON.stringify({ [draft.name]: rule }, null, 2)} label="rule" />
      <Button
        icon={Plus}
        disabled={draft.name === '' || selector === ''}
        onClick={() => {
          setName(draft.name);
          onAdd(draft.name, rule);
        }}
      >
        {taken.includes(draft.name) ? `Replace ${draft.name}` : `Add ${draft.name}`}
      </Button>
    </Stack>
  );
}
