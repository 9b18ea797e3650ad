/** Words as a shell reads them. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
