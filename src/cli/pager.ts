/** Shows long output in `$PAGER` or less, on a terminal only. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { findProgram } from '../lib/programs.ts'
import { redirectOutput, writeOut, writeOutJson } from './output.ts'

let pagerProcess: ChildProcess | undefined

/** `LESS=F` makes less exit if the text fits on the screen. An empty `PAGER`, or `cat`, disables the pager. */
export async function openPager(): Promise<void> {
  const wantedCommand = pagerCommand()
  if (wantedCommand === undefined || pagerProcess) return
  const [name = 'less', ...args] = wantedCommand.split(/\s+/)
  const program = findProgram(name)
  if (program === undefined) return
  const env = { LESS: 'FRX', LESSCHARSET: 'utf-8', ...process.env }
  const child = spawn(program, args, { stdio: ['pipe', 'inherit', 'inherit'], env })
  const isRunning = await Promise.race([once(child, 'spawn').then(() => true), once(child, 'error').then(() => false)])
  if (!isRunning || !child.stdin) return
  pagerProcess = child
  redirectOutput(child.stdin)
  // Ctrl-C belongs to the pager, where it stops a search.
  process.on('SIGINT', () => {})
}

/** Prints JSON for programs, or text for people in a pager. */
export async function printReport(
  json: boolean | undefined,
  value: () => unknown,
  render: () => string | Promise<string>,
): Promise<void> {
  if (json) return writeOutJson(value())
  await openPager()
  await writeOut(await render())
}

/** Undefined if the pager is disabled or the output is not a terminal. */
export function pagerCommand(): string | undefined {
  const wantedCommand = (process.env['PAGER'] ?? 'less').trim()
  return !process.stdout.isTTY || !isPagerEnabled || wantedCommand === '' || wantedCommand === 'cat'
    ? undefined
    : wantedCommand
}

let isPagerEnabled = true

export function disablePager(): void {
  isPagerEnabled = false
}

/** Waits until the user closes the pager. */
export async function closePager(): Promise<void> {
  if (!pagerProcess) return
  const closed = once(pagerProcess, 'close')
  pagerProcess.stdin?.end()
  await closed
}
