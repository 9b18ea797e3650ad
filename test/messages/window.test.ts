/** Windows of a session contain every record once and in order, searchable or not. */
import { appendFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { SessionId } from '../../src/model/ids.ts'
import { assistant, header, line, THREAD, text, tokens, user } from '../support/codex-log.ts'
import { rollout, testHome } from '../support/test-home.ts'

const NATIVE = '019c0000-0000-7000-8000-000000000077'
const ID = `codex:${NATIVE}` as SessionId

/** Half of the lines are searchable; half are copies and token counts. */
const turn = (n: number): string[] => [
  user(n * 5, `Question ${n}`),
  line(n * 5, 'event_msg', { type: 'user_message', message: `Question ${n}` }),
  tokens(n * 5 + 1, (n + 1) * 100, (n + 1) * 10),
  line(n * 5 + 2, 'event_msg', { type: 'agent_message', message: `Answer ${n}` }),
  assistant(n * 5 + 2, `Answer ${n}`),
]

const turns = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, n) => turn(from + n)).flat()

test('forwards, backwards and from the middle, across batches', async () => {
  const { app, write } = testHome()
  const path = write(rollout(NATIVE), text([header({ id: NATIVE }), ...turns(0, 500)]))
  await app.sync()
  appendFileSync(path, text(turns(500, 520)))
  await app.sync()
  const all = app.index.messages(ID, { limit: 100_000 }).map(({ id }) => id)
  expect(all).toHaveLength(1 + 520 * 5)
  expect(all.map((id) => Number(id.split('#')[1]))).toEqual(all.map((_, at) => at + 1))

  const ids = (options: object): string[] => app.index.messages(ID, options).map(({ id }) => id)
  const forwards: string[] = []
  for (let page = ids({ limit: 333 }); page.length > 0; page = ids({ after: page.at(-1), limit: 333 }))
    forwards.push(...page)
  expect(forwards).toEqual(all)
  const backwards: string[] = []
  for (let page = ids({ before: all.at(-1), limit: 333 }); page.length > 0; page = ids({ before: page[0], limit: 333 }))
    backwards.unshift(...page)
  expect(backwards).toEqual(all.slice(0, -1))
  for (const at of [0, 3, 1234, 2504]) {
    const start = Math.max(0, at - 25)
    expect(ids({ around: all[at], limit: 50 })).toEqual(all.slice(start, start + 50))
  }
})

test('copies and token counts have bodies', async () => {
  const { app, write } = testHome()
  write(rollout(NATIVE), text([header({ id: NATIVE }), ...turns(0, 3)]))
  await app.sync()
  const bodies = await app.messages(ID)
  expect(bodies.map(({ kind }) => kind)).toEqual(bodies.map(() => 'body'))
  const known = app.index.messages(ID)
  expect(known.filter(({ duplicate }) => duplicate)).toHaveLength(6)
  expect(known.filter(({ role }) => role === 'meta').length).toBeGreaterThanOrEqual(3)
  app.close()
})

test('a duplicate in a fork is detected regardless of read order', async () => {
  const event = line(4, 'event_msg', { type: 'agent_message', message: 'An answer.' })
  const parent = [header(), user(3, 'A question.'), event, assistant(4, 'An answer.')]
  const copied = parent.map((one) => one.replace(/"timestamp":"[^"]+"/, '"timestamp":"2026-02-03T09:20:00.000Z"'))
  const lines = [header({ id: NATIVE, forked_from_id: THREAD }), ...copied]
  const reported = async (cut: number): Promise<unknown> => {
    const { app, write } = testHome()
    write(rollout(THREAD), text(parent))
    const path = write(rollout(NATIVE), text(lines.slice(0, cut)))
    await app.sync()
    appendFileSync(path, text([...lines.slice(cut), user(400, 'Another one.')]))
    await app.sync()
    const known = app.index.messages(ID).map(({ row: _, ...message }) => message)
    const prompts = app.index.prompts().map(({ session, line: at }) => [session, at])
    app.close()
    return { known, prompts }
  }
  const atOnce = await reported(lines.length)
  expect(atOnce).toMatchObject({
    known: [{}, { replayed: true }, { replayed: true }, { replayed: true, duplicate: true }, { duplicate: false }, {}],
  })
  for (const cut of [1, 2, 3, 4]) expect(await reported(cut)).toEqual(atOnce)
})

test('only in a log reduced to events do events count as prompts', async () => {
  const { app, write } = testHome()
  const asked = line(1, 'event_msg', { type: 'user_message', message: 'Asked in an event' })
  write(rollout(THREAD), text([header(), asked, tokens(2, 100, 10)]))
  const parent = '019c0000-0000-7000-8000-000000000078'
  const copied = [header({ id: parent }), user(3, 'A question.')]
  write(rollout(parent), text(copied))
  write(rollout(NATIVE), text([header({ id: NATIVE, forked_from_id: parent }), ...copied, asked]))
  await app.sync()
  const prompts = app.index.prompts().map(({ session, line: at }) => `${session.slice(-2)}#${at}`)
  expect(prompts.sort()).toEqual(['01#2', '78#2'])
  app.close()
})
