/** Name of the action in workflows of other repositories. */
import { readFileSync, realpathSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { publishedAction, publishedTag } from '../../system/version.ts';
import { UsageError } from '../../base/usage-error.ts';
import { git, type Repository } from '../project/git.ts';
import { kindOf, mayBeRead, relativeTo, repositoryRoot } from '../project/source-tree.ts';

type Environment = Repository['environment'];

/**
 * The action as `uses` names it: the one of the workflow that runs this program, otherwise the repository that this
 * program is a clone of, otherwise the published one.
 * @param file a file or folder that ships with the program
 */
export async function actionName(file: string, environment: Environment): Promise<string> {
  const published = `${publishedAction}@${publishedTag}`;
  if (kindOf(file) === undefined) return published;
  const real = realpathSync(file);
  return ofWorkflow(real, environment) ?? (await ofClone(real, environment)) ?? published;
}

/** Whether a name is that of an existing action; `OWNER` is a placeholder for its publisher. */
export function isPublished(action: string): boolean {
  return !action.startsWith('OWNER/');
}

/** Name under which a runner downloaded the action that contains this program. */
function ofWorkflow(file: string, environment: Environment): string | undefined {
  const [name = '', ref = '', folder = ''] = ['REPOSITORY', 'REF', 'PATH'].map((word) => environment[`GITHUB_ACTION_${word}`]);
  // A step of another action may run this program, too.
  const isOurs = kindOf(folder) === 'folder' && !isAbsolute(relativeTo(realpathSync(folder), file));
  return isOurs && /^[\w.-]+\/[\w.-]+$/.test(name) && /^[\w.][\w./-]*$/.test(ref) ? `${name}@${ref}` : undefined;
}

/** The tag that moves with the releases, if the clone has it; otherwise the commit, which is fixed. */
async function ofClone(file: string, environment: Environment): Promise<string | undefined> {
  const root = repositoryRoot(file);
  const manifest = root === undefined ? undefined : mayBeRead(root, 'action.yml');
  // The program may be a copy inside another repository, which is then not a clone of the action.
  if (root === undefined || manifest === undefined || !/^name: Selvage$/m.test(readFileSync(manifest, 'utf8'))) return undefined;
  try {
    const clone = { root, environment };
    const words = async (...command: string[]): Promise<string> => {
      const { code, stdout } = await git(clone, command);
      return code === 0 ? stdout.trim() : '';
    };
    const name = repositoryOf(await words('config', '--get', 'remote.origin.url'));
    const tag = await words('tag', '--list', publishedTag);
    const ref = tag === '' ? await words('rev-parse', '--verify', 'HEAD') : tag;
    return name === undefined || ref === '' ? undefined : `${name}@${ref}`;
  } catch (error) {
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}

/** `octo/selvage` of `https://github.com/octo/selvage.git` or `git@github.com:octo/selvage`. */
function repositoryOf(remote: string): string | undefined {
  return /^(?:(?:https?|ssh|git):\/\/[^/]+\/|[^/:]+@[^/:]+:\/?)([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(remote)?.[1];
}
