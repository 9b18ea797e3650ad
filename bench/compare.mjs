/** Runs programs alternately, each in a separate process, and reports time and memory. */
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { timesFloor } from './targets.mjs'

const HERE = import.meta.dirname

export const FUMI = join(HERE, '..', 'dist', 'bin', 'fumi.js')
export const READ = join(HERE, 'read-logs.mjs')

/** A temporary folder for generated logs. */
export const workFolder = () => mkdtempSync(join(tmpdir(), 'fumi-bench-'))
export const remove = (folder) => rmSync(folder, { recursive: true, force: true })

export function run(module, ...args) {
  const folder = workFolder()
  const report = join(folder, 'report.json')
  const out = openSync('/dev/null', 'w')
  const fd = openSync(report, 'w')
  const start = process.hrtime.bigint()
  try {
    const { status } = spawnSync(process.execPath, [join(HERE, 'measure.mjs'), module, ...args], {
      stdio: ['ignore', out, 'ignore', fd],
      env: { ...process.env, TZ: 'UTC' },
    })
    const wallMs = Number(process.hrtime.bigint() - start) / 1e6
    if (status !== 0) throw new Error(`${module} ${args.join(' ')} ended with ${status}`)
    return { wallMs, ...JSON.parse(readFileSync(report, 'utf8')) }
  } finally {
    closeSync(out)
    closeSync(fd)
    remove(folder)
  }
}

/** Runs every candidate in turn, repeatedly, so that other load affects all equally. */
export function compare(candidates, runs) {
  const results = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]))
  for (let n = 0; n < runs; n++) for (const [name, args] of Object.entries(candidates)) results[name].push(run(...args))
  return results
}

export const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]

/** Ratio to the candidate called `yardstick`. */
export const ratio = (results, name, of) => median(results[name].map((one, at) => one[of] / results.yardstick[at][of]))

/** The floor is the median time of the yardstick, and the ratio the median of the pairs. */
export function timeRow(results, what, name, target) {
  const floor = median(results.yardstick.map((one) => one.wallMs))
  return timesFloor(what, target, ratio(results, name, 'wallMs') * floor, floor)
}

/** The smallest of three, because garbage collection varies on a busy machine. */
export const leastMemory = (...args) => Math.min(...[1, 2, 3].map(() => run(...args).rssMb))

/** Memory of a program that does nothing. */
export const bareMemory = () => leastMemory(join(HERE, 'empty-program.mjs'))
