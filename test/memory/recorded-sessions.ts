/** Invented Codex sessions for tests of what agents recall. */
import { assistant, call, header, result, text, user } from '../support/codex-log.ts'
import { rollout, type TestHome } from '../support/test-home.ts'

export const idOf = (n: number): string => `019c0000-0000-7000-8000-${String(n).padStart(12, '0')}`

export interface Recorded {
  readonly n: number
  readonly cwd?: string
  readonly lines: readonly string[]
}

export const session = ({ n, cwd = '/w/app', lines }: Recorded): string =>
  text([header({ id: idOf(n), cwd }), ...lines])

/** A day each, the higher the number the later. */
export function record(home: TestHome, ...sessions: readonly Recorded[]): void {
  for (const one of sessions)
    home.write(rollout(idOf(one.n), `sessions/2026/02/${String(one.n).padStart(2, '0')}`), session(one))
}

export const decision: Recorded = {
  n: 1,
  lines: [
    user(1, 'Should the lighthouse cache move from Redis to Postgres?'),
    assistant(2, 'Decided: the lighthouse cache moves to Postgres, because backups come for free.'),
    user(3, 'Thanks.'),
    assistant(4, 'You are welcome.'),
  ],
}

export const failure: Recorded = {
  n: 2,
  lines: [
    user(1, 'The build fails, please fix it.'),
    call(2, 'c1', { command: ['npm', 'run', 'build'] }),
    result(
      3,
      'c1',
      'Process exited with code 1\nError: Cannot find module lantern-core\n    at resolve (src/lantern.ts:12)',
    ),
    call(4, 'c2', { command: ['npm', 'install', 'lantern-core@2.1.4'] }),
    result(5, 'c2', 'added 1 package'),
    call(6, 'c3', { command: ['npm', 'run', 'build'] }),
    result(7, 'c3', 'build succeeded in 3 s'),
    assistant(8, 'The module was missing from package.json; I pinned lantern-core 2.1.4.'),
  ],
}

export const elsewhere: Recorded = {
  n: 3,
  cwd: '/w/other',
  lines: [
    user(1, 'Use the lighthouse cache of the other team here.'),
    assistant(2, 'Done, the lighthouse cache is wired up.'),
  ],
}
