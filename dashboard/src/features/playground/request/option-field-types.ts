export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
}

/**
 * How an option is typed: `lines` is a list with one entry per line, `pairs` an object with `Name: value` per line,
 * `checks` a list of choices, `on` and `off` a switch whose usual position is off or on.
 */
export type OptionKind =
  | 'text'
  | 'long'
  | 'number'
  | 'choice'
  | 'checks'
  | 'lines'
  | 'pairs'
  | 'json'
  | 'actions'
  | 'on'
  | 'off';

export interface OptionField {
  /** Path of the option in the request, such as `wait.selector`. */
  readonly path: string;
  readonly label: string;
  readonly kind: OptionKind;
  readonly hint?: string;
  readonly placeholder?: string;
  readonly choices?: readonly Choice[];
  /** Beside the field before it. */
  readonly isHalf?: boolean;
}
