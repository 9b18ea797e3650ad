/** Opens data directories of earlier releases without losing anything. */
import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tempFolder } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'
import { testHome } from '../support/test-home.ts'

const RELEASES = readdirSync(import.meta.dirname).filter((name) => name.startsWith('data-'))

interface Totals {
  readonly id: string
  readonly title: string
  readonly usage: object
}

interface Listed {
  readonly id: string
  readonly title: string
}

/** The original logs no longer exist, so the data directory is all that remains of them. */
function opened(release: string, { backups = true } = {}) {
  const home = tempFolder()
  const data = join(home, 'fumi')
  cpSync(join(import.meta.dirname, release), data, { recursive: true })
  if (!backups) for (const name of ['keep.sqlite3', 'copies.sqlite3']) rmSync(join(data, name))
  const env = { HOME: home, FUMI_HOME: data, CODEX_HOME: join(home, '.codex'), XDG_DATA_HOME: join(home, 'share') }
  const run = (...args: readonly string[]): string => {
    const { code, out, err } = fumi(args, { env, cwd: home })
    expect({ args, code, err }).toEqual({ args, code: 0, err: '' })
    return out
  }
  return { run, json: (...args: readonly string[]) => JSON.parse(run(...args, '--json')) }
}

describe.each(RELEASES)('%s', (release) => {
  test('keeps every session, with its words', () => {
    const { run, json } = opened(release)
    const { sessions } = json('list') as { sessions: readonly Listed[] }
    const shown = sessions.map(({ id, title }) => ({ id, title, text: run('show', id) }))
    expect(shown.map(({ id, title }) => `${id} ${title}`).sort()).toMatchSnapshot()
    const text = [
      ['codex:019c0000-0000-7000-8000-000000000001', 'Two listeners are registered. I removed one.'],
      ['codex:019c0000-0000-7000-8000-000000000002', 'リスナーが二つ登録されています。'],
      ['codex:019c0000-0000-7000-8000-000000000003', 'Only its copy remains.'],
      ['amazon-q:q-one', 'First answer.'],
      ['amazon-q:q-two', 'Second answer.'],
      ['fumibako:', 'Two listeners are registered. I removed one.'],
    ] as const
    for (const [id, words] of text) expect(shown.find((one) => one.id.startsWith(id))?.text).toContain(words)
    expect(json('search', 'listeners').total).toBeGreaterThan(0)
  })

  test('lists sessions that only the index knows, with their tokens', () => {
    const complete = opened(release).json('list') as { sessions: readonly Totals[] }
    const { sessions } = opened(release, { backups: false }).json('list') as { sessions: readonly Totals[] }
    const foreign = complete.sessions.filter(({ id }) => !id.startsWith('fumibako:'))
    expect(foreign.length).toBeGreaterThan(3)
    for (const { id, title, usage } of foreign)
      expect(sessions).toContainEqual(expect.objectContaining({ id, title, usage }))
  })

  test('lists everything while the index is replaced, and knows what a search may miss until then', async () => {
    const home = tempFolder()
    const data = join(home, 'fumi')
    cpSync(join(import.meta.dirname, release), data, { recursive: true })
    const { app } = testHome({}, home, data)
    const listed = () => {
      const { sessions, total } = app.list({ kind: 'any', children: 'all' })
      return { total, titles: sessions.map(({ title }) => title).sort(), unread: app.stats({ kind: 'any' })?.unread }
    }
    const seen: ReturnType<typeof listed>[] = []
    const steps: number[] = []
    await app.sync({
      onProgress: ({ phase, done, total }) => {
        if (phase !== 'read') return
        seen.push(listed())
        steps.push(done / total)
      },
    })
    const { unread: _, ...now } = listed()
    expect(now.total).toBeGreaterThan(3)
    for (const one of seen) expect(one).toMatchObject(now)
    expect(seen[0]?.unread).toBeGreaterThan(0)
    expect(steps).toEqual(steps.toSorted((one, other) => one - other))
    expect(steps.at(-1)).toBe(1)
    expect(await app.search('listeners')).toMatchObject({ kind: 'found' })
    app.close()
  })

  test('keeps names, stars, tags, notes and settings', () => {
    const { json } = opened(release)
    expect(json('mark')).toMatchSnapshot()
    const { settings, problems } = json('config')
    expect(problems).toEqual([])
    expect(settings.filter(({ from }: { from: string }) => from === 'file')).toMatchObject([
      { key: 'keep', value: 'all' },
      { key: 'language', value: 'en' },
    ])
  })
})
