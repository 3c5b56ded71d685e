import { grouped } from '../../base/grouped.ts';
import { posix } from 'node:path';
import type { SourceTree } from './source-tree.ts';

/** References between files of a project, by their texts: `"sort.cuh"` in an include, `sort.ptx` in a string. */
export interface FileMentions {
  /** Whether a file names another file, directly or through an intermediate file that it names. */
  readonly mentionsFile: (file: string, other: string) => boolean;
}

/** A name with an extension. */
const fileName = /[\w+-]+(?:\.[\w+-]+)+/g;

/** Creates the query; the text of each file is read once. */
export function fileMentions(tree: SourceTree): FileMentions {
  const namesIn = new Map<string, ReadonlySet<string>>();
  const around = new Map<string, ReadonlySet<string>>();
  let byName: Map<string, string[]> | undefined;

  const names = (file: string): ReadonlySet<string> => {
    const known = namesIn.get(file) ?? new Set((tree.text(file) ?? '').match(fileName));
    namesIn.set(file, known);
    return known;
  };
  const filesNamed = (name: string): readonly string[] => {
    if (!byName) {
      byName = grouped(tree.sources(), (path) => posix.basename(path));
    }
    return byName.get(name) ?? [];
  };
  /** The file names in a file and in the files that it names: declarations may come through nested headers. */
  const namesAround = (file: string): ReadonlySet<string> => {
    let known = around.get(file);
    if (!known) {
      const all = new Set(names(file));
      for (const name of names(file))
        for (const between of filesNamed(name)) if (between !== file) for (const other of names(between)) all.add(other);
      around.set(file, (known = all));
    }
    return known;
  };

  return {
    mentionsFile(file, other) {
      const name = posix.basename(other);
      // A file without an extension, or with blanks in its name, does not match the pattern.
      if (name.match(fileName)?.[0] === name) return namesAround(file).has(name);
      const isIn = (path: string): boolean => (tree.text(path) ?? '').includes(name);
      return isIn(file) || [...names(file)].flatMap(filesNamed).some((between) => between !== file && isIn(between));
    },
  };
}
