/** Kept equal to package.json by a test. */
export const toolVersion = '0.1.0';
