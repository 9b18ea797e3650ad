/** Amazon Q CLI, and Kiro CLI in the store that it took over: one conversation per row, overwritten by the next. */
import { stat } from 'node:fs/promises'
import { watchDatabase } from '../../lib/sqlite/watch.ts'
import type { Session } from '../../model/session.ts'
import type { Agent, Fingerprint, ResumeCommand, Source } from '../agent.ts'
import { body } from './body.ts'
import { capture } from './capture.ts'
import { find } from './find.ts'
import { read } from './read.ts'
import { recognise } from './recognise.ts'
import { install, loadable } from './restore.ts'
import { stateAt } from './row/state-at.ts'
import { scan } from './scan.ts'
import { deliver } from './store/deliver.ts'
import { parseKey } from './store/key.ts'
import { isDatabase, storeProblem } from './store/list-store.ts'
import { withStore } from './store/open-stores.ts'
import { AMAZON_Q, KIRO, roots, stores } from './store/stores.ts'
import { fingerprintAt } from './store/table.ts'
import { FORMS, write } from './write.ts'

const amazonQ: Agent = {
  id: AMAZON_Q,
  label: 'Amazon Q and Kiro',
  serves: [KIRO],
  version: 2,
  roots,
  recognise,
  find,
  probe,
  scan,
  read,
  body,
  stateAt,
  volatile: { stores, capture, watch: watchDatabase, loadable, install },
  forms: FORMS,
  write,
  deliver,
  resume,
}

export default amazonQ

async function probe(source: Source): Promise<Fingerprint | undefined> {
  const file = await stat(source.path).catch(() => undefined)
  if (!file) return undefined
  const key = source.key === undefined ? undefined : parseKey(source.key)
  if (!key) {
    const problem = isDatabase(source.path) ? storeProblem(source.path)?.kind : undefined
    return `${problem === undefined ? '' : `${problem}:`}${file.size}:${file.mtimeMs}:${file.ino}`
  }
  const found = withStore(source.path, (database) => fingerprintAt(database, key))
  return found.ok ? found.value : `${found.problem.kind}:${file.size}:${file.mtimeMs}`
}

/** The program finds the conversation by the directory in which it is started. */
function resume(session: Session): ResumeCommand {
  const program = session.agent === KIRO ? 'kiro-cli' : 'q'
  const command = { program, arguments: ['chat', '--resume'] }
  return session.cwd === undefined ? command : { ...command, cwd: session.cwd }
}
