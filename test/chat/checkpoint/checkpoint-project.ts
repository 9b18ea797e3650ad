/** A conversation with a journal on disk and files, for tests of checkpoints. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type CheckpointOutcome, Checkpoints } from '../../../src/chat/checkpoint/checkpoints.ts'
import { createJournal, type JournalFile, openJournal } from '../../../src/chat/journal/journal-file.ts'
import { eventsBetween, journalOf } from '../../../src/conversation/journal/state-to-events.ts'
import { newState } from '../../../src/conversation/state.ts'
import { continueWith, promptsOf } from '../../conversation/test-states.ts'
import { tempFolder } from '../../support/codex-log.ts'

const at = '2026-02-03T09:15:00Z'

export interface CheckpointProject {
  readonly work: string
  readonly data: string
  readonly checkpoints: Checkpoints
  readonly journal: JournalFile
  write(path: string, content: string | Uint8Array): void
  read(path: string): string | undefined
  git(...args: readonly string[]): string
  say(...prompts: readonly string[]): void
  prompts(): readonly (string | undefined)[]
  /** A turn in which one tool changes files. */
  turn(prompt: string, change: () => void): Promise<void>
  /** Simulates a new process. */
  resumed(): CheckpointProject
}

export interface CheckpointProjectOptions {
  readonly root?: string
  /** Relative to the root. */
  readonly cwd?: string
  readonly data?: string
}

export function checkpointProject(options: CheckpointProjectOptions = {}, open?: string): CheckpointProject {
  const root = options.root ?? tempFolder()
  const work = join(root, options.cwd ?? 'work')
  const data = join(root, options.data ?? 'data')
  mkdirSync(work, { recursive: true })
  const env = { env_state: null }
  const journal =
    open === undefined
      ? createJournal(data, journalOf(newState('c-1'), { at }))
      : openJournal(data, open, { at, cwd: work, program: null, env }).journal
  const change = (next: JournalFile['state']) => journal.append(eventsBetween(journal.replay, next, at))
  const openChat = {
    state: () => journal.state,
    change,
    restored: (tag: string, hard: boolean) => journal.append([{ event: 'restored', at, tag, hard }]),
  }
  const now = () => '2026-02-03T10:15:00+01:00'
  const checkpoints = new Checkpoints(openChat, { directory: data, cwd: work, home: join(root, 'home'), now })
  const say = (...prompts: readonly string[]) => change(continueWith(journal.state, ...prompts))
  const self: CheckpointProject = {
    work,
    data,
    checkpoints,
    journal,
    write(path, content) {
      mkdirSync(dirname(join(work, path)), { recursive: true })
      writeFileSync(join(work, path), content)
    },
    read: (path) => (existsSync(join(work, path)) ? readFileSync(join(work, path), 'utf8') : undefined),
    git: (...args) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'protocol.file.allow=always', ...args], {
        cwd: work,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    say,
    prompts: () => promptsOf(journal.state),
    async turn(prompt, work) {
      checkpoints.noteUserMessage(prompt)
      work()
      const created = await checkpoints.afterTool('fs_write', `wrote for ${prompt}`)
      if (!created.ok) throw new Error(created.reason.en)
      say(prompt)
      const ended = await checkpoints.afterTurn()
      if (!ended.ok) throw new Error(ended.reason.en)
    },
    resumed() {
      journal.close()
      return checkpointProject({ ...options, root }, journal.state.conversation_id)
    },
  }
  return self
}

export function value<T>(outcome: CheckpointOutcome<T>): T {
  if (!outcome.ok) throw new Error(outcome.reason.en)
  return outcome.value
}
