/** Tests calls and results at all positions in a state, with any content. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { entriesOf, stateOf } from '../../../test/support/amazon-q-store.ts'
import { tempFolder } from '../../../test/support/codex-log.ts'
import { readAll, roundTrip } from '../../../test/support/fixtures.ts'
import type { Source } from '../agent.ts'
import amazonQ from './agent.ts'

function sourceOf(state: string): Source {
  const path = join(tempFolder(), 'talk.json')
  writeFileSync(path, state)
  return { agent: 'amazon-q', path }
}

/** The calls that results answer. Also checks that reading a single result gives the same. */
async function answeredIn(source: Source): Promise<readonly (string | null | undefined)[]> {
  const { reads, messages } = await readAll(amazonQ, source)
  for (const one of reads)
    if (one.kind === 'message') expect(await amazonQ.readMessage(source, roundTrip(one.locator))).toEqual(one.message)
  return messages
    .filter(({ source_type }) => source_type === 'tool_result')
    .map(({ tool_call }) => `${tool_call?.name} ${tool_call?.arguments}`)
}

const [asked, answered] = entriesOf({ prompt: 'a', answer: 'b', tools: ['fs_read'] }) as readonly {
  readonly user: object
}[]

test('a pending result is linked to its call', async () => {
  const source = sourceOf(stateOf('c', [], { history: [asked], next_message: answered?.user }))
  expect(await answeredIn(source)).toEqual(['fs_read {"path":"a fs_read"}'])
})

test('results are paired separately in the main conversation and in a tangent', async () => {
  const [inTangent, ofTangent] = entriesOf({ prompt: 'a', answer: 'c', tools: ['fs_write'] }) as readonly {
    readonly user: object
  }[]
  const main = [...entriesOf({ prompt: 'x', answer: 'y' }), asked, answered]
  const source = sourceOf(
    stateOf('c', [], {
      history: [...entriesOf({ prompt: 'x', answer: 'y' }), inTangent],
      next_message: ofTangent?.user,
      tangent_state: {
        main_history: main,
        main_next_message: null,
        main_transcript: [],
        main_latest_summary: null,
        tangent_start_time: [2026, 1, 0, 0, 0, 0, 0, 0, 0],
      },
    }),
  )
  expect(await answeredIn(source)).toEqual(['fs_read {"path":"a fs_read"}', 'fs_write {"path":"a fs_write"}'])
})

test('argument names of a tool are reported unchanged', async () => {
  const args = { Bytes: [1, 2, 3], time_between_chunks: [4, { a: ']' }] }
  const result = { args: { a: 1 }, orig_args: { a: 1 }, inside: [{ Bytes: [255] }, { time_between_chunks: [] }] }
  const text = stateOf('c', [{ prompt: 'a', answer: 'b', tools: ['fs_read'] }])
    .replaceAll('{"path":"a fs_read"}', JSON.stringify(args))
    .replace('{"Text":"done a fs_read"}', JSON.stringify({ Json: result }))
  const source = sourceOf(text)
  const tools = (await readAll(amazonQ, source)).messages.flatMap(({ tool_call }) => tool_call ?? [])
  expect(tools.map(({ arguments: value }) => value)).toEqual([JSON.stringify(args), JSON.stringify(args)])
  expect(tools[1]?.output).toBe(JSON.stringify(result))
  expect(await answeredIn(source)).toHaveLength(1)
})
