/** Measures the backup of files: CPU, and size on disk. */
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as zlib from 'node:zlib'
import { generate, sizeOf, yardstick } from './logs.mjs'
import { atMost, timesFloor } from './targets.mjs'

const BENCH = import.meta.dirname

/** @param logs a folder of real logs; default: generated ones */
export function benchBackup(work, megabytes, logs = generate(join(work, 'logs'), megabytes)) {
  const data = join(work, 'data')
  const floor = Math.min(cpuOf(work, yardstick, logs), cpuOf(work, yardstick, logs))
  const took = cpuOf(work, join(BENCH, 'backup-run.mjs'), logs, data)
  const bytes = sizeOf(logs)
  const stored = statSync(join(data, 'keep.sqlite3')).size
  const hasZstd = zlib.zstdCompressSync !== undefined
  return {
    note: `Floor: ${floor.toFixed(0)} ms of CPU to read and parse ${(bytes / 1e6).toFixed(0)} MB. Compressed with ${hasZstd ? 'Zstandard' : 'brotli'}.`,
    rows: [
      timesFloor('back up all files for the first time, CPU', hasZstd ? 0.5 : 2.3, took, floor),
      atMost('size of the backup, of the files', 0.25, stored / bytes, 'of it'),
    ],
  }
}

/** Milliseconds, including the start of Node.js. */
function cpuOf(work, ...args) {
  const report = join(work, 'cpu.json')
  const fd = openSync(report, 'w')
  spawnSync(process.execPath, [join(BENCH, 'measure.mjs'), ...args], { stdio: ['ignore', 'ignore', 'inherit', fd] })
  closeSync(fd)
  return JSON.parse(readFileSync(report, 'utf8')).cpuMs
}
