/** Runs programs in turn, each in a process of its own, and tells what they took. */
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { timesFloor } from './targets.mjs'

const HERE = import.meta.dirname

export const FUMI = join(HERE, '..', 'dist', 'bin', 'fumi.js')
export const READ = join(HERE, 'read-logs.mjs')

/** A folder for logs that are made, and how to be rid of it. */
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

/** Every candidate in turn, again and again, so that a busy moment hits all alike. */
export function compare(candidates, runs) {
  const results = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]))
  for (let n = 0; n < runs; n++) for (const [name, args] of Object.entries(candidates)) results[name].push(run(...args))
  return results
}

export const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]

/** To the candidate called `yardstick`. */
export const ratio = (results, name, of) => median(results[name].map((one, at) => one[of] / results.yardstick[at][of]))

/** The floor is the yardstick's usual time, and the ratio the usual one of the pairs. */
export function timeRow(results, what, name, target) {
  const floor = median(results.yardstick.map((one) => one.wallMs))
  return timesFloor(what, target, ratio(results, name, 'wallMs') * floor, floor)
}

/** The smallest of three: what is measured is a need, not a habit of the garbage collector on a busy machine. */
export const leastMemory = (...args) => Math.min(...[1, 2, 3].map(() => run(...args).rssMb))

/** What a program takes that does nothing. */
export const bareMemory = () => leastMemory(join(HERE, 'empty-program.mjs'))
