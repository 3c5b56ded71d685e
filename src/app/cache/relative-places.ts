/** Locations relative to the beginning of a kernel in its own file: moving a whole kernel does not change them. */
import type { Location } from '../../source/location.ts';

/** First line of a kernel. */
type Origin = Pick<Location, 'file' | 'line'> | undefined;

/** A copy of a value in which lines of the kernel's file are relative to the kernel. */
export function relativePlaces(value: unknown, origin: Origin): unknown {
  return moved(value, origin, -(origin?.line ?? 0));
}

/** Inverse of {@link relativePlaces}, for a kernel that begins at `origin`. */
export function absolutePlaces(value: unknown, origin: Origin): unknown {
  return moved(value, origin, origin?.line ?? 0);
}

function moved(value: unknown, origin: Origin, by: number): unknown {
  if (typeof value !== 'object' || value === null || origin === undefined) return value;
  if (value instanceof Map) return new Map([...value].map(([key, inner]) => [key, moved(inner, origin, by)] as const));
  if (Array.isArray(value)) return value.map((inner) => moved(inner, origin, by));
  const copy: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) copy[key] = moved(inner, origin, by);
  if (copy['file'] === origin.file && typeof copy['line'] === 'number') copy['line'] += by;
  return copy;
}
