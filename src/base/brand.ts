declare const brand: unique symbol;

/** A number that only its own constructor makes, so that ids of different kinds do not mix. */
export type Id<Name extends string> = number & { readonly [brand]: Name };
