/** Runs `fumi chat` against a test server. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onCleanup } from '../../support/cleanup.ts'
import { tempFolder } from '../../support/codex-log.ts'
import { fumiPath } from '../../support/run-fumi.ts'

export interface ChatRun {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface ChatHome {
  readonly home: string
  readonly cwd: string
}

export const chatHome = (): ChatHome => ({ home: join(tempFolder(), 'fumi'), cwd: tempFolder() })

/**
 * @param input typed input
 * @param onLine called for each line of standard output; a returned number kills the process after that many
 * milliseconds
 */
export const fumiChat = (args: readonly string[], ...rest: ChatRunOptions): Promise<ChatRun> =>
  fumiRun(['chat', ...args], ...rest)

type ChatRunOptions = Parameters<typeof fumiRun> extends [unknown, ...infer Rest] ? Rest : never

/** Like {@link fumiChat}, for any command. This process can serve it meanwhile. */
export async function fumiRun(
  args: readonly string[],
  { home, cwd }: ChatHome,
  input = '',
  onLine: (line: string) => number | undefined = () => undefined,
  variables: NodeJS.ProcessEnv = {},
  killAfterMs?: number,
): Promise<ChatRun> {
  const child = spawn(process.execPath, [fumiPath, ...args], {
    cwd,
    env: { ...process.env, NO_COLOR: '1', FUMI_HOME: home, HOME: home, OPENAI_API_KEY: '', ...variables },
  })
  onCleanup(() => child.kill('SIGKILL'))
  const timers: NodeJS.Timeout[] = []
  const killAfter = (ms: number | undefined): void => {
    if (ms === 0) child.kill('SIGKILL')
    else if (ms !== undefined) timers.push(setTimeout(() => child.kill('SIGKILL'), ms))
  }
  killAfter(killAfterMs)
  child.stdin.end(input)
  let out = ''
  let err = ''
  child.stderr.on('data', (piece) => {
    err += piece
  })
  const ended = once(child, 'close')
  for await (const line of createInterface(child.stdout)) {
    out += `${line}\n`
    killAfter(onLine(line))
  }
  const [code] = (await ended) as [number | null]
  for (const timer of timers) clearTimeout(timer)
  return { code, out, err }
}
