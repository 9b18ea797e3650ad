/** Paths for people. */

/** The last part: what a project is called. */
export const pathBaseName = (path: string): string =>
  path
    .split(/[\\/]+/)
    .filter((part) => part !== '')
    .at(-1) ?? path

/** `~` for a home folder. */
export const homeRelativePath = (path: string): string =>
  path.replace(/^(?:\/home\/[^/]+|\/Users\/[^/]+|\/root)(?=\/|$)/, '~')
