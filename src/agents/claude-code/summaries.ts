/**
 * Titles that old versions gave to sessions: a `summary` names the last record of its session, which is often in another
 * log of the folder.
 */
import { closeSync, readSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openRegularFile } from '../../lib/files/regular-file.ts'
import { listEntries, statOf } from '../../lib/files/safe-fs.ts'
import type { Source } from '../agent.ts'
import { originalPathOf } from '../kit/place-message.ts'
import type { GivenName } from '../kit/scan-tally.ts'
import type { OtherSummary } from './memory.ts'
import { isAgentLog, isStoredLog, nativeIdOf } from './paths.ts'

/** The sessions that summaries of this log name, of this log too. Of several for one session the last is the best. */
export function namesGiven(summaries: readonly OtherSummary[], source: Source): readonly GivenName[] {
  const path = originalPathOf(source)
  if (summaries.length === 0 || source.bytes || !isStoredLog(path) || isAgentLog(path)) return []
  const logs = listEntries(dirname(path))
    .filter(({ name }) => isStoredLog(name) && !isAgentLog(name))
    .map(({ name }) => ({ native_id: nativeIdOf(name), ends: endsOf(join(dirname(path), name)) }))
  const found = summaries.flatMap(([leaf, title]) => {
    let best: { readonly native_id: string; readonly at: number } | undefined
    for (const { native_id, ends } of logs) {
      const at = ends.indexOf(leaf)
      if (at >= 0 && (best === undefined || at < best.at)) best = { native_id, at }
    }
    return best ? [{ ...best, title }] : []
  })
  return found.sort((a, b) => b.at - a.at).map(({ native_id, title }) => ({ native_id, title }))
}

const TAIL_BYTES = 1 << 18
const ID = /"uuid":\s*"([^"\\]+)"/g

/** Logs of a folder can be thousands, and each may name others. */
const remembered = new Map<string, { readonly print: string; readonly ends: readonly string[] }>()
const MAX_REMEMBERED = 10_000
const MAX_ENDS = 64

/** Ids of the last records, the last one first. */
function endsOf(path: string): readonly string[] {
  const stat = statOf(path)
  if (!stat) return []
  const print = `${stat.size}:${stat.mtimeMs}:${stat.ino}`
  const known = remembered.get(path)
  if (known?.print === print) return known.ends
  const ids = Array.from(tailOf(path, stat.size).matchAll(ID), ([, id = '']) => id)
  const ends = ids.reverse().slice(0, MAX_ENDS)
  if (remembered.size >= MAX_REMEMBERED) remembered.clear()
  remembered.set(path, { print, ends })
  return ends
}

function tailOf(path: string, size: number): string {
  try {
    const fd = openRegularFile(path)
    try {
      const tail = Buffer.allocUnsafe(Math.min(size, TAIL_BYTES))
      return tail.toString('latin1', 0, readSync(fd, tail, 0, tail.length, size - tail.length))
    } finally {
      closeSync(fd)
    }
  } catch {
    return ''
  }
}
