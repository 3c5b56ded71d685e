import type { LaunchSite } from '../../cuda/launches/launch-site.ts';
import { mayLaunch } from '../../cuda/launches/launch-text.ts';
import type { CudaParser, CudaSource } from '../../cuda/syntax/syntax.ts';
import { includedSources } from './included-sources.ts';
import type { SiteSettings } from './launches.ts';
import type { KernelName } from '../../cuda/names/kernel-name.ts';
import type { Project } from './job.ts';

/** Launches of a kernel in the sources. */
export type LaunchFinder = (name: KernelName) => readonly SiteSettings[];

/**
 * Finds the launches in the sources: of the whole tree where it is a repository, else of the units alone.
 * @param source reads a file of the tree
 */
export async function launchFinder(
  { tree, units, wholeTree }: Pick<Project, 'tree' | 'units' | 'wholeTree'>,
  source: (file: string) => CudaSource | undefined,
  startParser: () => Promise<CudaParser>,
): Promise<LaunchFinder> {
  const candidates = wholeTree ? tree.sources() : units.filter(({ kind }) => kind === 'cuda').map(({ path }) => path);
  const files = candidates.filter((path) => mayLaunch(tree.text(path) ?? ''));
  if (files.length === 0) return () => [];
  const [parser, { findLaunchSites, launches }] = await Promise.all([
    startParser(),
    import('../../cuda/launches/launch-site.ts'),
  ]);
  const sites: LaunchSite[] = [];
  for (const file of files) {
    const text = tree.text(file);
    if (text === undefined) continue;
    const parsed = parser.parse(text, file);
    sites.push(...findLaunchSites(parser, parsed, includedSources(parsed, tree.sources(), source)));
  }
  return ({ qualified }) => sites.filter((site) => launches(site, qualified)).map(settingsOf);
}

/** A site as the layers of a launch see it: what is not known is missing, never a default. */
export function settingsOf(site: LaunchSite): SiteSettings {
  const { text, location, block, grid, sharedBytes, cooperative, scalars, aliases, samePointers } = site;
  const unknown = site.unknown.map(({ property }) => property);
  return {
    text,
    location,
    unknown,
    ...(unknown.includes('cooperative') ? {} : { cooperative }),
    ...(block ? { block } : {}),
    ...(grid ? { grid } : {}),
    ...(sharedBytes === undefined ? {} : { sharedBytes }),
    scalars,
    aliases,
    samePointers,
  };
}
