/**
 * Keeps compiled code between starts where Node itself does not (before 22.1): compiling a command takes longer than
 * most commands run.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import module from 'node:module'
import { basename, dirname, join, sep } from 'node:path'
import { Script } from 'node:vm'

/** Compiling less takes no longer than reading the result. */
const MIN_LENGTH = 10_000

interface LoadedModule {
  readonly exports: unknown
  require(name: string): unknown
}

type Compile = (this: LoadedModule, code: string, path: string) => unknown
type ModuleBody = (
  exports: unknown,
  require: (name: string) => unknown,
  module: LoadedModule,
  path: string,
  folder: string,
) => void

/** Node's own step from the text of a file to its exports. There is no public hook before 22.1. */
const loader = (module as unknown as { readonly prototype: { _compile: Compile } }).prototype

/**
 * Applies to the CommonJS files of the program that are loaded from now on. The first start with this build and this
 * Node writes the files, when it ends.
 *
 * @param cache folder, which only this user can write; files of other builds in it are removed
 * @param program folder of the bundle
 * @param build names its content
 * @param flags names those of the engine that differ from its defaults
 */
export function keepCompiledCode(cache: string, program: string, build: string, flags: string): void {
  const current = `${build}-${process.versions.v8}-${process.arch}${flags}`
  const folder = join(cache, current)
  const added = new Map<string, Script>()
  const compile = loader._compile
  loader._compile = function (code, path) {
    if (code.length < MIN_LENGTH || !path.startsWith(program + sep)) return compile.call(this, code, path)
    const kept = join(folder, basename(dirname(path)) + basename(path))
    const script = toScript(code, path, kept)
    if (script.cachedDataRejected !== false) added.set(kept, script)
    const run = script.runInThisContext() as ModuleBody
    return run.call(this.exports, this.exports, (name) => this.require(name), this, path, dirname(path))
  }
  process.once('exit', () => {
    if (added.size > 0) tryToKeep(cache, build, current, added)
  })
}

function toScript(code: string, path: string, kept: string): Script {
  // As Node wraps a CommonJS file.
  const wrapped = `(function (exports, require, module, __filename, __dirname) { ${code}\n})`
  return new Script(wrapped, { filename: path, cachedData: readOrNothing(kept) })
}

function readOrNothing(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}

/** The next start is only slower if this fails. */
function tryToKeep(cache: string, build: string, current: string, added: ReadonlyMap<string, Script>): void {
  try {
    for (const other of readdirOrNothing(cache))
      if (!other.startsWith(build)) rmSync(join(cache, other), { recursive: true })
    mkdirSync(join(cache, current), { recursive: true, mode: 0o700 })
    for (const [path, script] of added) {
      const draft = `${path}.${process.pid}`
      writeFileSync(draft, script.createCachedData(), { mode: 0o600 })
      renameSync(draft, path)
    }
  } catch {}
}

function readdirOrNothing(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
