/** What the file system answered, in words for a person. */

export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'syscall' in error

export function reasonOf(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return 'no such file'
  if (error.code === 'EACCES' || error.code === 'EPERM') return 'no permission to read it; check its owner and mode'
  if (error.code === 'EISDIR') return 'a folder, not a file'
  return `cannot be read (${error.code ?? error.message})`
}
