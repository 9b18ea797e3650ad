/** Finds files by a pattern with `*`, `**`, `?` and `[…]`, as agents write them for their context. */
import { join, normalize, resolve, sep } from 'node:path'
import { specialKindOf } from './regular-file.ts'
import { listEntries, SKIPPED_FOLDERS, statOf } from './safe-fs.ts'

export interface GlobFile {
  readonly path: string
  readonly size: number
}

const hasGlobCharacter = (pattern: string): boolean => /[*?[]/.test(pattern)

interface AnchoredPattern {
  /** The literal folder: special characters in the working directory's own path are not patterns. */
  readonly base: string
  /** The pattern below it, with `/`; empty for a plain path. */
  readonly below: string
}

export function anchorPattern(pattern: string, cwd: string, home: string): AnchoredPattern {
  const isHome = /^~(?:[\\/]|$)/.test(pattern)
  const [from, rest] = isHome ? [home, `.${pattern.slice(1)}`] : [cwd, pattern]
  const steps = normalize(rest)
    .split(sep)
    .filter((step, at) => at === 0 || step !== '')
  const first = steps.findIndex(hasGlobCharacter)
  if (first === -1) return { base: resolve(from, rest), below: '' }
  const literal = steps.slice(0, first).map((step) => step + sep)
  return { base: resolve(from, literal.join('')), below: steps.slice(first).join('/') }
}

/** Sorted. A folder stands for the files directly in it. Stops at `maxFiles` files and never follows links to folders. */
export function findGlobFiles(pattern: string, cwd: string, home: string, maxFiles = 1000): readonly GlobFile[] {
  const { base, below } = anchorPattern(pattern, cwd, home)
  if (below === '') return filesAtPath(base)
  const expression = compileGlob(below)
  const depth = below.includes('**') ? Number.POSITIVE_INFINITY : below.split('/').length
  const found: GlobFile[] = []
  walkFolder(base, '', depth, (path) => {
    if (expression.test(path)) found.push(...toGlobFile(join(base, path)))
    return found.length < maxFiles
  })
  return found.sort((a, b) => (a.path < b.path ? -1 : 1))
}

function filesAtPath(path: string): readonly GlobFile[] {
  const found = statOf(path)
  // Returned so that the reader reports what it is.
  if (found && specialKindOf(found)) return [{ path, size: 0 }]
  if (!found?.isDirectory()) return found ? [{ path, size: found.size }] : []
  return listEntries(path).flatMap((entry) => (entry.isFile() ? toGlobFile(join(path, entry.name)) : []))
}

function toGlobFile(path: string): readonly GlobFile[] {
  const found = statOf(path)
  return found?.isFile() ? [{ path, size: found.size }] : []
}

function walkFolder(base: string, below: string, depth: number, onFile: (below: string) => boolean): boolean {
  for (const entry of listEntries(join(base, below))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory()) {
      if (depth > 1 && !SKIPPED_FOLDERS.has(entry.name) && !walkFolder(base, path, depth - 1, onFile)) return false
    } else if (!onFile(path)) return false
  }
  return true
}

/** Never throws. Anything but wildcards is literal. */
export function compileGlob(pattern: string): RegExp {
  const body = pattern.replaceAll(/\*\*\/|\*\*|\*|\?|\[!?[^\]/]+\]|[^*?[]+|\[/g, (piece) => {
    if (piece === '**/') return '(?:[^/]+/)*'
    if (piece === '**') return '.*'
    if (piece === '*') return '[^/]*'
    if (piece === '?') return '[^/]'
    const isClass = piece.length > 1 && piece.startsWith('[')
    return (isClass ? compileCharacterClass(piece) : undefined) ?? piece.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
  })
  return new RegExp(`^${body}$`, 'u')
}

/** Undefined for an invalid class, such as `[z-a]`. */
function compileCharacterClass(piece: string): string | undefined {
  const body = `[${piece.slice(1, -1).replace(/^!/, '^').replaceAll('\\', '\\\\')}]`
  try {
    return new RegExp(body, 'u').source
  } catch {
    return undefined
  }
}
