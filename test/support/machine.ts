/** A separate machine with two short Codex sessions. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { shortSession, THREAD, tempFolder, text } from './codex-log.ts'
import { fumi, type RunResult } from './run-fumi.ts'

export interface Machine {
  readonly home: string
  /** Folder of the session logs. */
  readonly folder: string
  run(...args: readonly string[]): RunResult
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the output it requested
  json(...args: readonly string[]): any
}

export const FIRST = `codex:${THREAD}`
export const SECOND = FIRST.replace(/1$/, '2')

export function machine(): Machine {
  const home = tempFolder()
  const env = {
    HOME: home,
    FUMI_HOME: join(home, 'fumi'),
    CODEX_HOME: join(home, 'codex'),
    XDG_DATA_HOME: join(home, 'data'),
  }
  const folder = join(env.CODEX_HOME, 'sessions')
  mkdirSync(folder, { recursive: true })
  for (const n of [1, 2])
    writeFileSync(
      join(folder, `rollout-2026-02-0${n}T09-15-00-test.jsonl`),
      text(shortSession())
        .replaceAll(THREAD, THREAD.replace(/1$/, `${n}`))
        .replaceAll('List the files', `Task ${n}`),
    )
  const run = (...args: readonly string[]): RunResult => fumi(args, { env })
  return { home, folder, run, json: (...args) => JSON.parse(run(...args, '--json').out) }
}
