/** Our own databases: are they whole, whose are they, how much is in them. */
import { join } from 'node:path'
import { COPIES } from '../archive/copies/tables.ts'
import { healthOf } from '../archive/health.ts'
import { setAsideIn } from '../archive/index-file.ts'
import { KEEP } from '../archive/keep/tables/schema.ts'
import { MARKS } from '../archive/marks/tables.ts'
import type { Kind } from '../archive/open.ts'
import { INDEX } from '../archive/schema.ts'
import { amount, several } from './amount.ts'
import type { Finding, Patient } from './finding.ts'

interface Own {
  readonly name: string
  readonly file: string
  readonly kind: Kind
  /** What it is there for, in SQL and in words. */
  readonly rows: string
  readonly one: string
  /** It is made again from the logs: nothing is lost with it. */
  readonly disposable?: true
}

const OWN: readonly Own[] = [
  {
    name: 'index',
    file: 'index.sqlite3',
    kind: INDEX,
    rows: 'SELECT count(*) FROM session',
    one: 'session',
    disposable: true,
  },
  { name: 'keep', file: 'keep.sqlite3', kind: KEEP, rows: 'SELECT count(*) FROM generation', one: 'kept session' },
  { name: 'marks', file: 'marks.sqlite3', kind: MARKS, rows: 'SELECT count(*) FROM mark', one: 'marked session' },
  { name: 'copies', file: 'copies.sqlite3', kind: COPIES, rows: 'SELECT count(*) FROM copy', one: 'copied file' },
]

export function* checkDatabases({ directory }: Patient): Generator<Finding> {
  for (const own of OWN) yield look(own, join(directory, own.file))
  const [aside] = setAsideIn(directory)
  if (aside === undefined) return
  yield {
    about: 'index',
    state: 'note',
    what: `${aside} was damaged and set aside; the index was made again`,
    todo: 'Delete it when you have no more use for it, and check the disk.',
    facts: { path: aside },
  }
}

function look({ name, kind, rows, one, disposable }: Own, path: string): Finding {
  const health = healthOf(path, kind, rows)
  if (health.kind === 'absent')
    return { about: name, state: 'ok', what: 'nothing in it yet', facts: { path, exists: false } }
  const { bytes } = health
  if (health.kind === 'unsound') {
    const [what = ''] = health.reason.split(/(?<=[.:)]) (?=[A-Z])/, 1)
    const advice = health.reason.slice(what.length).trim() || 'Restore it from a backup if you have one.'
    return {
      about: name,
      state: 'problem',
      what,
      todo: disposable && what.includes('damaged') ? remade(path) : advice,
      facts: { path, exists: true, sound: false, bytes },
    }
  }
  const facts = { path, exists: true, sound: true, bytes, rows: health.rows }
  const what = `${several(health.rows, one)}, ${amount(bytes)}, sound`
  if (process.platform === 'win32' || (health.mode & 0o077) === 0) return { about: name, state: 'ok', what, facts }
  return {
    about: name,
    state: 'problem',
    what: `${path} is open to other users`,
    todo: `Close it: chmod 600 ${path}`,
    facts,
  }
}

const remade = (path: string): string =>
  `Move it away: mv ${path} ${path}.old. The next sync makes it again from the logs; what is kept lies elsewhere.`
