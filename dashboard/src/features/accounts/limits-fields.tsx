import { problemOf } from '../../api/api-error.ts';
import { Field, TextInput } from '../../kit/field.tsx';
import { Columns } from '../../kit/layout.tsx';

export const LIMITS = {
  requestsPerMinute: 'Requests a minute',
  concurrentPages: 'Pages at the same time',
  openUrls: 'URLs that wait',
  storedBytes: 'Stored bytes',
} as const;
export type LimitName = keyof typeof LIMITS;
export type LimitTexts = Readonly<Record<LimitName, string>>;
export const NO_LIMITS: LimitTexts = {
  requestsPerMinute: '',
  concurrentPages: '',
  openUrls: '',
  storedBytes: '',
};

const names = Object.keys(LIMITS) as LimitName[];

/** What is wrong with the typed limits, by name. */
export const limitProblems = (texts: LimitTexts): Partial<Record<LimitName, string>> =>
  Object.fromEntries(
    names
      .filter((name) => texts[name] !== '' && !/^\d+$/.test(texts[name]))
      .map((name) => [name, 'Enter a whole number, or leave it empty for no limit.']),
  );

export const limitsOf = (texts: LimitTexts): Record<LimitName, number | null> =>
  Object.fromEntries(names.map((name) => [name, texts[name] === '' ? null : Number(texts[name])])) as Record<
    LimitName,
    number | null
  >;

export const LimitsFields = ({
  texts,
  onChange,
  failure,
}: {
  readonly texts: LimitTexts;
  readonly onChange: (texts: LimitTexts) => void;
  readonly failure: unknown;
}) => (
  <Columns min="narrow">
    {names.map((name) => (
      <Field
        key={name}
        label={LIMITS[name]}
        hint="Empty: no limit"
        error={limitProblems(texts)[name] ?? problemOf(failure, `limits.${name}`)}
      >
        <TextInput
          inputMode="numeric"
          value={texts[name]}
          onChange={(event) => onChange({ ...texts, [name]: event.target.value.trim() })}
        />
      </Field>
    ))}
  </Columns>
);
