/** Puts a session where Copilot CLI finds it: in a folder of its own, under its id. */
import { rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { isFile, listEntries } from '../../lib/files/safe-fs.ts'
import { nonEmptyStringOf } from '../../lib/unknown-values.ts'
import { isUuid } from '../../model/ids.ts'
import type { DeliverOptions, Delivery } from '../agent.ts'
import { assertHome, deliverFile, notASession, readFirstRecord } from '../kit/deliver-file.ts'
import { withWriteErrors } from '../kit/source-file.ts'
import { dataOf, typeOf } from './record.ts'
import { AGENT_ID, roots, WORKSPACE_FILE } from './store.ts'

const LABEL = 'Copilot CLI'

export async function deliver(file: string, options: DeliverOptions): Promise<Delivery> {
  const home = roots(options.environment)[0] ?? ''
  assertHome(LABEL, home)
  const first = readFirstRecord(file)
  const id = first && typeOf(first) === 'session.start' ? nonEmptyStringOf(dataOf(first)['sessionId']) : undefined
  if (first === undefined || id === undefined || !isUuid(id)) throw notASession(file, LABEL)
  const folder = join(home, 'session-state', id)
  const path = join(folder, 'events.jsonl')
  const existing = isFile(path) ? path : undefined
  const target = { agent: AGENT_ID, label: LABEL, home, existing, path }
  const { cwd, title, now } = options
  if (title === undefined || existing !== undefined) return deliverFile(file, target, options)
  const startedAt = nonEmptyStringOf(dataOf(first)['startTime']) ?? now.toISOString()
  const text = workspaceText({ id, cwd, title, startedAt, now })
  return deliverFile(file, { ...target, writeBeside: () => writeWorkspace(folder, text) }, options)
}

/** Returns the undo, with which the folder goes if nothing else is in it. */
function writeWorkspace(folder: string, text: string): () => void {
  const path = join(folder, WORKSPACE_FILE)
  withWriteErrors(path, () => writeFileAtomically(path, text))
  return () => {
    rmSync(path, { force: true })
    if (listEntries(folder).length === 0) rmdirSync(folder)
  }
}

interface Workspace {
  readonly id: string
  readonly cwd: string
  readonly title: string
  readonly startedAt: string
  readonly now: Date
}

/** Text in JSON is text in YAML. */
const workspaceText = ({ id, cwd, title, startedAt, now }: Workspace): string =>
  [
    `id: ${id}`,
    `cwd: ${JSON.stringify(cwd)}`,
    `name: ${JSON.stringify(title)}`,
    'user_named: true',
    'summary_count: 0',
    `created_at: ${startedAt}`,
    `updated_at: ${now.toISOString()}`,
    '',
  ].join('\n')
