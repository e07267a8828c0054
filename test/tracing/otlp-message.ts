import type { ReceivedSpan } from './otlp-receiver.ts';

/** The fields of a message in the binary encoding of Protocol Buffers: number → values, in order. */
type Fields = ReadonlyMap<number, readonly Value[]>;
type Value = bigint | Buffer;

const VARINT = 0;
const FIXED_64 = 1;
const BYTES = 2;
const FIXED_32 = 5;

/** Reads an `ExportTraceServiceRequest`, by the numbers of opentelemetry-proto's `trace/v1/trace.proto`. */
export function readTraceRequest(bytes: Buffer): ReceivedSpan[] {
  return messages(fieldsOf(bytes), 1).flatMap((resourceSpans) => {
    const resource = attributesOf(messages(messages(resourceSpans, 1)[0] ?? new Map(), 1));
    return messages(resourceSpans, 2).flatMap((scopeSpans) =>
      messages(scopeSpans, 2).map((span) => spanOf(span, resource)),
    );
  });
}

function spanOf(span: Fields, resource: ReceivedSpan['resource']): ReceivedSpan {
  const status = messages(span, 15)[0];
  return {
    traceId: bytesOf(span, 1).toString('hex'),
    spanId: bytesOf(span, 2).toString('hex'),
    parentSpanId: bytesOf(span, 4).toString('hex'),
    name: bytesOf(span, 5).toString('utf8'),
    kind: Number(span.get(6)?.[0] ?? 0),
    start: span.get(7)?.[0] as bigint,
    end: span.get(8)?.[0] as bigint,
    attributes: attributesOf(messages(span, 9)),
    isError: status?.get(3)?.[0] === 2n,
    resource,
  };
}

function attributesOf(pairs: readonly Fields[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => [bytesOf(pair, 1).toString('utf8'), anyValue(messages(pair, 2)[0])]),
  );
}

function anyValue(value: Fields | undefined): unknown {
  const [number, values] = [...(value ?? [])][0] ?? [0, []];
  const [first] = values;
  if (number === 1) return (first as Buffer).toString('utf8');
  if (number === 2) return first === 1n;
  if (number === 3) return Number(first);
  if (number === 4) return doubleOf(first as bigint);
  return null;
}

function doubleOf(bits: bigint): number {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(bits);
  return bytes.readDoubleLE();
}

const bytesOf = (fields: Fields, number: number): Buffer =>
  (fields.get(number)?.[0] as Buffer | undefined) ?? Buffer.alloc(0);
const messages = (fields: Fields, number: number): Fields[] =>
  (fields.get(number) ?? []).map((value) => fieldsOf(value as Buffer));

function fieldsOf(bytes: Buffer): Fields {
  const fields = new Map<number, Value[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => {
    at += length;
    if (at > bytes.length) throw new Error('The message breaks off.');
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const key = Number(varint());
    const value = ((): Value => {
      switch (key & 7) {
        case VARINT:
          return varint();
        case FIXED_64:
          return take(8).readBigUInt64LE();
        case BYTES:
          return take(Number(varint()));
        case FIXED_32:
          return BigInt(take(4).readUInt32LE());
        default:
          throw new Error(`A field of type ${key & 7} cannot be read.`);
      }
    })();
    const values = fields.get(key >> 3);
    if (values === undefined) fields.set(key >> 3, [value]);
    else values.push(value);
  }
  return fields;
}
