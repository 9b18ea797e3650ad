/** Files that a pattern names: `*`, `**`, `?` and `[…]`, as agents write them for their context. */
import { readdirSync, statSync } from 'node:fs'
import { isAbsolute, join, resolve, sep } from 'node:path'

export interface FoundFile {
  readonly path: string
  readonly size: number
}

export const isGlob = (pattern: string): boolean => /[*?[]/.test(pattern)

/** A pattern's files, sorted; a folder stands for the files directly in it. Stops at `most` files and never follows links to folders. */
export function filesOf(pattern: string, cwd: string, home: string, most = 1000): readonly FoundFile[] {
  const path = pattern === '~' || /^~[\\/]/.test(pattern) ? join(home, pattern.slice(2)) : resolve(cwd, pattern)
  if (!isGlob(pattern)) return plain(path)
  const steps = path.split(sep)
  const first = steps.findIndex(isGlob)
  const base = steps.slice(0, first).join(sep) || (isAbsolute(path) ? sep : '.')
  const wanted = matcher(steps.slice(first).join('/'))
  const deep = steps.slice(first).some((step) => step.includes('**'))
  const found: FoundFile[] = []
  walk(base, '', deep ? Number.POSITIVE_INFINITY : steps.length - first, (below) => {
    if (wanted.test(below)) found.push(...file(join(base, below)))
    return found.length < most
  })
  return found.sort((a, b) => (a.path < b.path ? -1 : 1))
}

function plain(path: string): readonly FoundFile[] {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found?.isDirectory()) return found?.isFile() ? [{ path, size: found.size }] : []
  return entriesOf(path).flatMap((entry) => (entry.isFile() ? file(join(path, entry.name)) : []))
}

function file(path: string): readonly FoundFile[] {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.isFile() ? [{ path, size: found.size }] : []
}

function walk(base: string, below: string, depth: number, onFile: (below: string) => boolean): boolean {
  for (const entry of entriesOf(join(base, below))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory()) {
      if (depth > 1 && !SKIPPED.has(entry.name) && !walk(base, path, depth - 1, onFile)) return false
    } else if (!onFile(path)) return false
  }
  return true
}

const SKIPPED = new Set(['node_modules', '.git'])

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return []
  }
}

/** Each piece of a pattern becomes one of a regular expression; everything else stands for itself. */
export function matcher(pattern: string): RegExp {
  const body = pattern.replaceAll(/\*\*\/|\*\*|\*|\?|\[!?[^\]/]+\]|[^*?[]+|\[/g, (piece) => {
    if (piece === '**/') return '(?:[^/]+/)*'
    if (piece === '**') return '.*'
    if (piece === '*') return '[^/]*'
    if (piece === '?') return '[^/]'
    if (piece.length > 1 && piece.startsWith('['))
      return `[${piece.slice(1, -1).replace(/^!/, '^').replaceAll('\\', '\\\\')}]`
    return piece.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
  })
  return new RegExp(`^${body}$`, 'u')
}
