/** Matches launches with kernels. */
import { withoutTemplateArguments } from '../names/demangle.ts';
import { basicTypeOf, integerType, isFloatType } from '../syntax/basic-type.ts';

/** The launched kernel, as the program names it. */
interface LaunchedName {
  /** `ns::reduce`, without template arguments. */
  readonly name: string;
  /** Template arguments; undefined for an unknown one. */
  readonly templateArguments: readonly (string | undefined)[];
}

/**
 * Whether a launch can be of a kernel. Unknown template arguments match any.
 * @param name - qualified, with template arguments: `ns::reduce<256, float>`
 */
export function canLaunch(launched: LaunchedName, name: string): boolean {
  const compiled = name.replaceAll('(anonymous namespace)::', '');
  const path = withoutTemplateArguments(compiled).split('::');
  const written = launched.name.split('::').filter((part) => part !== '');
  if (written.length === 0 || !written.every((part, index) => path.at(index - written.length) === part)) return false;
  const compiledArguments = templateArgumentsOf(compiled).map(canonicalArgument);
  return launched.templateArguments.every((argument, index) => {
    const own = argument === undefined ? undefined : canonicalArgument(argument);
    const other = compiledArguments[index];
    return own === undefined || other === undefined || own === other;
  });
}

/**
 * Whether pointers of these types can be the arguments of a kernel. An unknown type, or one that is not built in, can
 * be any.
 * @param given - declared types of arguments: `float*`
 * @param taken - the kernel's parameters as the demangler spells them: `float const*`
 */
export function canTake(given: readonly (string | undefined)[], taken: readonly string[]): boolean {
  const element = (type: string | undefined): string | undefined => {
    const pointer = /^([^*]*)\*\s*(?:const|__restrict__|__restrict)?$/.exec(type?.replace(/\[\]$/, '*').trim() ?? '');
    return pointer ? canonicalArgument((pointer[1] ?? '').replace(/\bconst\b/g, '').trim()) : undefined;
  };
  return given.every((type, index) => {
    const [own, other] = [element(type), element(taken[index])];
    return own === undefined || other === undefined || own === other;
  });
}

/** The arguments of the last template in a qualified name. */
function templateArgumentsOf(name: string): string[] {
  if (!name.endsWith('>')) return [];
  const found: string[] = [''];
  let depth = 0;
  for (const character of name.slice(0, -1)) {
    if (character === ':' && depth === 0) found.splice(0, found.length, '');
    else if ('<(['.includes(character) && depth++ === 0) found.splice(0, found.length, '');
    else if ('>)]'.includes(character)) found.push(`${found.pop() ?? ''}${--depth > 0 ? character : ''}`);
    else if (character === ',' && depth === 1) found.push('');
    else if (depth > 0) found.push((found.pop() ?? '') + character);
  }
  return found.map((argument) => argument.trim());
}

/** Spelling by which two arguments can be distinguished; undefined if they cannot. */
function canonicalArgument(argument: string): string | undefined {
  if (argument === 'true' || argument === 'false') return argument === 'true' ? '1' : '0';
  if (/^-?\d+$/.test(argument)) return argument;
  const kind = integerType(argument);
  if (kind) return `integer of ${kind.bytes} bytes, ${kind.signed ? 'signed' : 'unsigned'}`;
  // `cuda_fp16.h` has both names.
  return isFloatType(argument) ? basicTypeOf(argument).replace(/^half$/, '__half') : undefined;
}
