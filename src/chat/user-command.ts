/** Commands that fumibako runs for its user, with the user's own permissions and environment. */
import { listProjectFiles } from '../lib/git/list-files.ts'
import { findGitProject } from '../lib/git/project.ts'
import { diffProject } from '../lib/git/project-diff.ts'
import { plainJson } from '../lib/json/lossless.ts'
import { fieldsOf, stringOf } from '../lib/unknown-values.ts'
import { createExecuteBash } from './tools/shell/execute-bash.ts'

const SHELL = createExecuteBash()

interface CommandResult {
  /** Null if it could not run. */
  readonly status: number | null
  /** Standard output, then standard error. */
  readonly output: string
}

export async function runUserCommand(command: string, cwd: string, signal: AbortSignal): Promise<CommandResult> {
  const checked = await SHELL.check({ command }, { cwd, home: cwd })
  if (!checked.ok) return { status: null, output: checked.error }
  const { content } = await checked.call.run({ cwd, home: cwd, signal })
  const [block] = content
  const result = block && 'Json' in block ? fieldsOf(plainJson(block.Json)) : undefined
  if (!result) return { status: null, output: block && 'Text' in block ? block.Text : '' }
  const output = [result['stdout'], result['stderr']].map((text) => stringOf(text) ?? '').join('')
  return { status: Number(result['exit_status']), output }
}

type DiffResult = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string }

/** Changes against the last commit, then the names of new files. Starts no program that the project names. */
export async function workTreeDiff(cwd: string, paths: readonly string[], signal: AbortSignal): Promise<DiffResult> {
  const project = findGitProject(cwd)
  if (!project) return { ok: false, reason: `not a git repository: ${cwd}` }
  const selected = paths.length === 0 ? [] : ['--', ...paths]
  const tracked = await diffProject(project, cwd, ['HEAD', ...selected], signal)
  if (tracked.code !== 0) return { ok: false, reason: tracked.stderr.trim() || 'git failed' }
  const names = (await listProjectFiles(project, cwd, ['--others', ...selected], { signal })) ?? []
  return {
    ok: true,
    text: [tracked.stdout.trimEnd(), ...names.map((name) => `new file: ${name}`)].filter(Boolean).join('\n'),
  }
}
