/** The configuration of an organisation for all its repositories: `.selvage.yml` in its repository `.github`. */
import type { Octokit } from '@octokit/rest';
import type { DefaultsText } from '../../settings/configuration.ts';
import { configurationName } from '../../settings/options.ts';
import { failureOf } from './client.ts';

/** Maximum bytes of the file. A larger file is not a configuration. */
const maxBytes = 1 << 20;

/**
 * Reads the defaults of the owner of a repository from the default branch. A failure does not fail the run.
 * @returns undefined if they do not exist, or the token may not read them: GitHub's response is the same
 */
export async function organisationDefaults(octokit: Octokit, owner: string): Promise<DefaultsText | undefined> {
  const file = `${owner}/.github/${configurationName}`;
  try {
    const { data } = await octokit.rest.repos.getContent({ owner, repo: '.github', path: configurationName });
    if (Array.isArray(data) || data.type !== 'file') return { file, problem: 'it is not a regular file.' };
    if (data.size > maxBytes || data.encoding !== 'base64') return { file, problem: `it has more than ${maxBytes} bytes.` };
    return { file, text: Buffer.from(data.content, 'base64').toString('utf8') };
  } catch (error) {
    const { status, message } = failureOf(error);
    if (status === 404) return undefined;
    return { file, problem: `it cannot be read (${status === 0 ? 'no answer' : `status ${status}`}: ${message.slice(0, 200)}).` };
  }
}
