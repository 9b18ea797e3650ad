/** Search finds what is there: compared with a plain look through every message. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { House } from '../../src/app.ts'
import { spokenIn } from '../../src/model/spoken.ts'
import { home } from '../archive/house.ts'
import { shared } from '../support/shared.ts'

interface Said {
  readonly id: string
  readonly text: string
}

/** Everything that a search may find, read message by message. */
async function everythingIn(house: House): Promise<readonly Said[]> {
  const all: Said[] = []
  for (const { id } of house.list({ limit: 100_000, children: 'all', kind: 'any' }).sessions)
    for (const body of await house.messages(id, { limit: 1_000_000 })) {
      if (body.kind !== 'body' || body.known.duplicate || body.known.replayed) continue
      const { context: _, ...spoken } = spokenIn(body.message)
      const said = Object.values(spoken).join('\n')
      if (said !== '') all.push({ id: `${id} ${body.known.id}`, text: said })
    }
  return all
}

async function deepIds(house: House, query: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for await (const event of house.deepSearch(query)) {
    if (event.kind === 'problem') throw new Error(event.what)
    if (event.kind !== 'hit') continue
    const id = `${event.hit.session_id} ${event.hit.message_id}`
    expect(found.has(id)).toBe(false)
    found.add(id)
  }
  return found
}

/** The same numbers every time. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
    return state / 0x7fffffff
  }
}

const corpus = shared('corpus', 'codex')

describe.skipIf(!corpus)('the corpus', () => {
  test('words and Japanese strings cut from anywhere are found in every message that has them', async () => {
    const folders = readdirSync(corpus ?? '').map((name) => join(corpus ?? '', name))
    const { house } = home({ roots: folders })
    await house.sync()
    const all = await everythingIn(house)
    expect(all.length).toBeGreaterThan(100)
    const next = random(7)
    const needles = new Set<string>()
    for (let tries = 0; needles.size < 200 && tries < 20_000; tries++) {
      const { text: said } = all[Math.floor(next() * all.length)] ?? { text: '' }
      const words = said.match(/[A-Za-z]{5,20}|[\u3041-\u3096\u4e00-\u9fff]{2,4}/g) ?? []
      const word = words[Math.floor(next() * words.length)]
      if (word !== undefined) needles.add(word)
    }
    for (const needle of needles) {
      const found = await deepIds(house, `"${needle}"`)
      const lower = needle.toLowerCase()
      const isWord = new RegExp(`(?<![\\p{L}\\p{N}\\p{M}_])${needle}(?![\\p{L}\\p{N}\\p{M}_])`, 'iu')
      const isJapanese = /[^a-z]/.test(lower)
      for (const { id, text: said } of all) {
        const must = isJapanese ? said.includes(needle) : isWord.test(said)
        if (must) expect(found, `${needle} in ${id}`).toContain(id)
        else if (found.has(id)) expect(said.toLowerCase().replaceAll('_', ''), `${needle} in ${id}`).toContain(lower)
      }
    }
  })
})
