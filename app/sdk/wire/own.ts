/**
 * Look-ups by names from outside, such as a schema's properties or a service's error code. A name such as "constructor"
 * must not find what every object inherits.
 */

/** The object's own value with this name; undefined if there is none. */
export function own<Value>(object: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The value at a path of own names and indices; undefined if there is none. */
export function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, step) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, step)
        ? inner[step as keyof typeof inner]
        : undefined,
    root,
  );
}
