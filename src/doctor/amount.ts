/** Numbers as people read them. */

export function amount(bytes: number): string {
  if (bytes < 1e3) return `${bytes} B`
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`
}

export const count = (n: number): string => n.toLocaleString('en-US')

export const several = (n: number, one: string, more = `${one}s`): string => `${count(n)} ${n === 1 ? one : more}`
