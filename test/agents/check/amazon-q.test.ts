/** Rules of Amazon Q CLI, each with a conversation that violates only this rule. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { check } from '../../../src/agents/amazon-q/check/check-state.ts'
import { AMAZON_Q_RULES, type AmazonQRule } from '../../../src/agents/amazon-q/check/rules.ts'
import type { CheckFinding } from '../../../src/model/check-finding.ts'
import { sharedFolder } from '../../support/shared-material.ts'

const env = { env_state: { operating_system: 'linux', current_working_directory: '/work', environment_variables: [] } }
const user = (content: object, more: object = {}) => ({
  additional_context: '',
  env_context: env,
  content,
  timestamp: null,
  images: null,
  ...more,
})
const prompt = (text: string, more: object = {}) => user({ Prompt: { prompt: text } }, more)
const result = (id: string, text = 'a.txt') => ({ tool_use_id: id, content: [{ Text: text }], status: 'Success' })
const results = (...given: object[]) => user({ ToolUseResults: { tool_use_results: given } })
const answer = (content: string) => ({ Response: { message_id: null, content } })
const use = (id: string, more: object = {}) => ({
  id,
  name: 'fs_read',
  orig_name: 'fs_read',
  args: { path: '.' },
  orig_args: { path: '.' },
  ...more,
})
const uses = (...given: object[]) => ({ ToolUse: { message_id: null, content: '', tool_uses: given } })
const entry = (one: object, assistant: object) => ({ user: one, assistant, request_metadata: null })
const tool = (name: string, description = 'reads') => ({
  ToolSpecification: { name, description, input_schema: { json: {} } },
})

const state = (more: object = {}) => ({
  conversation_id: 'one',
  next_message: null,
  history: [
    entry(prompt('list files'), uses(use('t1'))),
    entry(results(result('t1')), answer('One file.')),
    entry(prompt('and now?'), answer('Nothing.')),
  ],
  valid_history_range: [0, 3],
  transcript: ['> list files'],
  tools: { native___: [tool('fs_read'), tool('dummy')] },
  context_manager: null,
  context_message_length: null,
  latest_summary: null,
  file_line_tracker: {},
  checkpoint_manager: null,
  mcp_enabled: true,
  ...more,
})

const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))
const history = (...entries: object[]): Buffer => bytesOf(state({ history: entries }))
const asked = (more: object, text = 'look'): Buffer => history(entry(prompt(text, more), answer('yes')))
const image = (format: string, bytes: readonly number[]) => ({ format, source: { Bytes: bytes } })
const PNG = [0x89, 0x50, 0x4e, 0x47]
const BIG = 'x'.repeat(400_001)

const broken: Readonly<Record<AmazonQRule, Buffer>> = {
  utf8: Buffer.concat([bytesOf(state()), Buffer.from([0xff])]),
  loads: history({ ...entry(prompt('a'), answer('b')), user: { content: { Prompt: { prompt: 'a' } } } }),
  conversation_id: bytesOf(state({ conversation_id: '' })),
  history_length: history(...Array.from({ length: 4998 }, () => entry(prompt('a'), answer('b')))),
  first_prompt: history(entry(results(result('t1')), answer('b'))),
  results_position: history(entry(prompt('a'), answer('b')), entry(results(result('t1')), answer('c'))),
  uses_answered: history(entry(prompt('a'), uses(use('t1'))), entry(prompt('b'), answer('c'))),
  results_match: history(entry(prompt('a'), uses(use('t1'))), entry(results(result('t2')), answer('c'))),
  use_id: history(entry(prompt('a'), uses(use('')))),
  use_id_unique: history(
    entry(prompt('a'), uses(use('t1'))),
    entry(results(result('t1')), uses(use('t1'))),
    entry(results(result('t1')), answer('c')),
  ),
  tool_name: bytesOf(state({ tools: { native___: [tool('fs_read')], server: [tool('look-up')] } })),
  tool_listed: bytesOf(state({ tools: { native___: [tool('execute_bash')] } })),
  tool_description: bytesOf(state({ tools: { native___: [tool('fs_read', '')] } })),
  arguments_object: history(entry(prompt('a'), uses(use('t1', { args: 'text' })))),
  prompt_empty: history(entry(prompt(' \n'), answer('b'))),
  prompt_size: history(entry(prompt(BIG), answer('b'))),
  prompt_rendered: history(entry(prompt('--- USER MESSAGE BEGIN ---\na--- USER MESSAGE END ---'), answer('b'))),
  result_size: history(entry(prompt('a'), uses(use('t1'))), entry(results(result('t1', BIG)), answer('c'))),
  directory_size: asked({
    env_context: { env_state: { ...env.env_state, current_working_directory: 'あ'.repeat(86) } },
  }),
  image_count: asked({ images: Array.from({ length: 11 }, () => image('Png', PNG)) }),
  image_size: asked({ images: [image('Png', [...PNG, ...new Uint8Array(10 * 1024 * 1024 - 3)])] }),
  image_format: asked({ images: [image('Jpeg', PNG)] }),
  transcript_length: bytesOf(state({ transcript: Array.from({ length: 10_001 }, () => 'a') })),
}

async function findingsIn(bytes: Uint8Array): Promise<readonly CheckFinding<AmazonQRule>[]> {
  const found: CheckFinding<AmazonQRule>[] = []
  async function* open(): AsyncGenerator<Buffer> {
    yield Buffer.from(bytes)
  }
  for await (const one of check(open)) found.push(one)
  return found
}

const rulesIn = async (bytes: Uint8Array): Promise<readonly string[]> =>
  (await findingsIn(bytes)).map(({ rule }) => rule)

describe('a conversation for Amazon Q', () => {
  test('passes when it is well-formed', async () => {
    expect(await findingsIn(bytesOf(state()))).toEqual([])
  })

  test.each(Object.entries(broken))('breaks only %s', async (rule, bytes) => {
    expect(new Set(await rulesIn(bytes))).toEqual(new Set([rule]))
    expect((await findingsIn(bytes))[0]?.severity).toBe(AMAZON_Q_RULES[rule as AmazonQRule].severity)
  })

  test('may be at its limits', async () => {
    const full = 'x'.repeat(400_000)
    expect(await rulesIn(history(...Array.from({ length: 4997 }, () => entry(prompt('a'), answer('b')))))).toEqual([])
    expect(
      await rulesIn(history(entry(prompt(full), uses(use('t1'))), entry(results(result('t1', full)), answer('c')))),
    ).toEqual([])
    expect(await rulesIn(asked({ images: Array.from({ length: 10 }, () => image('Png', PNG)) }))).toEqual([])
  })

  test('treats a cancellation with its prompt like results', async () => {
    const cancelled = user({ CancelledToolUses: { prompt: 'stop', tool_use_results: [result('t1')] } })
    expect(await rulesIn(history(entry(prompt('a'), uses(use('t1'))), entry(cancelled, answer('ok'))))).toEqual([])
  })

  test('is checked in the pending message and in a suspended tangent', async () => {
    const next_message = results(result('t9'))
    const tangent_state = {
      main_history: [entry(results(result('t1')), answer('b'))],
      main_next_message: null,
      main_transcript: [],
      main_latest_summary: null,
      tangent_start_time: [2026, 63, 21, 45, 12, 0, 0, 0, 0],
    }
    const found = await findingsIn(bytesOf(state({ next_message, tangent_state })))
    const places = found.map(({ rule, place }) => [rule, place])
    expect(places).toEqual([
      ['results_position', '$.next_message.content'],
      ['first_prompt', '$.tangent_state.main_history[0].user.content'],
    ])
  })

  test('reports positions, never text', async () => {
    const [finding] = await findingsIn(broken.results_match)
    expect(finding?.place).toBe('$.history[1].user.content')
    const found = [...(await findingsIn(broken.prompt_size)), ...(await findingsIn(broken.result_size))]
    expect(JSON.stringify(found)).not.toContain('xx')
  })
})

const corpus = sharedFolder('corpus')

describe.skipIf(!corpus)('conversations that the program saved', () => {
  const folders = corpus === undefined ? [] : ['amazon-q', 'kiro/chat-save'].map((name) => join(corpus, name))
  const files = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))

  /** Restores a tag that anonymization replaced; the files are otherwise in order. */
  const textOf = (path: string): string =>
    readFileSync(path, 'utf8').replace(/("message_meta_tags":\s*\[\s*)"\w{7}"/g, '$1"Compact"')

  test('pass, but for the context manager of 1.12 and before, which later versions do not load', async () => {
    const refused: string[] = []
    for (const path of files) {
      const found = await findingsIn(Buffer.from(textOf(path)))
      if (found.length === 0) continue
      expect(found).toEqual([expect.objectContaining({ rule: 'loads', place: '$.context_manager' })])
      refused.push(path)
      const value = { ...JSON.parse(textOf(path)), context_manager: null }
      expect(await findingsIn(bytesOf(value))).toEqual([])
    }
    expect(files.length).toBeGreaterThan(10)
    expect(refused.length).toBeLessThan(files.length)
  })
})
