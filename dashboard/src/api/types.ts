import type { Job, Operations, Paths } from '../../../sdk/typescript/src/api-types.ts';

export type * from '../../../sdk/typescript/src/api-types.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** Paths of the API that have an operation of this method. */
export type PathWith<M extends Method> = {
  [P in keyof Paths]: M extends keyof Paths[P] ? P : never;
}[keyof Paths];

type OperationAt<P extends keyof Paths, M extends Method> = M extends keyof Paths[P] ? Paths[P][M] : never;
type DataOf<O> = O extends { data: infer D } ? D : never;

export type QueryAt<P extends keyof Paths, M extends Method> =
  OperationAt<P, M> extends { query: infer Q } ? Q : never;
export type ParamsAt<P extends keyof Paths, M extends Method> =
  OperationAt<P, M> extends { path: infer Q } ? Q : never;
export type BodyAt<P extends keyof Paths, M extends Method> =
  OperationAt<P, M> extends { body: infer B } ? B : never;
export type DataAt<P extends keyof Paths, M extends Method> = DataOf<OperationAt<P, M>>;

/** `data` of the answer of an operation, by the operation's id. */
export type Data<N extends keyof Operations> = DataOf<Operations[N]>;
/** One entry of a list, by the operation's id. */
export type Item<N extends keyof Operations> = Data<N> extends { items: (infer I)[] } ? I : never;
/** The JSON body of an operation, by the operation's id. */
export type Body<N extends keyof Operations> = Operations[N] extends { body: infer B } ? B : never;

export type JobStatus = Job['status'];
