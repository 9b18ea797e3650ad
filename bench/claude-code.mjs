/** Measures sessions of Claude Code like logs of Codex: reading, writing as messages, counting. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { compare, FUMI, median, READ, timeRow } from './compare.mjs'
import { sizeOf, yardstick } from './logs.mjs'
import { atMost } from './targets.mjs'

export function benchClaudeCode(work, runs, quick) {
  const logs = join(work, '.claude')
  const generator = join(import.meta.dirname, 'generate-claude-code.mjs')
  execFileSync(process.execPath, [generator, '--out', logs, '--mb', quick ? '30' : '100'], { stdio: 'ignore' })
  const results = compare(
    {
      yardstick: [yardstick, logs],
      read: [READ, logs, 'claude-code'],
      normalize: [FUMI, 'normalize', logs],
      stats: [FUMI, 'stats', '--json', logs],
    },
    runs,
  )
  const data = join(work, 'fumi')
  runIndex('sync', work, data)
  const append = runIndex('append', work, data)
  const base = median(results.yardstick.map((one) => one.wallMs)).toFixed(0)
  return {
    note: `Sessions with sub-agents, forks, compactions and repeated token counts. Floor of times: ${base} ms of a plain \`JSON.parse\` of each line (median of ${runs}) for ${(sizeOf(logs) / 1e6).toFixed(0)} MB.`,
    rows: [
      timeRow(results, 'reading as messages, nothing written', 'read', 1.2),
      timeRow(results, '`fumi normalize > /dev/null`', 'normalize', 2.0),
      timeRow(results, '`fumi stats --json`, no index', 'stats', 0.35),
      atMost('append to visible change, p95', 100, append.p95, 'ms'),
    ],
  }
}

function runIndex(what, home, data) {
  const module = join(import.meta.dirname, 'index-run.mjs')
  return JSON.parse(execFileSync(process.execPath, [module, what, home, data], { encoding: 'utf8' }))
}
