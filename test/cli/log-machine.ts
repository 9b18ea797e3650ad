/** Codex logs on a separate machine, and commands that query their index. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { assistant, header, line, result, tempFolder, text, user } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'

export const ID = (n: number): string => `019c0000-0000-7000-8000-00000000000${n}`

/** A separate machine, with the Codex logs that a test puts there. */
export function logMachine() {
  const folder = tempFolder()
  const env = { HOME: folder, FUMI_HOME: join(folder, 'fumi'), CODEX_HOME: join(folder, 'codex') }
  const put = (n: number, records: readonly string[]): string => {
    const day = join(env.CODEX_HOME, 'sessions', '2026', '02', `0${n}`)
    mkdirSync(day, { recursive: true })
    const path = join(day, `rollout-2026-02-0${n}T09-15-00-${ID(n)}.jsonl`)
    writeFileSync(path, text(records))
    return path
  }
  const run = (...args: readonly string[]) => fumi(args, { env })
  const json = (...args: readonly string[]) => {
    const { code, out, err } = run(...args, '--json')
    const reply = JSON.parse(out)
    const isEmptySearch = args[0] === 'search' && reply.total === 0 && (reply.titles ?? []).length === 0
    expect({ code, err }).toEqual({ code: isEmptySearch ? 1 : 0, err: '' })
    return reply
  }
  return { folder, env, put, run, json }
}

const call = (second: number, id: string, input: string): string =>
  line(second, 'response_item', {
    type: 'custom_tool_call',
    name: 'apply_patch',
    call_id: id,
    input,
    status: 'completed',
  })

const PATCH = `*** Begin Patch
*** Update File: src/timer.ts
@@
-ring(1)
+ring(2)
*** Add File: src/bell.ts
+export const bell = 1
*** End Patch`

export const first = () => [
  header({ id: ID(1), cwd: '/w/timer' }),
  user(1, 'Why does the timer ring twice?'),
  call(2, 'c1', PATCH),
  result(3, 'c1', 'Done.'),
  assistant(4, 'The bell was hung up twice: 二重に鳴る。'),
]
export const second = () => [
  header({ id: ID(2), cwd: '/w/other' }),
  user(1, 'Rename getUserName in every module.'),
  assistant(2, 'It is fetchUser now.'),
]
