/** Paths for people. */

/** The last part: what a project is called. */
export const baseName = (path: string): string =>
  path
    .split(/[\\/]+/)
    .filter((part) => part !== '')
    .at(-1) ?? path

/** `~` for a home folder. */
export const shortPath = (path: string): string => path.replace(/^(?:\/home\/[^/]+|\/Users\/[^/]+|\/root)(?=\/|$)/, '~')
