import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  type CheckpointResult,
  checkpointAfterTool,
  checkpointAfterTurn,
  diffCheckpoints,
  type Git,
  hasChanges,
  initCheckpoints,
  noteUserMessage,
  restoreCheckpoint,
} from '../../src/conversation/checkpoint.ts'
import { readState, writeState } from '../../src/conversation/codec/state.ts'
import { isGitInstalled, isInWorkTree, removeRepository, runGit } from '../../src/lib/git/run-git.ts'
import { tempFolder } from '../support/codex-log.ts'
import { conversationOf, promptsOf } from './test-states.ts'

const timestamp = '2025-10-25T14:53:00Z'
const installed = await isGitInstalled()
if (!installed) process.stderr.write('skipped: git is not installed\n')

describe.skipIf(!installed)('with git', () => {
  let root = ''
  let work = ''
  let shadow = ''

  beforeEach(() => {
    root = tempFolder()
    work = join(root, 'work')
    shadow = join(root, 'shadow')
    mkdirSync(work)
  })

  const write = (name: string, content: string) => writeFileSync(join(work, name), content)
  const begin = async (git: Git = runGit) =>
    value(
      await initCheckpoints(git, {
        shadowRepoPath: shadow,
        workTreePath: work,
        history: conversationOf().history,
        timestamp,
      }),
    )

  test('a turn with tools is one checkpoint, described by its first prompt', async () => {
    write('a.txt', '1')
    let manager = noteUserMessage(await begin(), 'Please change the file, and then tell me at some length what you did')
    manager = noteUserMessage(manager, 'not this one')
    const run = { toolName: 'fs_write', description: 'wrote a.txt', history: conversationOf('a').history, timestamp }
    manager = value(await checkpointAfterTool(runGit, manager, run))
    expect(manager.checkpoints.map(({ tag }) => tag)).toEqual(['0'])
    write('a.txt', '2')
    manager = value(await checkpointAfterTool(runGit, manager, run))
    expect(manager.checkpoints.map(({ tag, description }) => [tag, description])).toEqual([
      ['0', 'Initial state'],
      ['1.1', 'wrote a.txt'],
      ['1', 'Turn in progress'],
    ])
    manager = value(
      await checkpointAfterTurn(runGit, manager, { history: conversationOf('a', 'b').history, timestamp }),
    )
    expect(manager).toMatchObject({
      current_turn: 1,
      tools_in_turn: 0,
      pending_user_message: null,
      message_locked: false,
    })
    expect(manager.checkpoints.at(-1)).toMatchObject({
      tag: '1',
      description: 'Please change the file, and then tell me at some length...',
    })
    expect(manager.file_stats_cache.get('1')).toEqual({ added: 0, modified: 1, deleted: 0 })

    const state = { ...conversationOf('a', 'b', 'c'), checkpoint_manager: manager }
    const saved = readState(writeState(state), { mode: 'strict' })
    expect(saved.ok && writeState(saved.value)).toBe(writeState(state))
    const back = value(await restoreCheckpoint(runGit, state, '0', false))
    expect(readFileSync(join(work, 'a.txt'), 'utf8')).toBe('1')
    expect(promptsOf(back)).toEqual([])
    expect(back.transcript.length).toBe(3)
  })

  test('a turn without changes makes no checkpoint', async () => {
    const manager = value(
      await checkpointAfterTurn(runGit, noteUserMessage(await begin(), 'hi'), {
        history: conversationOf('a').history,
        timestamp,
      }),
    )
    expect(manager).toMatchObject({ current_turn: 0, pending_user_message: null, message_locked: false })
    expect(manager.checkpoints).toHaveLength(1)
  })

  test('unusual file names are preserved', async () => {
    let manager = await begin()
    write('日本 語\t.txt', 'x')
    manager = value(
      await checkpointAfterTool(runGit, manager, {
        toolName: 't',
        description: 'd',
        history: conversationOf().history,
        timestamp,
      }),
    )
    expect(await diffCheckpoints(runGit, manager, '0', '1')).toEqual({
      ok: true,
      value: [{ path: '日本 語\t.txt', change: 'added' }],
    })
  })

  test('a git failure is returned as a reason', async () => {
    const manager = await begin()
    const deaf: Git = async () => ({ code: 128, stdout: '', stderr: 'fatal: no\n' })
    expect(
      await initCheckpoints(deaf, {
        shadowRepoPath: shadow,
        workTreePath: work,
        history: conversationOf().history,
        timestamp,
      }),
    ).toMatchObject({ ok: false, reason: expect.stringContaining('fatal: no') })
    expect(await hasChanges(deaf, manager)).toBe(true)
    expect((await diffCheckpoints(runGit, manager, '0', '7')).ok).toBe(false)
    expect(await restoreCheckpoint(runGit, { ...conversationOf('a'), checkpoint_manager: manager }, '7', true)).toEqual(
      {
        ok: false,
        reason: "Checkpoint '7' not found",
      },
    )
    expect(await restoreCheckpoint(runGit, conversationOf('a'), '0', true)).toMatchObject({ ok: false })
  })

  test('only repositories are removed', async () => {
    await begin()
    expect(await removeRepository(work)).toBe(false)
    expect(existsSync(work)).toBe(true)
    expect(await removeRepository(shadow)).toBe(true)
    expect(existsSync(shadow)).toBe(false)
    expect(await isInWorkTree(work)).toBe(false)
  })
})

function value<T>(outcome: CheckpointResult<T>): T {
  if (!outcome.ok) throw new Error(outcome.reason)
  return outcome.value
}
