/** Runs programs that take over the screen: an editor, a pager, a shell. */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTempFolder } from '../../lib/files/temp-files.ts'
import { withSafePath } from '../../lib/programs.ts'
import { say } from '../language.ts'
import { pagerCommand } from '../pager.ts'

/** Uses `$VISUAL`, then `$EDITOR`, then vi. Undefined if the editor failed. */
export function editText(text: string): string | undefined {
  const folder = createTempFolder('edit')
  const path = join(folder.path, 'prompt.md')
  try {
    writeFileSync(path, text, { mode: 0o600 })
    const editor = process.env['VISUAL'] || process.env['EDITOR'] || 'vi'
    const { status } = spawnSync(`${editor} ${JSON.stringify(path)}`, {
      stdio: 'inherit',
      shell: true,
      env: withSafePath(process.env),
    })
    return status === 0 ? readFileSync(path, 'utf8').trimEnd() : undefined
  } finally {
    folder.remove()
  }
}

/** False if there is no pager or the user disabled it. */
export function showInPager(text: string): boolean {
  const pager = pagerCommand()
  if (pager === undefined) return false
  const env = { LESS: 'RX', LESSCHARSET: 'utf-8', ...withSafePath(process.env) }
  const { status } = spawnSync(pager, { input: text, stdio: ['pipe', 'inherit', 'inherit'], shell: true, env })
  return status === 0
}

/**
 * Runs a command in the user's shell, with the complete terminal.
 * @returns how it ended, if that is worth a message
 */
export function runInShell(command: string, cwd: string): string | undefined {
  const shell = process.env['SHELL'] || true
  const { status, signal, error } = spawnSync(command, { stdio: 'inherit', shell, cwd })
  if (error) return error.message
  if (signal) return say(`ended by ${signal}`, `${signal} で終了`)
  return status === 0 ? undefined : say(`exit ${status}`, `終了コード ${status}`)
}
