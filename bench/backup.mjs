/** Measures the backup of files: CPU, and size on disk. */
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as zlib from 'node:zlib'
import { generate, recordedLogs, sizeOf, vary, yardstick } from './logs.mjs'
import { atMost, timesFloor } from './targets.mjs'

const BENCH = import.meta.dirname
const RUNS = 3
const CPU_TARGET = zlib.zstdCompressSync === undefined ? 2.3 : 0.5

/** @param logs a folder of real logs; default: generated ones, and real ones in as many variations as it takes */
export function benchBackup(work, megabytes, logs) {
  const sets = logs
    ? { 'the given logs': () => logs }
    : {
        ...(recordedLogs && { 'recorded logs': (to) => vary(recordedLogs, to, megabytes) }),
        'generated logs of random words': (to) => generate(to, megabytes),
      }
  const measured = Object.entries(sets).map(([name, make]) => {
    const folder = join(work, 'logs')
    const result = measure(work, make(folder))
    rmSync(folder, { recursive: true, force: true })
    return { name, ...result }
  })
  const floors = measured.map(
    ({ name, floor, bytes }) => `${floor.toFixed(0)} ms for ${(bytes / 1e6).toFixed(0)} MB of ${name}`,
  )
  return {
    note: `Floor: CPU to read and parse them, ${floors.join(', ')}. Compressed with ${zlib.zstdCompressSync ? 'Zstandard' : 'brotli'}.`,
    rows: measured.flatMap(({ name, floor, took, bytes, stored }) => [
      timesFloor(`back up all files for the first time, CPU, ${name}`, CPU_TARGET, took, floor),
      atMost(`size of the backup, ${name}`, 0.25, stored / bytes, 'of it'),
    ]),
  }
}

/** The best of some runs: other programs disturb the caches. */
function measure(work, logs) {
  const data = join(work, 'data')
  let [floor, took] = [Infinity, Infinity]
  for (let run = 0; run < RUNS; run++) {
    rmSync(data, { recursive: true, force: true })
    floor = Math.min(floor, cpuOf(work, yardstick, logs))
    took = Math.min(took, cpuOf(work, join(BENCH, 'backup-run.mjs'), logs, data))
  }
  return { floor, took, bytes: sizeOf(logs), stored: statSync(join(data, 'keep.sqlite3')).size }
}

/** Milliseconds, including the start of Node.js. */
function cpuOf(work, ...args) {
  const report = join(work, 'cpu.json')
  const fd = openSync(report, 'w')
  const { status } = spawnSync(process.execPath, [join(BENCH, 'measure.mjs'), ...args], {
    stdio: ['ignore', 'ignore', 'inherit', fd],
  })
  closeSync(fd)
  if (status !== 0) throw new Error(`${args[0]} failed`)
  return JSON.parse(readFileSync(report, 'utf8')).cpuMs
}
