/**
 * Measures conversions in processor time, as a ratio to reading the source and writing the output's values with
 * JSON.stringify; and the memory for a large session.
 */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { bareMemory, run } from './compare.mjs'
import { generate, logsIn, oneLargeFile } from './logs.mjs'
import { atMost, timesFloor } from './targets.mjs'

const RUN = join(import.meta.dirname, 'convert-run.mjs')
const FORMS = ['openai', 'codex', 'normalized', 'amazon-q', 'fumibako']
const ROUNDS = 3
const best = (measure) => Math.min(...Array.from({ length: ROUNDS }, measure))

export function benchConversions(work, megabytes, large) {
  const logs = generate(join(work, 'logs'), megabytes)
  const one = logsIn(oneLargeFile(logs, join(work, 'one'), megabytes))[0]
  const huge = logsIn(oneLargeFile(logs, join(work, 'large'), large))[0]
  const bare = bareMemory()
  const reading = best(() => timed('read', one))
  return {
    note: `One session of Codex of ${megabytes} MB in processor time, and one of ${large} MB for the memory.`,
    rows: [
      ...FORMS.map((form) => timeOf(form, one, reading, join(work, 'out'))),
      ...FORMS.map((form) => memoryOf(form, huge, bare, join(work, 'out'))),
    ],
  }
}

function timeOf(form, source, reading, out) {
  const converting = best(() => timed('convert', source, form, out))
  const writing = best(() => timed('stringify', out))
  rmSync(out)
  return timesFloor(`a session as ${form}, CPU`, 3, converting, reading + writing)
}

function memoryOf(form, source, bare, out) {
  const { rssMb } = run(RUN, 'convert', source, form, out)
  rmSync(out)
  return atMost(`peak memory, a large session as ${form}`, 300, rssMb, 'MB', bare)
}

/** Each in a separate process. */
const timed = (...args) => Number(execFileSync(process.execPath, [RUN, ...args], { encoding: 'utf8' }))
