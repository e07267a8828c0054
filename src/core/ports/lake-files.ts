/**
 * The place of the lake: a folder, or a prefix of a bucket. Paths have folders, divided by slashes. Files are small
 * enough to be held in memory.
 */
export interface LakeFiles {
  /** The file is there whole and survives a power failure when the promise resolves. What the path held before is replaced. */
  write(path: string, bytes: Uint8Array): Promise<void>;
  /** Null when there is no such file. */
  read(path: string): Promise<Uint8Array | null>;
  /** Removes the files. Paths at which there is no file count as removed. */
  remove(paths: readonly string[]): Promise<void>;
  /** All files whose path begins with the prefix, which ends with a slash or is empty, in no order. */
  list(prefix: string): AsyncIterable<LakeEntry>;
  /** Where other programs of this machine find the file; null when it is not on this machine. */
  localPath(path: string): string | null;
  /** The place as the operator named it, without secrets. */
  readonly name: string;
  close(): Promise<void>;
}

export interface LakeEntry {
  readonly path: string;
  readonly bytes: number;
}
