/**
 * A location in a source file. Lines and columns count from 1. `file` is relative to the root of the repository (or of
 * the working directory without one), with forward slashes; the PTX layers preserve the compiler's own spelling.
 * `inlinedAt` is the location of the call when the code was inlined there.
 */
export interface Location {
  readonly file: string;
  readonly line: number;
  readonly column?: number;
  readonly inlinedAt?: Location;
}

/** The outermost frame of a chain of inlined calls: the line of the kernel itself. */
export function outermost(location: Location): Location {
  let frame = location;
  while (frame.inlinedAt) frame = frame.inlinedAt;
  return frame;
}

/** Headers of CCCL, such as `cuda/pipeline`, have no extension. */
const toolkitHeader = /(^|\/)cuda[^/]*\/(.*\/)?([^/]+\.(h|hpp|cuh|inl)|include\/(.*\/)?[^/.]+)$/;

/** Whether a file is one of the toolkit's headers, by its path. */
export function isToolkitFile(file: string): boolean {
  return toolkitHeader.test(file);
}

/** The user's own code at a location: the innermost frame outside the toolkit's headers, if there is one. */
export function outsideToolkit(location: Location | undefined): Location | undefined {
  for (let frame = location; frame; frame = frame.inlinedAt) if (!isToolkitFile(frame.file)) return frame;
  return undefined;
}
