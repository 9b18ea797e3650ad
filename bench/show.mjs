/**
 * Measures the commands that read one large session: `fumi show`, exports and a conversion. Processor time with the
 * start of the program, except for the first screen; ratios are to a plain JSON.parse of each line.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { FUMI, run } from './compare.mjs'
import { generate, logsIn, yardstick } from './logs.mjs'
import { atMost, timesFloor } from './targets.mjs'

/** A terminal has some fifty lines. */
const FIRST_SCREEN_BYTES = 4000
const FIRST_SCREENS = 5

/** The targets of exports and conversions are a third of what version 0.1.0 took. */
export async function benchShow(work, megabytes) {
  const folder = generate(join(work, 'logs'), megabytes, '--mean-kb', String(megabytes * 10_000))
  const [log] = logsIn(folder)
  process.env.FUMI_HOME = join(work, 'fumi')
  process.env.HOME = work
  const cpuOf = (...args) => run(FUMI, ...args).cpuMs
  const out = (name) => ['-o', join(work, name), '--force']
  const floor = run(yardstick, folder).cpuMs
  const screens = []
  for (let at = 0; at < FIRST_SCREENS; at++) screens.push(await firstScreen(log))
  const rows = [
    atMost('`fumi show`, first screen, wall', 1000, Math.min(...screens), 'ms'),
    atMost('`fumi show --turns`', 5000, cpuOf('show', log, '--turns'), 'ms', floor),
    timesFloor('`fumi export` as HTML, secrets kept', 10, cpuOf('export', log, ...out('a.html'), '--no-redact'), floor),
    timesFloor('`fumi export` as HTML', 10, cpuOf('export', log, ...out('b.html')), floor),
    timesFloor('`fumi convert --to openai`', 4.6, cpuOf('convert', log, '--to', 'openai', ...out('c.json')), floor),
  ]
  return { note: `One session of Codex of ${megabytes} MB, once, in processor time.`, rows }
}

/** Milliseconds until the first screen has arrived. */
async function firstScreen(log) {
  const start = performance.now()
  const child = spawn(process.execPath, [FUMI, 'show', log], { stdio: ['ignore', 'pipe', 'ignore'] })
  let bytes = 0
  for await (const chunk of child.stdout) {
    bytes += chunk.length
    if (bytes >= FIRST_SCREEN_BYTES) break
  }
  const took = performance.now() - start
  child.kill()
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return took
}
