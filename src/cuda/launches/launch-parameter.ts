/** A parameter of a kernel, with the properties that matter for launches. */
export interface LaunchParameter {
  readonly name: string;
  /** As written; empty if the source is not available. */
  readonly type: string;
  readonly fields?: readonly { readonly name: string; readonly type: string }[];
}
