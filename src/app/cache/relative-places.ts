/** Places of a kernel's own file, told from where the kernel begins: a kernel that moves as a whole is the same. */
import type { Location } from '../../source/location.ts';

/** Where a kernel begins. */
type Origin = Pick<Location, 'file' | 'line'> | undefined;

/** A copy of a value in which the lines of the kernel's file count from the kernel. */
export function relativePlaces(value: unknown, origin: Origin): unknown {
  return moved(value, origin, -(origin?.line ?? 0));
}

/** The value of which {@link relativePlaces} made this, for a kernel that begins at `origin`. */
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
