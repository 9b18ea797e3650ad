/** Logs of every agent with one value of a wrong type, for every field of every fixture. */
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Agent } from '../../src/agents/agent.ts'
import { folderOf, GOLDEN } from '../support/fixtures.ts'
import { random } from '../support/seeded-random.ts'
import { changed, filesOf, type Path, parsed } from './number-cases.ts'

export interface LeafCase {
  readonly agent: Agent
  /** Fixture, field and value, shown by a failing test. */
  readonly name: string
  /** With the fixture's extension. */
  readonly file: string
  readonly text: string
}

/** `String` of the third value throws; the last one reverses the text after it. */
const VALUES: readonly unknown[] = [5, {}, { toString: 1, valueOf: 1 }, [], [5], true, -1.5, null, '', 'a\u202Eb']

/** A path, and the paths of all values inside. */
function* placesIn(value: unknown, path: Path = []): Generator<Path> {
  if (path.length > 0) yield path
  if (typeof value !== 'object' || value === null) return
  for (const [key, one] of Object.entries(value))
    yield* placesIn(one, [...path, Array.isArray(value) ? Number(key) : key])
}

interface Place {
  readonly agent: Agent
  readonly fixture: string
  readonly field: string
  put(value: unknown): string
}

function* inText(agent: Agent, fixture: string, text: string): Generator<Place> {
  const isWhole = fixture.endsWith('.json') && parsed(text) !== undefined
  const pieces = isWhole ? [text] : text.split('\n')
  for (const [at, piece] of pieces.entries()) {
    const value = parsed(piece.replace(/^\uFEFF/, ''))
    for (const path of placesIn(value))
      yield {
        agent,
        fixture,
        field: `${pieces.length > 1 ? `line ${at + 1}: ` : ''}${path.join('.')}`,
        put: (hostile) => pieces.with(at, JSON.stringify(changed(value, { path, put: () => hostile }))).join('\n'),
      }
  }
}

/** The normalized messages of other agents are fixtures too. */
function* everyPlace(agents: readonly Agent[]): Generator<Place> {
  const own = agents.find(({ id }) => id === 'normalized')
  for (const agent of agents) {
    const folder = join(folderOf(agent), 'fixtures')
    for (const file of filesOf(folder)) {
      const fixture = file.slice(folder.length + 1)
      if (!file.endsWith('.sqlite3')) yield* inText(agent, fixture, readFileSync(file, 'utf8'))
    }
    if (!own) continue
    for (const file of filesOf(join(folder, GOLDEN))) {
      const lines = readFileSync(file, 'utf8').split('\n')
      const messages = lines.filter((line) => line.startsWith('{"id":'))
      yield* inText(own, `${agent.id}/${basename(file)}`, messages.join('\n'))
    }
  }
}

/** The same number per agent, reproducible by the seed. */
export function leafCases(agents: readonly Agent[], count: number, seed: number): readonly LeafCase[] {
  const next = random(seed)
  const every = [...everyPlace(agents)]
  return agents.flatMap((agent) => {
    // Agents whose fixtures are databases only have their messages among those of `normalized`.
    const own = every.filter((place) => place.agent === agent)
    if (own.length === 0) return []
    return Array.from({ length: Math.floor(count / agents.length) }, () =>
      caseOf(own[Math.floor(next() * own.length)] as Place, VALUES[Math.floor(next() * VALUES.length)]),
    )
  })
}

function caseOf({ agent, fixture, field, put }: Place, value: unknown): LeafCase {
  const [, ending = ''] = /((?:\.[a-z0-9]+)+)$/.exec(basename(fixture)) ?? []
  return {
    agent,
    name: `${agent.id}/${fixture} ${field} = ${JSON.stringify(value)}`,
    file: `log${agent.id === 'normalized' ? '.jsonl' : ending}`,
    get text() {
      return put(value)
    },
  }
}
