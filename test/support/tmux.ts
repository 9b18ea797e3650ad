/** Runs a program in a real terminal, types, and reads the screen. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { onCleanup } from './cleanup.ts'

/** Whether tmux is available; prints a line if not. */
export function hasTmux(): boolean {
  if (spawnSync('tmux', ['-V']).status === 0) return true
  console.log('skipped: tmux is not installed, so nothing is tested in a real terminal')
  return false
}

const LOOK_AGAIN_MS = 20
/** Reached only if the program hangs. */
const PATIENCE_MS = 15_000

export interface PaneOptions {
  readonly cwd: string
  readonly env: { readonly [name: string]: string }
  readonly columns?: number
  readonly rows?: number
}

export class Pane {
  readonly #folder = mkdtempSync(join(tmpdir(), 'fumi-tmux-'))

  constructor(command: readonly string[], { cwd, env, columns = 80, rows = 40 }: PaneOptions) {
    onCleanup(() => this.close())
    const set = Object.entries(env).map(([name, value]) => `${name}=${value}`)
    const line = ['env', ...set, ...command].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
    // Keeps the screen after the program has ended.
    const size = ['-x', String(columns), '-y', String(rows)]
    this.#tmux(
      '-f',
      '/dev/null',
      'new-session',
      '-d',
      ...size,
      '-c',
      cwd,
      `${line}; echo "ended with $?"; exec sleep 600`,
    )
  }

  /** Types text literally. */
  type(text: string): void {
    this.#tmux('send-keys', '-l', text)
  }

  /** Presses keys by their tmux names. */
  press(...keys: readonly string[]): void {
    this.#tmux('send-keys', ...keys)
  }

  /** Types a line and presses Enter. */
  say(text: string): void {
    this.type(text)
    this.press('Enter')
  }

  paste(text: string): void {
    this.#tmux('set-buffer', text)
    this.#tmux('paste-buffer', '-p')
  }

  /** All lines, including those scrolled away. */
  screen(): string {
    return this.#tmux('capture-pane', '-p', '-S', '-')
  }

  /** Includes escape sequences for colours. */
  painted(): string {
    return this.#tmux('capture-pane', '-p', '-e', '-S', '-')
  }

  /** Column and row, from 0. */
  cursor(): string {
    return this.#tmux('display-message', '-p', '#{cursor_x},#{cursor_y}').trim()
  }

  resize(columns: number, rows: number): void {
    this.#tmux('resize-window', '-x', String(columns), '-y', String(rows))
  }

  /** Waits until the screen contains the text and returns the screen. */
  async until(wanted: string | RegExp): Promise<string> {
    const end = Date.now() + PATIENCE_MS
    for (;;) {
      const screen = this.screen()
      if (typeof wanted === 'string' ? screen.includes(wanted) : wanted.test(screen)) return screen
      if (Date.now() > end) throw new Error(`${wanted} does not appear on the screen:\n${screen.trimEnd()}`)
      await pause(LOOK_AGAIN_MS)
    }
  }

  close(): void {
    this.#tmux('kill-server')
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }

  #tmux(...args: readonly string[]): string {
    const { stdout } = spawnSync('tmux', ['-u', '-S', join(this.#folder, 'socket'), ...args], { encoding: 'utf8' })
    return stdout
  }
}
