/** Files in one place: a folder, or a prefix of a bucket. Their names have no folders. */
export interface Files {
  /**
   * Writes a file that is there whole or not at all, also when the process dies. Throws CONFLICT when there is a file of
   * this name, and whatever reading the chunks throws.
   */
  write(name: string, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * The bytes from the beginning, or those of the range. A range that ends behind the file ends with it. Throws NOT_FOUND
   * when there is no such file.
   */
  read(name: string, range?: ByteRange): AsyncIterable<Uint8Array>;
  has(name: string): Promise<boolean>;
  /** Lists the stored files, in no particular order. */
  list(): Promise<readonly StoredFile[]>;
  /** A file that is not there is no error. */
  remove(name: string): Promise<void>;
  /** Removes what writes of this place that were killed have left behind, and that is older than a day. */
  removeRemains(): Promise<void>;
  close(): Promise<void>;
}

export interface ByteRange {
  /** Offset of the first byte that is wanted. */
  readonly start: number;
  /** Offset behind the last byte that is wanted. */
  readonly end: number;
}

export interface StoredFile {
  readonly name: string;
  readonly bytes: number;
}
