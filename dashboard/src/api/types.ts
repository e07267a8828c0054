import type { components, operations, paths } from '../../../sdk/typescript/src/api-types.ts';

export type Schemas = components['schemas'];
export type Operation = keyof operations;
export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** Paths of the API that have an operation of this method. */
export type PathWith<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, infer O> ? ([O] extends [undefined] ? never : P) : never;
}[keyof paths] &
  string;

type OperationAt<P extends keyof paths, M extends Method> =
  paths[P] extends Record<M, infer O> ? NonNullable<O> : never;
type JsonOf<T> = T extends { content: { 'application/json': infer B } } ? B : never;
type SuccessOf<O> = O extends { responses: infer R }
  ? { [S in keyof R]: S extends 200 | 201 | 202 ? JsonOf<R[S]> : never }[keyof R]
  : never;
type DataOf<O> = SuccessOf<O> extends infer S ? (S extends { data: infer D } ? D : never) : never;

export type QueryAt<P extends keyof paths, M extends Method> =
  OperationAt<P, M> extends { parameters: { query?: infer Q } } ? NonNullable<Q> : never;
export type ParamsAt<P extends keyof paths, M extends Method> =
  OperationAt<P, M> extends { parameters: { path: infer Q } } ? Q : never;
export type BodyAt<P extends keyof paths, M extends Method> =
  OperationAt<P, M> extends { requestBody?: infer B } ? JsonOf<NonNullable<B>> : never;
export type DataAt<P extends keyof paths, M extends Method> = DataOf<OperationAt<P, M>>;

/** `data` of the answer of an operation, by the operation's id. */
export type Data<N extends Operation> = DataOf<operations[N]>;
/** One entry of a list, by the operation's id. */
export type Item<N extends Operation> =
  Data<N> extends infer D ? (D extends { items: (infer I)[] } ? I : never) : never;
/** The JSON body of an operation, by the operation's id. */
export type Body<N extends Operation> = operations[N] extends { requestBody?: infer B }
  ? JsonOf<NonNullable<B>>
  : never;

export type Job = Schemas['Job'];
export type JobStatus = Job['status'];
export type Page = Schemas['Page'];
