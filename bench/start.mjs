/** Measures how long everyday commands take beyond the start of Node itself. */
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { FUMI, median } from './compare.mjs'
import { generate } from './logs.mjs'
import { atMost } from './targets.mjs'

const EMPTY = join(import.meta.dirname, 'empty-program.mjs')
const COMMANDS = { list: ['list', '-n', '20'], stats: ['stats', '--json'], search: ['search', 'error', '-n', '20'] }

/** The commands take turns, so that a busy machine slows all of them. */
export function benchStart(work, megabytes, runs) {
  const home = join(work, 'start')
  mkdirSync(home, { recursive: true })
  generate(join(home, '.codex'), megabytes)
  const env = {
    ...process.env,
    TZ: 'UTC',
    HOME: home,
    FUMI_HOME: join(home, 'fumi'),
    XDG_DATA_HOME: join(home, 'data'),
  }
  const took = (...args) => {
    const start = performance.now()
    const { status } = spawnSync(process.execPath, args, { stdio: 'ignore', env })
    if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}`)
    return performance.now() - start
  }
  for (const command of [['sync'], ...Object.values(COMMANDS)]) took(FUMI, ...command)
  const rounds = Array.from({ length: runs }, () => ({
    empty: took(EMPTY),
    ...Object.fromEntries(Object.entries(COMMANDS).map(([name, words]) => [name, took(FUMI, ...words)])),
  }))
  const beyond = (name) => median(rounds.map((round) => round[name] - round.empty))
  return {
    note: `Beyond a Node that does nothing, which takes ${median(rounds.map(({ empty }) => empty)).toFixed(0)} ms; ${megabytes} MB of logs are indexed, none changed.`,
    rows: Object.keys(COMMANDS).map((name) => atMost(`\`fumi ${name}\`, beyond Node itself`, 90, beyond(name), 'ms')),
  }
}
