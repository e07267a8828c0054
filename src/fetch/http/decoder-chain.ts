import type { HeldBytes } from '../byte-budget.ts';
import { type Body, BodyBuffer } from './body-buffer.ts';
import { bodyLimit } from './body-sink.ts';
import {
  asBadEncoding,
  badEncoding,
  type Coding,
  type Decoder,
  hasReadAll,
  openDecoder,
} from './content-decoder.ts';

export interface EncodedBodyOptions {
  /** The last one applied first. */
  readonly codings: readonly Coding[];
  readonly maxBytes: number;
  readonly held?: HeldBytes | undefined;
  /** Asks for more after a write returned false. */
  readonly resume: () => void;
  /** Told once when the bytes do not decode, or decode to too many. */
  readonly fail: (error: Error) => void;
}

/** Undoes codings as the bytes arrive, with backpressure from the output to the connection. */
export class DecoderChain {
  private readonly options: EncodedBodyOptions;
  private readonly codings: readonly Coding[];
  private readonly stages: Decoder[] = [];
  private readonly fedBytes: number[] = [];
  private readonly finished = Promise.withResolvers<Body>();
  private readonly output: BodyBuffer;
  private isOver = false;
  private hasEnded = false;

  constructor(options: EncodedBodyOptions) {
    this.options = options;
    this.codings = options.codings;
    this.output = new BodyBuffer(options.held, () => this.stages.at(-1)?.resume());
  }

  write(chunk: Uint8Array): boolean {
    return this.isOver || this.feed(0, chunk);
  }

  end(): Promise<Body> {
    this.hasEnded = true;
    this.endStage(0);
    return this.finished.promise;
  }

  drop(): void {
    this.isOver = true;
    this.output.drop();
    for (const stage of this.stages) stage.destroy();
  }

  private feed(index: number, chunk: Uint8Array): boolean {
    if (index === this.codings.length) {
      const { maxBytes } = this.options;
      if (this.output.length + chunk.byteLength <= maxBytes) return this.output.append(chunk);
      this.breakOff(bodyLimit(maxBytes));
      return true;
    }
    this.fedBytes[index] = (this.fedBytes[index] ?? 0) + chunk.byteLength;
    return (this.stages[index] ?? this.open(index, chunk)).write(chunk);
  }

  /** Stages open with their first bytes, because `deflate` is recognised by them. */
  private open(index: number, start: Uint8Array): Decoder {
    const coding = this.codings[index] ?? 'gzip';
    const stage = openDecoder(coding, start);
    this.stages[index] = stage;
    stage.on('data', (chunk: Uint8Array) => {
      if (!this.isOver && !this.feed(index + 1, chunk)) stage.pause();
    });
    stage.on('drain', () => {
      if (index === 0) this.options.resume();
      else this.stages[index - 1]?.resume();
    });
    stage.on('end', () => {
      if (hasReadAll(coding, stage.bytesWritten, this.fedBytes[index] ?? 0)) this.endStage(index + 1);
      else this.breakOff(badEncoding('data after the end'));
    });
    stage.on('error', (error) => this.breakOff(asBadEncoding(error)));
    return stage;
  }

  private endStage(index: number): void {
    if (this.isOver) return;
    const stage = this.stages[index];
    if (stage !== undefined) {
      stage.end();
      return;
    }
    this.isOver = true;
    this.finished.resolve(this.output.take());
  }

  private breakOff(error: Error): void {
    if (this.isOver) return;
    this.drop();
    if (this.hasEnded) this.finished.reject(error);
    else this.options.fail(error);
  }
}
