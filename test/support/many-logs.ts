/** Large numbers of logs, for tests that interrupt something. */
import { assistant, call, header, line, result, text, tokens, user } from './codex-log.ts'
import { rollout } from './test-home.ts'

export const threadOf = (n: number): string => `019c0000-0000-7000-8000-${String(n).padStart(12, '0')}`

/** About two kilobytes per turn. */
export function manyLogs(write: (path: string, content: string) => string, sessions: number, turns: number): void {
  for (let n = 0; n < sessions; n++) write(rollout(threadOf(n)), text(logOf(n, turns)))
}

export function logOf(n: number, turns: number): readonly string[] {
  const cwd = `/w/p${n % 3}`
  const lines = [
    header({ id: threadOf(n), cwd }),
    line(1, 'turn_context', { model: n % 4 ? 'gpt-5' : 'gpt-5-codex', cwd }),
  ]
  for (let turn = 0; turn < turns; turn++) {
    const at = n * 1000 + turn * 5
    const question = `Question ${turn} of session ${n} about widget${turn % 17}`
    lines.push(
      user(at, question),
      line(at, 'event_msg', { type: 'user_message', message: question }),
      call(at + 1, `c${turn}`, { command: ['cat', `src/file${turn % 7}.ts`] }),
      result(at + 2, `c${turn}`, `Exit code: ${turn % 5 === 0 ? 1 : 0}\nOutput:\n${`line ${turn} `.repeat(300)}`),
      tokens(at + 3, (turn + 1) * 100, (turn + 1) * 10),
      line(at + 4, 'event_msg', { type: 'agent_message', message: `Answer ${turn}` }),
      assistant(at + 4, `Answer ${turn}`),
    )
  }
  return lines
}
