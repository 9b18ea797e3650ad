/** Runs every vector file of a folder, and its full states. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readState, writeState } from '../../src/conversation/codec/state.ts'
import { CheckpointScenario, isCheckpointVector } from './checkpoints.ts'
import { functionChecks } from './functions.ts'
import { historyChecks } from './histories.ts'
import { shapeChecks } from './shapes.ts'
import { type Vector, type Verdict, vectorsIn } from './vector.ts'

export interface Checked {
  readonly name: string
  readonly kind: 'vector' | 'state'
  readonly fault: Verdict
}

export async function checkFolder(folder: string): Promise<readonly Checked[]> {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
  const states = files.filter((name) => name.startsWith('state_'))
  const checked: Checked[] = []
  for (const file of files.filter((name) => !states.includes(name)))
    checked.push(...(await checkFile(join(folder, file))))
  for (const file of states) {
    const fault = checkState(join(folder, file))
    if (fault !== 'twin') checked.push({ name: file, kind: 'state', fault })
  }
  return checked
}

async function checkFile(file: string): Promise<readonly Checked[]> {
  const scenario = new CheckpointScenario()
  const checked: Checked[] = []
  try {
    for (const vector of vectorsIn(file)) {
      const fault = isCheckpointVector(vector) ? await scenario.check(vector) : checkOne(vector)
      checked.push({ name: `${basename(file)}: ${vector.name}`, kind: 'vector', fault })
    }
  } finally {
    scenario.close()
  }
  return checked
}

const checks = [...shapeChecks, ...functionChecks, ...historyChecks]

function checkOne(vector: Vector): Verdict {
  const check = checks.find(([fn]) => fn.test(vector.fn))?.[1]
  if (!check) return `no such function: ${vector.fn}`
  try {
    return check(vector)
  } catch (error) {
    return error instanceof Error ? `threw ${error.message}` : 'threw'
  }
}

/** A state serializes to itself, or, if it contains tuples, to its file in `reserialized`. */
function checkState(file: string): Verdict {
  if (file.endsWith('.reserialized.json')) return 'twin'
  const source = readFileSync(file, 'utf8')
  const twin = file.replace(/\.\w+\.json$/, '.reserialized.json')
  const wanted = existsSync(twin) ? readFileSync(twin, 'utf8') : source
  const read = readState(source, { mode: 'strict' })
  if (!read.ok) return read.reason
  const isPretty = source.startsWith('{\n')
  if (writeState(read.value, { style: isPretty ? 'pretty' : 'compact' }) !== wanted) return 'other bytes'
  const other = readState(writeState(read.value, { style: isPretty ? 'compact' : 'pretty' }), { mode: 'strict' })
  return other.ok && writeState(other.value) === writeState(read.value) ? undefined : 'other bytes in the other style'
}
