/** Cursors: how much of an answer was shown, tied to the call that it continues. */
import { createHash } from 'node:crypto'
import { ToolProblem } from './tool-problem.ts'

/** @param call what identifies the call: its arguments without the budget and the cursor */
export function makeCursor(call: readonly unknown[], shown: number): string {
  return `${shown}.${hashOf(call)}`
}

/** @returns how much was shown before */
export function readCursor(call: readonly unknown[], cursor: string | undefined): number {
  if (cursor === undefined) return 0
  const [, shown = '', hash] = /^(\d{1,6})\.([\w-]{8})$/.exec(cursor) ?? []
  if (hash !== hashOf(call))
    throw new ToolProblem('cursor belongs to another call. Repeat the arguments of that call, or leave the cursor out.')
  return Number(shown)
}

const hashOf = (call: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(call)).digest('base64url').slice(0, 8)
