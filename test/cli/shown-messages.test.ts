/** How `fumi show` shows messages that are more than text: tasks, summaries, calls, attachments. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import codex from '../../src/agents/codex/agent.ts'
import * as log from '../support/codex-log.ts'
import { readAll, scanAll } from '../support/fixtures.ts'
import { fumi } from '../support/run-fumi.ts'

const TASK = 'Message Type: NEW_TASK\nTask name: /root/count_beans\nSender: /root\nPayload:\nCount the beans.'

const fromAgent = (second: number, author: string, recipient: string, text: string): string =>
  log.line(second, 'response_item', {
    type: 'agent_message',
    author,
    recipient,
    content: [{ type: 'input_text', text }],
  })

test('a task from a parent agent is the prompt of its sub-agent, whose title is the name of the task', async () => {
  const path = log.tempLog(
    log.text([
      log.header({
        parent_thread_id: '019c0000-0000-7000-8000-00000000000a',
        source: { subagent: { thread_spawn: { parent_thread_id: '019c0000-0000-7000-8000-00000000000a', depth: 1 } } },
        agent_path: '/root/count_beans',
        agent_nickname: 'Euclid',
      }),
      fromAgent(1, '/root', '/root/count_beans', TASK),
      log.assistant(2, 'There are seven.'),
      fromAgent(3, '/root/weigh_beans', '/root/count_beans', 'Message Type: MESSAGE\nPayload:\nThey weigh a gram.'),
    ]),
  )
  const { messages } = await readAll(codex, { agent: codex.id, path })
  const spoken = messages.filter(({ source_type }) => source_type === 'message')
  expect(spoken.map(({ role }) => role)).toEqual(['user', 'assistant', 'assistant'])
  const headers = (await scanAll(codex, { agent: codex.id, path })).flatMap((one) =>
    one.kind === 'session' ? [one.session] : [],
  )
  expect(headers.at(-1)).toMatchObject({ title: 'count_beans', nickname: 'Euclid', relation: 'subagent' })
  const { out } = fumi(['show', path])
  expect(out).toMatch(/^count_beans\n/)
  expect(out).toMatch(/❯ 1 .*\n {2}Message Type: NEW_TASK/)
})

test('the answer that is the summary of a compaction is shown as the summary, once', async () => {
  const summary = 'SUMMARY: the gardener asked about beans.'
  const path = log.tempLog(
    log.text([
      log.header(),
      log.user(1, 'Fill the window.'),
      log.assistant(2, 'Done.'),
      log.assistant(3, summary),
      log.line(4, 'compacted', { message: `Another language model started this.\n${summary}` }),
      log.user(5, 'Go on.'),
      log.assistant(6, 'Water them.'),
    ]),
  )
  const { messages } = await readAll(codex, { agent: codex.id, path })
  const answer = messages.find(({ role, segments }) => role === 'assistant' && segments[0]?.text === summary)
  const compaction = messages.find(({ metadata }) => metadata?.event_kind === 'compacted')
  expect(compaction?.metadata?.duplicates).toEqual([answer?.id])
  const { out } = fumi(['show', path])
  expect(out).toContain('  summary of the conversation so far\n  Another language model started this.\n  SUMMARY')
  expect(out).not.toContain('◆ SUMMARY')
  expect(out.split(summary)).toHaveLength(2)
})

test('a compaction whose summary nobody gave as an answer leaves the last answer alone', async () => {
  const path = log.tempLog(
    log.text([
      log.header(),
      log.user(1, 'Hi.'),
      log.assistant(2, 'Done.'),
      log.line(3, 'compacted', { message: 'Not done.' }),
    ]),
  )
  const { messages } = await readAll(codex, { agent: codex.id, path })
  expect(messages.find(({ metadata }) => metadata?.event_kind === 'compacted')?.metadata?.duplicates).toBeUndefined()
})

test('parallel calls are shown in the order in which they were made, each with its own result', () => {
  const path = log.tempLog(
    log.text([
      log.header(),
      log.user(1, 'Use both hands.'),
      log.call(2, 'call_1', { command: ['first'] }),
      log.call(2, 'call_2', { command: ['second'] }),
      log.result(3, 'call_2', 'Exit code: 0\nWall time: 0.1 seconds\nOutput:\nb\n'),
      log.result(4, 'call_1', 'Exit code: 7\nWall time: 0.1 seconds\nOutput:\na\n'),
      log.call(5, 'call_1', { command: ['third'] }),
      log.result(6, 'call_1', 'Exit code: 0\nWall time: 0.1 seconds\nOutput:\nc\n'),
    ]),
  )
  const { out } = fumi(['show', path])
  const shown = out.split('\n').filter((line) => line.includes('▸'))
  expect(shown.map((line) => line.replace(/\s+/g, ' ').trim())).toEqual([
    expect.stringMatching(/^▸ shell first ✗ exit 7/),
    expect.stringMatching(/^▸ shell second ✓/),
    expect.stringMatching(/^▸ shell third ✓/),
  ])
})

test('each call of a chat is shown once, with its outcome', () => {
  const { out } = fumi(['show', join(import.meta.dirname, '../../src/agents/fumibako/fixtures/talk.jsonl')])
  expect(out.match(/▸ fs_read/g)).toHaveLength(1)
  expect(out).toMatch(/▸ execute_bash wc -l \* {2}✗ exit 1/)
})

test('an attached file is named where it was attached', () => {
  const file = { type: 'file', file: { file_id: 'file-7', filename: 'plan.pdf' } }
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'Read it.' }, file] }]
  const { out } = fumi(['show', log.tempLog(JSON.stringify(messages), 'messages.json')])
  expect(out).toContain('  Read it.\n  [file: plan.pdf]\n')
})

test('--dropped shows what a compaction removed from the context, without what was rolled back', () => {
  const fixture = join(import.meta.dirname, '../../src/agents/claude-code/fixtures/branches.jsonl')
  const { out } = fumi(['show', fixture, '--dropped'])
  const all = fumi(['show', fixture]).out
  const prompts = (text: string) => text.match(/^❯ \d+/gm)?.map((head) => Number(head.slice(2)))
  expect(prompts(all)).toEqual([1, 2, 3, 4])
  expect(prompts(out)).toEqual([1, 3])
  const none = fumi(['show', log.tempLog(log.text([log.header(), log.user(1, 'Hi.')])), '--dropped'])
  expect(none.code).not.toBe(0)
  expect(none.err).toContain('No compaction dropped anything from this session')
})
