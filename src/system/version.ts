/** Kept equal to package.json by a test. */
export const toolVersion = '0.1.0';

/**
 * The repository that the action is published in: `repository` of package.json, by a test. `npm run regenerate` writes
 * it into README and docs. `OWNER` is a placeholder for the first publisher.
 */
export const publishedAction = 'OWNER/selvage';

/** The tag that moves with the releases of this major version. */
export const publishedTag = `v${toolVersion.replace(/\..*/, '')}`;
