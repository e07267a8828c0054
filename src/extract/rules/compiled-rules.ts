import type { CompiledSelector } from './css/compile-selector.ts';
import type { CompiledJsonPath } from './jsonpath/jsonpath.ts';
import type { Regex } from './regex.ts';
import type { ValueType } from './rule-schema.ts';
import type { CompiledSchema } from './schema/compile-schema.ts';
import type { CompiledTransform } from './transforms.ts';
import type { CompiledXPath } from './xpath/xpath.ts';

/** Valid rules, ready for any page. They hold functions and cannot be sent to another thread. */
export interface CompiledRules {
  readonly fields: readonly CompiledField[];
  /** The schema that results are validated against. */
  readonly schema: CompiledSchema | null;
}

export interface CompiledField {
  readonly name: string;
  /** Where it stands in the rules: `rules.items.fields.price`. */
  readonly path: string;
  /** Tried in order; the first is the rule itself, the others its fallbacks. */
  readonly alternatives: readonly CompiledAlternative[];
  readonly isList: boolean;
  /** Negative counts from the end. */
  readonly index: number;
  readonly limit: number;
  readonly isRequired: boolean;
  readonly type: ValueType | null;
  /** The `default` of the field; undefined without one. */
  readonly fallbackValue: unknown;
}

export interface CompiledAlternative {
  /** How it was written: `css:.price`. */
  readonly label: string;
  readonly path: string;
  readonly finder: Finder;
  readonly from: Source;
  /** An attribute of the element. */
  readonly attribute: string;
  readonly transforms: readonly CompiledTransform[];
  readonly fields: readonly CompiledField[] | null;
}

export type Finder =
  | { readonly kind: 'css'; readonly selector: CompiledSelector }
  | { readonly kind: 'xpath'; readonly xpath: CompiledXPath }
  | { readonly kind: 'regex'; readonly regex: Regex; readonly group: string | number | null }
  | { readonly kind: 'jsonpath'; readonly query: CompiledJsonPath }
  | { readonly kind: 'const'; readonly value: unknown }
  /** The match of the outer rule itself. */
  | { readonly kind: 'self' };

/** What is searched: the outer match (or the page), or a named part of the page. */
export type Source =
  | { readonly kind: 'around' | 'html' | 'text' | 'json-ld' | 'response' | 'embedded' }
  | { readonly kind: 'state'; readonly name: string };
