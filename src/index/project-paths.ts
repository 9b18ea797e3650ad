/**
 * Where the directories of sessions are now: a renamed or moved project, and the work trees of a repository, count as
 * one project. Stored beside the index, because it remembers directories that no longer exist.
 */
import { existsSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { replaceOwnFile } from '../lib/files/atomic-file.ts'
import { readRegularFile } from '../lib/files/regular-file.ts'
import { statOf } from '../lib/files/safe-fs.ts'
import { findGitProject } from '../lib/git/project.ts'
import { fieldsOf, parseStructure, stringOf } from '../lib/unknown-values.ts'

const FILE = 'projects.json'
/** Moves can follow each other, and the user can enter a circle. */
const MAX_MOVES = 20

export class ProjectPaths {
  readonly #path: string
  #stamp = ''
  /** New path by old path. */
  #moved = new Map<string, string>()
  /** Identity of each project folder by its path. */
  #seen = new Map<string, string>()
  readonly #known = new Map<string, string>()
  #isChanged = false

  /** @param directory the data directory */
  constructor(directory: string) {
    this.#path = join(directory, FILE)
    this.refresh()
  }

  /** Reads what another process has changed. */
  refresh(): void {
    const stat = statOf(this.#path)
    const stamp = stat ? `${stat.mtimeMs} ${stat.ino}` : ''
    if (stamp === this.#stamp) return
    this.#stamp = stamp
    const content = stat?.isFile() ? fieldsOf(parseStructure(readRegularFile(this.#path).toString())) : undefined
    this.#moved = toTextMap(content?.['moved'])
    for (const [path, identity] of toTextMap(content?.['seen'])) this.#seen.set(path, identity)
    this.#known.clear()
  }

  /** The project that a session belongs to, which is its directory unless that was moved. */
  projectOf(cwd: string): string {
    const known = this.#known.get(cwd)
    if (known !== undefined) return known
    this.#learn(cwd)
    const project = this.#current(cwd)
    this.#known.set(cwd, project)
    return project
  }

  list(): readonly { readonly old: string; readonly new: string }[] {
    return [...this.#moved].map(([old, now]) => ({ old, new: now }))
  }

  /** @param now undefined: the directory was not moved */
  relink(old: string, now: string | undefined): void {
    if (now === undefined) this.#moved.delete(old)
    else this.#moved.set(old, now)
    this.#isChanged = true
    this.#known.clear()
  }

  /** Throws AppError. @returns whether sessions may belong to other projects now */
  save(): boolean {
    if (!this.#isChanged) return false
    const text = JSON.stringify(
      { moved: Object.fromEntries(this.#moved), seen: Object.fromEntries(this.#seen) },
      null,
      1,
    )
    replaceOwnFile(this.#path, `${text}\n`)
    this.#isChanged = false
    const stat = statOf(this.#path)
    this.#stamp = stat ? `${stat.mtimeMs} ${stat.ino}` : ''
    return true
  }

  /** Notices a work tree, and a folder that had another path before. */
  #learn(cwd: string): void {
    const git = findGitProject(cwd)
    if (git && basename(git.commonDir) === '.git') {
      const main = dirname(git.commonDir)
      if (main !== git.root && this.#moved.get(git.root) !== main && existsSync(main)) this.relink(git.root, main)
    }
    const root = git?.root ?? resolve(cwd)
    const stat = statOf(root)
    if (!stat?.isDirectory()) return
    // A renamed folder stays the same one; a folder that gets its number later was created later.
    const identity = `${stat.ino} ${stat.birthtimeMs}`
    for (const [path, one] of this.#seen)
      if (one === identity && path !== root && !existsSync(path)) this.relink(path, root)
    if (this.#seen.get(root) === identity) return
    this.#seen.set(root, identity)
    this.#isChanged = true
  }

  #current(cwd: string): string {
    let at = cwd
    for (let n = 0; n < MAX_MOVES; n++) {
      const old = this.#longestMoved(at)
      const now = old === undefined ? undefined : this.#moved.get(old)
      if (old === undefined || now === undefined) return at
      at = join(now, relative(old, at))
    }
    return cwd
  }

  #longestMoved(path: string): string | undefined {
    let found: string | undefined
    for (const old of this.#moved.keys())
      if ((path === old || path.startsWith(old + sep)) && old.length > (found?.length ?? 0)) found = old
    return found
  }
}

const toTextMap = (value: unknown): Map<string, string> =>
  new Map(
    Object.entries(fieldsOf(value) ?? {}).flatMap(([key, one]) => {
      const text = stringOf(one)
      return text === undefined ? [] : [[key, text] as const]
    }),
  )
