import type { Around, FieldCompiler } from './compile-rules.ts';
import { type CompiledSelector, compileSelector } from './css/compile-selector.ts';
import { type CompiledJsonPath, compileJsonPath } from './jsonpath/jsonpath.ts';
import { compileRegex, type Regex } from './regex.ts';
import type { AlternativeInput, TransformInput, ValueType } from './rule-schema.ts';
import { RuleSyntaxError } from './rule-text.ts';
import type { CompiledSchema } from './schema/compile-schema.ts';
import { type CompiledTransform, checkGroup, compileTransform } from './transforms.ts';
import { type CompiledXPath, compileXPath } from './xpath/xpath.ts';

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

type Finder =
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

const KINDS = ['css', 'xpath', 'regex', 'jsonpath', 'const'] as const;
type Kind = (typeof KINDS)[number];

/** Sources that each kind of selector can read, beside the match of the outer rule. */
const READABLE: Readonly<Record<Kind, readonly Source['kind'][]>> = {
  css: ['html'],
  xpath: ['html'],
  regex: ['html', 'text', 'response'],
  jsonpath: ['json-ld', 'embedded', 'state', 'response'],
  const: [],
};

/** The shorthand a rule was written in. */
interface Written {
  readonly offset: number;
  readonly written: string;
}

export class AlternativeCompiler {
  readonly #fields: FieldCompiler;
  readonly #around: Around;
  readonly #depth: number;

  constructor(fields: FieldCompiler, around: Around, depth: number) {
    this.#fields = fields;
    this.#around = around;
    this.#depth = depth;
  }

  /** Null when the alternative is invalid; the reason is added to the problems. */
  compile(input: AlternativeInput, path: string, short?: Written): CompiledAlternative | null {
    const kind = this.#kind(input, path);
    if (kind === null) return null;
    const place = short === undefined ? `${path}.${kind}` : path;
    const from = this.#source(input, kind, path);
    this.#refuseMisplaced(input, kind, path);
    const finder = this.#guarded(place, short?.offset ?? 0, () => finderOf(kind, input));
    const transforms = this.#transforms(input.transforms ?? [], path);
    const fields =
      input.fields === undefined
        ? null
        : this.#fields.fields(input.fields, internalsOf(kind), `${path}.fields`, this.#depth + 1);
    if (finder === null || transforms === null || from === null) return null;
    const label = kind === 'const' ? 'const' : `${kind}:${input[kind] ?? ''}`;
    return { label, path, finder, from, attribute: (input.attribute ?? 'text').trim(), transforms, fields };
  }

  #kind(input: AlternativeInput, path: string): Kind | null {
    const given = KINDS.filter((kind) => input[kind] !== undefined);
    const [kind] = given;
    if (given.length > 1) {
      this.#fields.problem(
        path,
        `Only one of ${given.join(', ')} can be followed; the others may be fallbacks.`,
      );
      return null;
    }
    // An alternative with fields only groups them.
    if (kind === undefined && input.fields !== undefined) return 'css';
    if (kind === undefined)
      this.#fields.problem(path, `One of ${KINDS.join(', ')} must say where the value is.`);
    return kind ?? null;
  }

  #source({ from }: AlternativeInput, kind: Kind, path: string): Source | null {
    if (from === undefined) {
      const isMarkup = kind === 'css' || kind === 'xpath';
      if (!isMarkup || this.#around === 'page' || this.#around === 'element') return { kind: 'around' };
      const what = this.#around === 'json' ? 'JSON' : 'text';
      this.#fields.problem(
        path,
        `\`${kind}\` looks for elements, but these fields are read from ${what}; say \`from: html\` for the page.`,
      );
      return null;
    }
    const source = sourceOf(from);
    if (READABLE[kind].includes(source.kind)) return source;
    const possible = READABLE[kind].map((each) => (each === 'state' ? 'embedded:NAME' : each)).join(', ');
    this.#fields.problem(
      `${path}.from`,
      possible === ''
        ? '`const` is read from nothing.'
        : `\`${kind}\` cannot be read from ${from}, only from ${possible}.`,
    );
    return null;
  }

  #refuseMisplaced({ attribute, flags, group }: AlternativeInput, kind: Kind, path: string): void {
    if (attribute !== undefined && kind !== 'css' && kind !== 'xpath') {
      this.#fields.problem(`${path}.attribute`, `Only elements have attributes; \`${kind}\` finds none.`);
    }
    if (kind === 'regex') return;
    if (flags !== undefined) this.#fields.problem(`${path}.flags`, 'Only `regex` has flags.');
    if (group !== undefined) this.#fields.problem(`${path}.group`, 'Only `regex` has groups.');
  }

  #transforms(inputs: readonly TransformInput[], path: string): CompiledTransform[] | null {
    const compiled = inputs.map((input, at) => {
      const key = typeof input === 'string' ? '' : (Object.keys(input)[0] ?? '');
      return this.#guarded(`${path}.transforms.${at}${key === '' ? '' : `.${key}`}`, 0, () =>
        compileTransform(input),
      );
    });
    return compiled.every((transform) => transform !== null) ? compiled : null;
  }

  #guarded<T>(path: string, offset: number, compile: () => T): T | null {
    try {
      return compile();
    } catch (error) {
      if (!(error instanceof RuleSyntaxError)) throw error;
      this.#fields.problem(
        path,
        error.message,
        error.position === null ? undefined : error.position + offset + 1,
      );
      return null;
    }
  }
}

function finderOf(kind: Kind, input: AlternativeInput): Finder {
  switch (kind) {
    case 'css': {
      const source = input.css ?? '';
      return source.trim() === '' ? { kind: 'self' } : { kind, selector: compileSelector(source) };
    }
    case 'xpath': {
      const xpath = compileXPath(input.xpath ?? '');
      if (xpath.type !== 'nodes' && (input.attribute !== undefined || input.fields !== undefined)) {
        const wanted = input.fields === undefined ? 'attribute' : 'fields';
        throw new RuleSyntaxError(null, `The expression gives a ${xpath.type}, which has no \`${wanted}\`.`);
      }
      return { kind, xpath };
    }
    case 'regex': {
      const regex = compileRegex(input.regex ?? '', input.flags);
      const group = input.group ?? null;
      checkGroup(regex, group);
      return { kind, regex, group };
    }
    case 'jsonpath':
      return { kind, query: compileJsonPath(input.jsonpath ?? '') };
    case 'const':
      return { kind, value: input.const };
  }
}

function internalsOf(kind: Kind): Around {
  if (kind === 'css' || kind === 'xpath') return 'element';
  return kind === 'regex' ? 'text' : 'json';
}

function sourceOf(from: string): Source {
  if (from.startsWith('embedded:')) return { kind: 'state', name: from.slice('embedded:'.length) };
  if (from.startsWith('__')) return { kind: 'state', name: from };
  return { kind: from as Exclude<Source['kind'], 'state'> };
}
