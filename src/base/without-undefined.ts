type OptionalKey<T> = { [K in keyof T]-?: T extends Required<Pick<T, K>> ? never : K }[keyof T];

/** An object without the members that are undefined, since optional members are missing instead. */
export function withoutUndefined<T extends object>(
  given: Omit<T, OptionalKey<T>> & { readonly [K in OptionalKey<T>]?: T[K] | undefined },
): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;
}
