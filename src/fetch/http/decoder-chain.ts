import { type Body, bodyLimit, EMPTY_BODY, joined } from './body-sink.ts';
import {
  asBadEncoding,
  badEncoding,
  type Coding,
  type Decoder,
  hasReadAll,
  openDecoder,
} from './content-decoder.ts';

/** Undoes codings as the bytes arrive, with backpressure from the last decoder to the connection. */
export class DecoderChain {
  private readonly codings: readonly Coding[];
  private readonly maxBytes: number;
  private readonly resume: () => void;
  private readonly fail: (error: Error) => void;
  private readonly stages: Decoder[] = [];
  private readonly fedBytes: number[] = [];
  private readonly finished = Promise.withResolvers<Body>();
  private output: Uint8Array[] = [];
  private outputBytes = 0;
  private isOver = false;
  private hasEnded = false;

  /** `resume` asks for more after a write returned false; `fail` is told once when the bytes don't decode. */
  constructor(
    codings: readonly Coding[],
    maxBytes: number,
    resume: () => void,
    fail: (error: Error) => void,
  ) {
    this.codings = codings;
    this.maxBytes = maxBytes;
    this.resume = resume;
    this.fail = fail;
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
    this.output = [];
    for (const stage of this.stages) stage.destroy();
  }

  private feed(index: number, chunk: Uint8Array): boolean {
    if (index === this.codings.length) {
      this.outputBytes += chunk.byteLength;
      if (this.outputBytes > this.maxBytes) this.breakOff(bodyLimit(this.maxBytes));
      else this.output.push(chunk);
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
      if (index === 0) this.resume();
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
    this.finished.resolve(this.outputBytes === 0 ? EMPTY_BODY : joined(this.output, this.outputBytes));
    this.output = [];
  }

  private breakOff(error: Error): void {
    if (this.isOver) return;
    this.drop();
    if (this.hasEnded) this.finished.reject(error);
    else this.fail(error);
  }
}
