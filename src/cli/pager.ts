/** Shows long output by pages, on a terminal only: `$PAGER`, or less where there is none. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { findProgram } from '../lib/programs.ts'
import { writeTo } from './output.ts'

let pager: ChildProcess | undefined

/** What fits on the screen is simply printed: less is told so. An empty `PAGER`, or `cat`, means none. */
export async function openPager(): Promise<void> {
  const wanted = wantedPager()
  if (wanted === undefined || pager) return
  const [name = 'less', ...words] = wanted.split(/\s+/)
  const program = findProgram(name)
  if (program === undefined) return
  const env = { LESS: 'FRX', LESSCHARSET: 'utf-8', ...process.env }
  const child = spawn(program, words, { stdio: ['pipe', 'inherit', 'inherit'], env })
  const isRunning = await Promise.race([once(child, 'spawn').then(() => true), once(child, 'error').then(() => false)])
  if (!isRunning || !child.stdin) return
  pager = child
  writeTo(child.stdin)
  // Ctrl-C is the pager's: it stops a search, not the reading.
  process.on('SIGINT', () => {})
}

/** Nothing where none is wanted, or nobody would see it. */
export function wantedPager(): string | undefined {
  const wanted = (process.env['PAGER'] ?? 'less').trim()
  return !process.stdout.isTTY || !isOn || wanted === '' || wanted === 'cat' ? undefined : wanted
}

let isOn = true

export function noPager(): void {
  isOn = false
}

/** Waits until the reader has read. */
export async function closePager(): Promise<void> {
  if (!pager) return
  const closed = once(pager, 'close')
  pager.stdin?.end()
  await closed
}
