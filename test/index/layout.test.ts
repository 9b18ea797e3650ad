/** Turns, shapes and windows by offset, in sessions of any length. */
import { expect, test } from 'vitest'
import { assistant, call, header, result, shortSession, text, tokens, user } from '../support/codex-log.ts'
import { rollout, testHome } from '../support/test-home.ts'

type Layout = ReturnType<ReturnType<typeof testHome>['app']['index']['layout']>

test('windows by number are the same with and without a layout, at every place', async () => {
  const { app, write } = testHome()
  const lines = [header()]
  for (let n = 0; n < 400; n++) {
    lines.push(user(n + 1, `ask ${n}`), call(n + 1, `c${n}`, {}), result(n + 1, `c${n}`, 'ok'), assistant(n + 1, 'yes'))
    lines.push(tokens(n + 1, n * 10, n))
  }
  write(rollout('long'), text(lines))
  await app.sync()
  const [session] = app.list().sessions
  if (!session) throw new Error('no session')
  const layout = app.index.layout(session.id)
  expect(layout.total).toBe(2001)
  expect(layout.shape).toBe(`h${'ucrax'.repeat(400)}`)
  expect(layout.turns).toHaveLength(400)
  expect(layout.turns[7]).toMatchObject({ offset: 36, messages: 5, tools: 1, errors: 0 })
  const all = app.index.messages(session.id, { limit: 5000 })
  for (const offset of [0, 1, 511, 512, 513, 1023, 1024, 1500, 1999, 2000, 2001, 9999]) {
    const plain = app.index.window(session.id, { offset, limit: 3 })
    expect(app.index.window(session.id, { offset, limit: 3 }, layout)).toEqual(plain)
    expect(plain.messages).toEqual(all.slice(offset, offset + 3))
    const around = all[offset]?.id
    if (around === undefined) continue
    const middle = app.index.window(session.id, { around, limit: 5 })
    expect(app.index.window(session.id, { around, limit: 5 }, layout)).toEqual(middle)
    expect(all[middle.offset]).toEqual(middle.messages[0])
  }
  expect(app.index.window(session.id, { end: true, limit: 2 }, layout)).toEqual({
    messages: all.slice(-2),
    offset: 1999,
    total: 2001,
  })
  app.close()
})

test('an updated layout equals a newly computed one', async () => {
  const { app, write } = testHome()
  const lines = [header()]
  const add = (turns: number, texts: string): void => {
    for (let n = lines.length; turns > 0; turns--, n += 4)
      lines.push(user(n, `${texts} ${n}`), call(n, `c${n}`, {}), tokens(n, n * 10, n), result(n, `c${n}`, 'ok'))
  }
  const laidOut = async () => {
    const path = write(rollout('long'), text(lines))
    await app.sync({ paths: [path] })
    const [session] = app.list().sessions
    if (!session) throw new Error('no session')
    return (before?: Layout) => app.index.layout(session.id, before)
  }
  let before: Layout | undefined
  for (const turns of [100, 60, 130, 1, 40, 300, 2]) {
    add(turns, 'ask')
    const layout = await laidOut()
    before = layout(before)
    expect(before).toEqual(layout())
    expect(before.total).toBe(lines.length)
  }
  lines.splice(1)
  add(700, 'quite another question of')
  const layout = await laidOut()
  expect(layout(before)).toEqual(layout())
  app.close()
})

test('injected text starts no turn and is not listed as a prompt', async () => {
  const { app, write } = testHome()
  write(rollout('talk'), text(shortSession()))
  await app.sync()
  const [session] = app.list().sessions
  if (!session) throw new Error('no session')
  expect(app.index.layout(session.id)).toMatchObject({
    shape: 'hxiudcrxdax',
    turns: [{ offset: 3, messages: 8, tools: 1 }],
  })
  expect(app.index.details([session.id]).get(session.id)).toMatchObject({ turns: 1, errors: 0, issues: 0 })
  app.close()
})

test('a list continues after any session in every sort order', async () => {
  const { app, write } = testHome()
  for (let n = 0; n < 5; n++)
    write(
      rollout(`s${n}`),
      text([header({ id: `s-${n}`, cwd: `/w/${n % 2}` }), user(n + 1, `ask ${5 - n}`), assistant(9, 'x'.repeat(n))]),
    )
  await app.sync()
  for (const sort of ['last', 'started', 'messages', 'tokens', 'size', 'title'] as const)
    for (const ascending of [true, false]) {
      const all = app.list({ sort, ascending }).sessions.map(({ id }) => id)
      expect(all).toHaveLength(5)
      for (const [at, after] of all.entries())
        expect(app.list({ sort, ascending, after }).sessions.map(({ id }) => id)).toEqual(all.slice(at + 1))
    }
  app.close()
})
