/** Runs programs: those that take over the screen (an editor, a pager, a shell), and those that read the clipboard. */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTempFolder } from '../../lib/files/temp-files.ts'
import { findProgram, withSafePath } from '../../lib/programs.ts'
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

/** Programs that print the image in the clipboard, of each system. */
const CLIPBOARD_PROGRAMS: readonly (readonly [program: string, ...args: readonly string[]])[] = [
  ['wl-paste', '--no-newline', '--type', 'image/png'],
  ['xclip', '-selection', 'clipboard', '-target', 'image/png', '-out'],
  ['osascript', '-e', 'get the clipboard as «class PNGf»'],
  [
    'powershell.exe',
    '-NoProfile',
    '-STA',
    '-Command',
    'Add-Type -AssemblyName System.Windows.Forms; $i = [Windows.Forms.Clipboard]::GetImage(); if ($i) { $m = New-Object IO.MemoryStream; $i.Save($m, [Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($m.ToArray()) }',
  ],
]
const CLIPBOARD_WAIT_MS = 5000
const MAX_CLIPBOARD_BYTES = 64 * 1024 * 1024

/** The path of a file with the image in the clipboard, which is deleted when the program ends. */
export function saveClipboardImage(): string | undefined {
  for (const [name, ...args] of CLIPBOARD_PROGRAMS) {
    const program = findProgram(name)
    if (program === undefined) continue
    const { stdout } = spawnSync(program, args, {
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: CLIPBOARD_WAIT_MS,
      maxBuffer: MAX_CLIPBOARD_BYTES,
      env: withSafePath(process.env),
    })
    const image = stdout && decodeImage(stdout)
    if (!image) continue
    const path = join(createTempFolder('paste').path, 'pasted.png')
    writeFileSync(path, image, { mode: 0o600 })
    return path
  }
  return undefined
}

const PNG_START = Buffer.from([0x89, 0x50, 0x4e, 0x47])
const isPng = (bytes: Buffer): boolean => bytes.subarray(0, PNG_START.length).equals(PNG_START)

/** A PNG as it is, in AppleScript's hexadecimal form, or as Base64. */
function decodeImage(printed: Buffer): Buffer | undefined {
  if (isPng(printed)) return printed
  const text = printed.toString('latin1').trim()
  const hex = /PNGf([\dA-Fa-f]+)/.exec(text)?.[1]
  const bytes = hex === undefined ? Buffer.from(text, 'base64') : Buffer.from(hex, 'hex')
  return isPng(bytes) ? bytes : undefined
}
