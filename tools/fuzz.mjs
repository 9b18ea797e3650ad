/**
 * `npm run fuzz -- [--minutes n] [words]`: repeats all property tests, or those whose path contains one of the words,
 * with new cases. Stops at the first failure and prints how to reproduce it.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  options: { minutes: { type: 'string', default: '20' } },
  allowPositionals: true,
})
const until = Date.now() + Number(values.minutes) * 60_000

const files = ['src', 'test'].flatMap(lawsIn).filter((path) => !path.includes('soak') && !path.includes('conformance'))
const chosen = files.filter((path) => positionals.length === 0 || positionals.some((word) => path.includes(word)))
if (chosen.length === 0) {
  console.error(`No law's path has ${positionals.join(' or ')}. There are:\n${files.join('\n')}`)
  process.exit(2)
}
console.log(`${chosen.length} files with laws, for ${values.minutes} minutes`)

let runs = 0
while (Date.now() < until) {
  const seed = Math.floor(Math.random() * 2 ** 31)
  const env = { ...process.env, FUMI_SEED: String(seed) }
  const run = spawnSync('npx', ['vitest', 'run', '--reporter=dot', ...chosen], { env, encoding: 'utf8' })
  if (run.status !== 0) {
    console.error(`${run.stdout}${run.stderr}\nAgain: FUMI_SEED=${seed} npx vitest run <file>`)
    process.exit(1)
  }
  runs += 1
  console.log(`run ${runs}: nothing found (seed ${seed})`)
}
console.log(`${runs} runs, nothing found`)

/** @param {string} folder */
function lawsIn(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => join(folder, path))
    .filter((path) => readFileSync(path, 'utf8').includes("from 'fast-check'"))
}
