/** Measures Codex logs: reading, writing as messages, counting, and the memory for each. */
import { join } from 'node:path'
import { bareMemory, compare, FUMI, leastMemory, median, READ, timeRow } from './compare.mjs'
import { generate, longestLine, longLines, oneLargeFile, sizeOf, yardstick } from './logs.mjs'
import { atMost } from './targets.mjs'

export function benchCodex(work, given, runs, quick) {
  const logs = given ?? generate(join(work, 'logs'), 100)
  const results = compare(
    {
      yardstick: [yardstick, logs],
      read: [READ, logs],
      normalize: [FUMI, 'normalize', logs],
      stats: [FUMI, 'stats', '--json', logs],
    },
    runs,
  )
  const base = median(results.yardstick.map((one) => one.wallMs)).toFixed(0)
  const rows = [
    timeRow(results, 'reading as messages, nothing written', 'read', 1.2),
    timeRow(results, '`fumi normalize > /dev/null`', 'normalize', 2.0),
    timeRow(results, '`fumi stats --json`, no index', 'stats', 0.35),
    memoryRow('many files', logs),
    memoryRow('lines of 50 MB', longLines(join(work, 'long'))),
  ]
  if (!quick) rows.push(memoryRow('1 GB in one file', oneLargeFile(logs, join(work, 'large'), 1000)))
  return {
    note: `Floor of times: ${base} ms of a plain \`JSON.parse\` of each line (median of ${runs}) for ${(sizeOf(logs) / 1e6).toFixed(0)} MB.`,
    rows,
  }
}

function memoryRow(what, logs) {
  const limit = 100 + (8 * longestLine(logs)) / 1e6
  return atMost(
    `peak memory of \`fumi normalize\`, ${what}`,
    limit,
    leastMemory(FUMI, 'normalize', logs),
    'MB',
    bareMemory(),
  )
}
