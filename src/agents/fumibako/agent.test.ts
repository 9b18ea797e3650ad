/** Tests what the goldens of the fixtures do not show: estimates, conversion back, locations of journals. */
import { expect, it } from 'vitest'
import { tempFolder } from '../../../test/support/codex-log.ts'
import { readAll, scanAll, stageFixtures, summarizeScans } from '../../../test/support/fixtures.ts'
import type { Session } from '../../model/session.ts'
import { NO_USAGE } from '../../model/usage.ts'
import fumibako from './agent.ts'

const fixtures = await stageFixtures(fumibako, tempFolder())

const sourceOf = (name: string) => {
  const fixture = fixtures.find((one) => one.name === name)
  if (!fixture) throw new Error(`no fixture ${name}`)
  return fixture.source
}

const estimatesOf = async (name: string) =>
  (await scanAll(fumibako, sourceOf(name))).flatMap((one) =>
    one.kind === 'estimate' ? [[one.at, one.estimate.user_bytes, one.estimate.assistant_bytes]] : [],
  )

it('uses counts of the endpoint, and estimates only requests without', async () => {
  expect(summarizeScans(await scanAll(fumibako, sourceOf('talk.jsonl'))).usage.total_tokens).toBe(2035)
  const asked = 'Rename tide.ts, please.'.length
  const after = 'Never mind.'.length + 'Thank you.'.length
  expect(await estimatesOf('talk.jsonl')).toEqual([
    ['2026-04-02T08:00:26.000Z', asked, 'Ren'.length],
    ['2026-04-02T08:00:32.000Z', after, 'You are welcome.'.length],
  ])
})

it('estimates imported messages once', async () => {
  expect(summarizeScans(await scanAll(fumibako, sourceOf('copied.jsonl'))).usage).toEqual(NO_USAGE)
  const byteCounts = (await estimatesOf('copied.jsonl')).map(([, user, assistant]) => Number(user) + Number(assistant))
  expect(byteCounts).toContain('Count the shells.'.length)
  expect(byteCounts.filter((bytes) => bytes === 'Count the shells.'.length)).toHaveLength(1)
})

it('flags rolled-back messages and messages of a tangent', async () => {
  const { messages } = await readAll(fumibako, sourceOf('turns.jsonl'))
  const textOf = new Map(messages.map(({ id, segments }) => [id, segments[0]?.text]))
  const rolledBack = messages.flatMap(({ metadata, raw }) => {
    const ids = metadata?.['rolled_back'] as readonly string[] | undefined
    return ids ? [[raw.event_type, ids.map((id) => textOf.get(id))]] : []
  })
  expect(rolledBack).toEqual([
    ['rewound', ['When is it highest?', 'And lowest?']],
    ['branch_taken', ['And tomorrow?']],
    ['restored', ['And lowest?']],
  ])
  const tangentMessages = messages.filter(({ metadata, role }) => metadata?.['tangent'] === true && role !== 'meta')
  expect(tangentMessages.map(({ segments }) => segments[0]?.text)).toEqual([
    'What does the moon do?',
    'It pulls.',
    'And the sun?',
    'A little.',
  ])
})

it('resumes a conversation by id in its directory', async () => {
  const { session } = await readAll(fumibako, sourceOf('talk.jsonl'))
  expect(fumibako.resume?.(session as Session)).toEqual({
    program: 'fumi',
    arguments: ['chat', '--resume', '5b1f0c52-0000-4000-8000-000000000001'],
    cwd: '/code/tidepool/src',
  })
})

it('searches the data directory', () => {
  const machine = { platform: 'linux' as const, home: '/home/mika', variables: {} }
  expect(fumibako.roots(machine)).toEqual(['/home/mika/.local/share/fumibako/conversations'])
  expect(fumibako.roots({ ...machine, variables: { FUMI_HOME: '/data' } })).toEqual(['/data/conversations'])
})
