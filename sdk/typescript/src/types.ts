import type { components, operations } from './api-types.ts';

export type Schemas = components['schemas'];
type Operation = keyof operations;

type JsonBody<T> = T extends { content: { 'application/json': infer B } } ? B : never;
type Answers<N extends Operation> = operations[N] extends { responses: infer R } ? R : never;
type Success<N extends Operation> =
  Answers<N> extends infer R
    ? { [S in keyof R]: S extends 200 | 201 | 202 ? JsonBody<R[S]> : never }[keyof R]
    : never;

/** What an operation takes. */
export type Body<N extends Operation> = operations[N] extends { requestBody?: infer B }
  ? JsonBody<NonNullable<B>>
  : never;
/** `data` of what an operation answers when it succeeds. */
export type Data<N extends Operation> =
  Success<N> extends infer S ? (S extends { data: infer D } ? D : never) : never;
/** Query parameters of an operation, the cursor aside, which the iterators take care of. */
export type Query<N extends Operation> = operations[N] extends { parameters: { query?: infer Q } }
  ? Omit<NonNullable<Q>, 'cursor'>
  : never;
/** An entry of what an operation lists. */
export type Item<N extends Operation> =
  Data<N> extends infer D ? (D extends { items: (infer I)[] } ? I : never) : never;

export type Page = Schemas['Page'];
export type Job = Data<'getJob'>;
