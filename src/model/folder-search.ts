/** How files are found that several agents may have written. */

/** Searches a folder for several agents at once. */
export interface FolderSearch {
  /** Files below a folder, each folder's own files first, sorted by name. */
  matching(folder: string, test: FileTest): Promise<readonly string[]>
}

export interface FileTest {
  /** Files with other names are not looked at. */
  readonly names: RegExp
  /** @param head reads the beginning of the file, cut at any byte */
  accepts(path: string, head: () => Uint8Array): boolean
  onUnreadable?(folder: string): void
}
