/**
 * Amazon Q CLI and its successor Kiro CLI, which took over the store: one conversation per row, overwritten by each
 * save.
 */
import { stat } from 'node:fs/promises'
import { watchDatabase } from '../../lib/sqlite/watch-database.ts'
import type { Session } from '../../model/session.ts'
import type { Agent, ResumeCommand, Source, SourceFingerprint } from '../agent.ts'
import { capture } from './capture.ts'
import { check } from './check/check-state.ts'
import { deliver, install, makeLoadable } from './deliver.ts'
import { find, recognize } from './find.ts'
import { read, readMessage, scan } from './read.ts'
import { stateAt } from './row.ts'
import {
  AMAZON_Q,
  isDatabasePath,
  KIRO,
  rootOwner,
  roots,
  storePaths,
  storeProblem,
  unreadRoots,
  withStore,
} from './stores.ts'
import { parseRowKey, rowFingerprint } from './tables.ts'
import { FORMS, write } from './write.ts'

const amazonQ: Agent = {
  id: AMAZON_Q,
  label: 'Amazon Q and Kiro',
  serves: [KIRO],
  version: 3,
  roots,
  rootOwner,
  unreadRoots,
  recognize,
  find,
  probe,
  scan,
  read,
  readMessage,
  stateAt,
  retention: () => ({ kind: 'overwrites' }),
  volatile: { stores: storePaths, capture, watch: watchDatabase, loadable: makeLoadable, install },
  forms: FORMS,
  write,
  check,
  deliver,
  resume,
}

export default amazonQ

async function probe(source: Source): Promise<SourceFingerprint | undefined> {
  const file = await stat(source.path).catch(() => undefined)
  if (!file) return undefined
  const key = source.key === undefined ? undefined : parseRowKey(source.key)
  if (!key) {
    const problem = isDatabasePath(source.path) ? storeProblem(source.path)?.kind : undefined
    return `${problem === undefined ? '' : `${problem}:`}${file.size}:${file.mtimeMs}:${file.ino}`
  }
  const found = withStore(source.path, (database) => rowFingerprint(database, key))
  return found.ok ? found.value : `${found.problem.kind}:${file.size}:${file.mtimeMs}`
}

/** The program finds a conversation by the directory in which it is started. */
function resume(session: Session): ResumeCommand {
  const program = session.agent === KIRO ? 'kiro-cli' : 'q'
  const command = { program, arguments: ['chat', '--resume'] }
  return session.cwd === undefined ? command : { ...command, cwd: session.cwd }
}
