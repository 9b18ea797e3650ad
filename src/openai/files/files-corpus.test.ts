/** Reads real files of messages completely, and writes them back unchanged. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sharedFolder } from '../../../test/support/shared-material.ts'
import type { FileConversation } from './file-conversation.ts'
import { describeFileHead } from './file-layout.ts'
import { readRecord } from './read-record.ts'
import { detectRecordShape } from './record-shape.ts'

const HEAD = 65_536

const CORPUS: Readonly<Record<string, { format: string; records?: number; said?: number }>> = {
  'chatgpt_branching_example.json': { format: 'chatgpt', records: 1, said: 6 },
  'chatgpt_export_small_conversations.json': { format: 'chatgpt', records: 2, said: 8 },
  'claude_ai_export_conversations.json': { format: 'claude', records: 2, said: 8 },
  'cookbook_drone_training.jsonl': { format: 'sft', records: 103, said: 309 },
  'cookbook_toy_chat_fine_tuning.jsonl': { format: 'sft', records: 5, said: 19 },
  'llamafactory_alpaca_zh_NOT_messages.json': { format: 'alpaca' },
  'llamafactory_glaive_toolcall_en_sharegpt.json': { format: 'sharegpt', records: 300 },
  'llamafactory_mllm_messages.json': { format: 'messages', records: 6, said: 24 },
  'llamafactory_reason_tool_use.jsonl': { format: 'llamafactory', records: 50 },
  'llamafactory_v1_dpo.jsonl': { format: 'dpo', records: 10 },
  'llamafactory_v1_multimodal.jsonl': { format: 'llamafactory', records: 24 },
  'miniswe_github_issue.traj.json': { format: 'array', records: 1, said: 22 },
  'taubench_airline_fewshot.jsonl': { format: 'json' },
}

const corpus = sharedFolder('corpus', 'openai')

describe.skipIf(!corpus)('the corpus', () => {
  const files = corpus ? readdirSync(corpus).filter((name) => /\.jsonl?$/.test(name)) : []
  const textOf = (name: string): string => readFileSync(join(corpus ?? '', name), 'utf8')

  test('has an expectation for every file', () => {
    expect(Object.keys(CORPUS)).toEqual(expect.arrayContaining(files))
  })

  test.each(files)('%s is detected from its first 64 KB and from any longer prefix', (name) => {
    const text = textOf(name)
    for (const cut of [text.length, HEAD, 20_000, 8_000])
      expect(describeFileHead(text.slice(0, cut)), `${cut}`).toMatchObject({ format: CORPUS[name]?.format })
  })

  const read = (name: string): readonly { value: unknown; conversation: FileConversation }[] =>
    recordsIn(textOf(name), name).map((value) => {
      const reading = readRecord(value, name.endsWith('.jsonl'))
      if (!reading.ok) throw new Error(`${name}: ${reading.shape}`)
      return { value, conversation: reading.conversation }
    })

  test.each(files.filter((name) => CORPUS[name]?.records))('every message of %s is accounted for', (name) => {
    const all = read(name)
    const { records, said: messages } = CORPUS[name] ?? {}
    expect(all).toHaveLength(records ?? 0)
    const count = ({ branches }: FileConversation) => branches.reduce((sum, branch) => sum + branch.messages.length, 0)
    const found = all.reduce((sum, { conversation }) => sum + count(conversation), 0)
    expect(found).toBe(messages ?? all.reduce((sum, { value }) => sum + listedIn(value), 0))
  })

  test.each(files.filter((name) => ['sft', 'messages', 'array'].includes(CORPUS[name]?.format ?? '')))(
    '%s round-trips unchanged',
    (name) => {
      for (const { value, conversation } of read(name)) {
        const { messages } = conversation.branches[0]
        expect(Array.isArray(value) ? messages : { messages, ...conversation.header }).toEqual(value)
      }
    },
  )
})

function recordsIn(text: string, name: string): readonly unknown[] {
  if (name.endsWith('.jsonl'))
    return text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as unknown)
  const value = JSON.parse(text) as unknown[]
  return detectRecordShape(value) === 'array' ? [value] : value
}

/** Number of entries in all lists that contain messages. */
function listedIn(value: unknown): number {
  const record = value as Record<string, unknown[] | undefined>
  return ['messages', 'conversations', 'chosen_messages', 'rejected_messages']
    .map((key) => record[key]?.length ?? 0)
    .reduce((sum, length) => sum + length, 0)
}
